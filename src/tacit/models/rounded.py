"""Rounding to the precision of downloaded files: single and half."""

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_HALF = 65504.0


def halved(values: NDArray[Any]) -> NDArray[np.float64]:
    """Round to half precision, so that a provider computes with the same numbers as devices."""
    bounded = np.clip(values, -LARGEST_HALF, LARGEST_HALF)
    return np.asarray(bounded.astype(np.float16), np.float64)


def singles(values: NDArray[Any]) -> "array[float]":
    """Return the values in memory order, rounded to single precision, little-endian."""
    floats = array("f")
    floats.frombytes(np.ascontiguousarray(values, "<f4").tobytes())
    return floats
