"""Serialization of blocks: a line of JSON that describes the content, then arrays. No pickle."""

import json
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

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
            "Another process imports functions by module and name, but cannot find "
            f"{name} of {module}; define it with a name at the top level of an "
            "importable module."
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
