"""Numbers as the files that devices download hold them: singles, and halves."""

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_HALF = 65504.0


def halved(values: NDArray[Any]) -> NDArray[np.float64]:
    """The values rounded to half precision, so that a provider computes with what devices get."""
    bounded = np.clip(values, -LARGEST_HALF, LARGEST_HALF)
    return np.asarray(bounded.astype(np.float16), np.float64)


def singles(values: NDArray[Any]) -> "array[float]":
    """The values in the order of memory, rounded to single precision, little-endian."""
    floats = array("f")
    floats.frombytes(np.ascontiguousarray(values, "<f4").tobytes())
    return floats
