"""Single-precision numbers as the files that devices download hold them."""

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray


def singles(values: NDArray[Any]) -> "array[float]":
    """The values in the order of memory, rounded to single precision, little-endian."""
    floats = array("f")
    floats.frombytes(np.ascontiguousarray(values, "<f4").tobytes())
    return floats
