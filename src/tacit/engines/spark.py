"""Engine of a cluster, or of one machine's cores: one Spark task per block."""

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit import errors
from tacit.engines.engine import Block, Column, Result, Shared
from tacit.engines.spark_session import losing_nobody, quiet, session
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
"""Most bytes of a packed block: two blocks and a result must fit in Spark's rows and Arrow's
columns of at most 2^31 bytes, and buffers grow by doubling."""

OUTCOME = "place long, fault string, result binary"


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

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """Implement `Engine.over`."""
        return self._run(kernel, shared, {"row": blocks})

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """Implement `Engine.across`; the driver sends each block once, and Spark pairs them."""
        flat = self._run(kernel, shared, {"row": rows, "column": columns})
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
        axes: dict[str, Sequence[tuple[Any, ...]]],
    ) -> list[Any]:
        """Return results in order: the last axis varies fastest."""
        name, all_share = named(kernel), pack(shared)
        if not all(axes.values()):
            return []
        # Sent once to each machine, for all of its tasks.
        sent = self._running().sparkContext.broadcast(all_share)
        try:
            with quiet(), losing_nobody(self.master):
                done = self._pairs(axes).mapInArrow(_Task(name, sent, tuple(axes)), OUTCOME)
                return _reported(done.toArrow().sort_by("place"))
        finally:
            sent.destroy()

    def _running(self) -> Any:
        if self._session is None:
            self._session = self._open.enter_context(session(self.master, self.memory))
            # A row is a block: two of them would exceed a batch.
            self._session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
        return self._session

    def _pairs(self, axes: dict[str, Sequence[tuple[Any, ...]]]) -> Any:
        steps = np.cumprod([1, *(len(blocks) for blocks in reversed(axes.values()))])[-2::-1]
        frames = [
            self._frame(axis, blocks, int(step))
            for (axis, blocks), step in zip(axes.items(), steps, strict=True)
        ]
        # A task is a row with every column. Columns are sent to each machine once for all its rows.
        return reduce(lambda left, right: left.crossJoin(right.hint("broadcast")), frames)

    def _frame(self, axis: str, blocks: Sequence[tuple[Any, ...]], step: int) -> Any:
        pa: Any = import_module("pyarrow")

        places = [number * step for number in range(len(blocks))]
        packed = [_fitting(pack(block)) for block in blocks]
        table = pa.table({axis: places, f"{axis}_block": pa.array(packed, pa.binary())})
        return self._running().createDataFrame(table)


@dataclass(frozen=True)
class _Task:
    """Work of a worker on the batches of a partition; serialized to the worker.

    `shared`: Spark's broadcast of the packed shared inputs.
    """

    kernel: tuple[str, str]
    shared: Any
    axes: tuple[str, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pa: Any = import_module("pyarrow")

        for batch in batches:
            for row in range(batch.num_rows):
                blocks = [batch[f"{axis}_block"][row].as_buffer() for axis in self.axes]
                index = sum(batch[axis][row].as_py() for axis in self.axes)
                fault, result = self._outcome(blocks)
                kinds = (pa.int64(), pa.string(), pa.binary())
                cells = [
                    pa.array([x], t) for x, t in zip((index, fault, result), kinds, strict=True)
                ]
                yield pa.record_batch(cells, ["place", "fault", "result"])
        _exempt_imports_from_collection()

    def _outcome(self, blocks: list[Any]) -> tuple[str | None, bytes]:
        """Return the packed result, or the name of a `TacitError` and its message."""
        try:
            arguments = [unpack(memoryview(block)) for block in blocks]
            result = found(*self.kernel)(*arguments, unpack(self.shared.value))
            return None, _fitting(pack(result))
        except TacitError as error:
            return type(error).__name__, str(error).encode()


@cache
def _exempt_imports_from_collection() -> None:
    """Exempt what this worker has imported from garbage collection.

    PySpark collects garbage after every task. Over all objects of the imported modules this takes
    longer than a small task.
    """
    gc.freeze()


def _fitting(packed: bytes) -> bytes:
    if len(packed) > LARGEST:
        raise RequestError(
            f"A block has {len(packed):,} bytes, more than a Spark row can hold ({LARGEST:,}); "
            "use more blocks."
        )
    return packed


def _reported(table: Any) -> list[Any]:
    for fault, result in zip(table["fault"], table["result"], strict=True):
        if fault.is_valid:
            raise getattr(errors, fault.as_py())(result.as_py().decode())
    return [unpack(memoryview(result.as_buffer())) for result in table["result"]]
