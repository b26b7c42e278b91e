"""Blocks as bytes: a line of JSON that says what is in them, then the arrays. No pickle."""

import json
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

KINDS = "biufc"
"""Kinds of numpy's types that are numbers: nothing that points elsewhere."""

Array = NDArray[Any]


def pack(block: tuple[Any, ...]) -> bytes:
    """A `NamedTuple` of arrays, numbers, texts, None and tuples of these.

    An array keeps its type, shape and order in memory, on which the last digits of a product may
    depend. Raises `RequestError` for anything else, and for a class or a type of array that
    another process could not make again.
    """
    arrays: list[Array] = []
    head = json.dumps(_described(block, arrays)).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(array.data for array in arrays)])


def unpack(data: memoryview | bytes) -> Any:
    """What was packed; its arrays are copies, so a kernel finds them as they were."""
    start = 8 + int.from_bytes(data[:8], "little")
    described = json.loads(bytes(data[8:start]))
    return _made(described, data, [start])


def named(what: Any) -> tuple[str, str]:
    """Module and name by which another process finds a class or function at a module's top.

    Raises `RequestError` for a lambda, a local one, or one of the script that is being run.
    """
    module, name = getattr(what, "__module__", ""), getattr(what, "__qualname__", str(what))
    if module == "__main__" or not name.isidentifier() or not module:
        raise RequestError(
            "Another process imports functions by module and name, but cannot find "
            f"{name} of {module}; define it with a name at the top level of an "
            "importable module."
        )
    return module, name


def found(module: str, name: str) -> Any:
    """What `named` named."""
    return getattr(import_module(module), name)


def _described(value: Any, arrays: list[Array]) -> Any:
    array: Any = value  # which the checks below would narrow to arrays of unknown type
    if isinstance(value, np.ndarray):
        return _laid(array, arrays)
    if isinstance(value, tuple):
        kind = named(type(array)) if hasattr(array, "_fields") else None
        return {"tuple": kind, "fields": [_described(field, arrays) for field in array]}
    plain: Any = array.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise RequestError(
        "A block must contain arrays of numbers, numbers, strings or tuples of these, got "
        f"{array!r}, a {type(array).__name__}."
    )


def _laid(array: Array, arrays: list[Array]) -> Any:
    if array.dtype.kind not in KINDS:
        raise RequestError(
            f"A block must contain arrays of numbers or booleans, got {array.dtype}."
        )
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    arrays.append(np.ascontiguousarray(array.T if columns_first else array))
    return {
        "array": array.dtype.str,
        "shape": array.shape,
        "order": "F" if columns_first else "C",
    }


def _made(said: Any, data: memoryview | bytes, at: list[int]) -> Any:
    """`at`: the offset of the next array, moved on as each is read."""
    match said:
        case {"tuple": kind, "fields": fields}:
            made = [_made(field, data, at) for field in fields]
            return found(*kind)(*made) if kind else tuple(made)
        case {"array": kind, "shape": shape, "order": order}:
            view: Array = np.ndarray(shape, kind, data, at[0], order=order)
            at[0] += view.nbytes
            return view.copy(order="K")
        case _:
            return said
