"""Engine of a cluster, or of one machine's cores, by Spark."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit import errors
from tacit.engines.engine import Block, Column, Result, Shared
from tacit.engines.spark_session import losing_nobody, quiet, session, set_up_worker
from tacit.errors import RequestError, TacitError

# Serialization of blocks: a line of JSON that describes the content, then arrays. No pickle.

KINDS = "biufc"
"""Kinds of NumPy types that are numbers, without references."""

Array = NDArray[Any]


def pack(block: tuple[Any, ...]) -> bytes:
    """Serialize a `NamedTuple` of arrays, numbers, strings, None and tuples of these.

    An array keeps its type, shape and memory order, which may affect the rounding of products.
    Raises `RequestError` for anything else, and for a class or a type of array that another process
    could not reconstruct.
    """
    arrays: list[Array] = []
    head = json.dumps(_described(block, arrays)).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(array.data for array in arrays)])


def unpack(data: memoryview | bytes) -> Any:
    """Deserialize a block; its arrays are copies with the original memory order."""
    start = 8 + int.from_bytes(data[:8], "little")
    described = json.loads(bytes(data[8:start]))
    return _made(described, data, [start])


def named(what: Any) -> tuple[str, str]:
    """Return module and name by which another process finds a top-level class or function.

    Raises `RequestError` for a lambda, a local one, or one of the running script.
    """
    module, name = getattr(what, "__module__", ""), getattr(what, "__qualname__", str(what))
    if module == "__main__" or not name.isidentifier() or not module:
        raise RequestError(
            f"Worker processes import functions by module and name and cannot find {name} of "
            f"{module}; define it by name at the top level of an importable module."
        )
    return module, name


def found(module: str, name: str) -> Any:
    """Return the object of a module and name from `named`."""
    return getattr(import_module(module), name)


def _described(value: Any, arrays: list[Array]) -> Any:
    array: Any = value  # otherwise narrowed to arrays of unknown type
    if isinstance(value, np.ndarray):
        return _laid(array, arrays)
    if isinstance(value, tuple):
        kind = named(type(array)) if hasattr(array, "_fields") else None
        return {"tuple": kind, "fields": [_described(field, arrays) for field in array]}
    plain: Any = array.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise RequestError(
        f"A block must contain numeric arrays, numbers, strings or tuples of these, got {array!r}, "
        f"a {type(array).__name__}."
    )


def _laid(array: Array, arrays: list[Array]) -> Any:
    if array.dtype.kind not in KINDS:
        raise RequestError(f"A block must contain numeric or Boolean arrays, got {array.dtype}.")
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    arrays.append(np.ascontiguousarray(array.T if columns_first else array))
    return {
        "array": array.dtype.str,
        "shape": array.shape,
        "order": "F" if columns_first else "C",
    }


def _made(description: Any, data: memoryview | bytes, at: list[int]) -> Any:
    """Reconstruct a value. `at`: the offset of the next array, advanced with each one."""
    match description:
        case {"tuple": kind, "fields": fields}:
            made = [_made(field, data, at) for field in fields]
            return found(*kind)(*made) if kind else tuple(made)
        case {"array": kind, "shape": shape, "order": order}:
            view: Array = np.ndarray(shape, kind, data, at[0], order=order)
            at[0] += view.nbytes
            return view.copy(order="K")
        case _:
            return description


LARGEST = 1 << 29
"""Most bytes of a packed block: Spark's records have at most 2^31 bytes, and buffers grow by
doubling."""
TASKS, SHORT = 2, 0.5
"""Most tasks per core, and the seconds of a stage after which the next one has one per core."""


class Spark:
    """Run stages on Spark.

    `master`: in Spark's notation; one Python worker per core. `blocks`: number of pieces. `memory`:
    of the driver, which holds all blocks and results of a stage, and of everything if the master is
    local.

    A session starts with the first stage and stops with `close`, or at the end of a `with` block.
    Kernels are resolved by module and name, so workers must have the modules installed. Raises
    `RequestError` for fewer than one block. A stage raises it if Spark does not start or loses
    workers, a block is larger than `LARGEST`, or a kernel cannot be resolved by name; and any
    `TacitError` of a kernel.
    """

    def __init__(self, master: str = "local[2]", blocks: int = 8, memory: str = "4g") -> None:
        if blocks < 1:
            raise RequestError(f"blocks must be at least 1, got {blocks}.")
        self.master, self.blocks, self.memory = master, blocks, memory
        self._open = ExitStack()
        self._session: Any = None
        self._tasks_per_core = TASKS

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """Implement `Engine.over`."""
        return self._run(kernel, shared, blocks, None)

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """Implement `Engine.across`; each machine gets all columns once, for all its rows."""
        flat = self._run(kernel, shared, rows, columns)
        width = len(columns)
        return [flat[row * width : (row + 1) * width] for row in range(len(rows))]

    def close(self) -> None:
        """Stop the session that a stage started; the next stage starts another."""
        self._session = None
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(
        self,
        kernel: Callable[..., Any],
        shared: tuple[Any, ...],
        rows: Sequence[tuple[Any, ...]],
        columns: Sequence[tuple[Any, ...]] | None,
    ) -> list[Any]:
        """Return the results of every row, or of every row with every column, in order."""
        name, shared_bytes = named(kernel), pack(shared)
        packed = [_fitting(pack(row)) for row in rows]
        others = None if columns is None else [_fitting(pack(column)) for column in columns]
        if not packed or others == []:
            return []
        context = self._running().sparkContext
        # Sent once to each machine, for all of its tasks.
        sent = context.broadcast((shared_bytes, others))
        # Each task costs about .01 seconds, so short stages have few of them. More tasks than cores
        # balance long ones. Results do not depend on their number.
        tasks = min(len(packed), self._tasks_per_core * context.defaultParallelism)
        start = time.monotonic()
        try:
            with quiet(), losing_nobody(self.master):
                results = context.parallelize(packed, tasks).mapPartitions(_Task(name, sent))
                return [_reported(*outcome) for outcome in results.collect()]
        finally:
            sent.destroy()
            self._tasks_per_core = 1 if time.monotonic() - start < SHORT else TASKS

    def _running(self) -> Any:
        if self._session is None:
            self._session = self._open.enter_context(session(self.master, self.memory))
        return self._session


@dataclass(frozen=True)
class _Task:
    """Work of a worker on the rows of a partition; serialized to the worker.

    `sent`: Spark's broadcast of the packed shared inputs, and of the packed columns if any.
    """

    kernel: tuple[str, str]
    sent: Any

    def __call__(self, rows: Iterator[bytes]) -> Iterator[tuple[str | None, bytes]]:
        shared, columns = self.sent.value
        for row in rows:
            for others in ([],) if columns is None else ([column] for column in columns):
                yield self._outcome([row, *others, shared])
        set_up_worker()

    def _outcome(self, arguments: list[bytes]) -> tuple[str | None, bytes]:
        """Return the packed result, or the name of a `TacitError` and its message."""
        try:
            result = found(*self.kernel)(*(unpack(packed) for packed in arguments))
            return None, _fitting(pack(result))
        except TacitError as error:
            return type(error).__name__, str(error).encode()


def _fitting(packed: bytes) -> bytes:
    if len(packed) > LARGEST:
        raise RequestError(
            f"A block has {len(packed):,} bytes, more than a Spark record can hold ({LARGEST:,}); "
            "use more blocks."
        )
    return packed


def _reported(fault: str | None, packed: bytes) -> Any:
    """Return a result. Raises the `TacitError` of a kernel."""
    if fault is not None:
        raise getattr(errors, fault)(packed.decode())
    return unpack(packed)
