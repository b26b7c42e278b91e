"""Kernels for tests of engines, in a module of their own so that other processes find them."""

import gc
import os
from typing import NamedTuple

import numba
import numpy as np

from tacit.testing.engines import MatrixRows, Scale


class Where(NamedTuple):
    """Who did it, with how many threads, and how many objects exempt from garbage collection."""

    process: int
    threads: int
    exempt: int


def where(block: MatrixRows, shared: Scale) -> Where:
    """The process that ran the kernel."""
    return Where(os.getpid(), numba.get_num_threads(), gc.get_freeze_count())


def objects(block: MatrixRows, shared: Scale) -> MatrixRows:
    """A result that no bytes can stand for."""
    return MatrixRows(np.array([None]))


def ends(block: MatrixRows, shared: Scale) -> MatrixRows:
    """A process that is killed, as for lack of memory."""
    os._exit(1)
