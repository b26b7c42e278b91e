"""Sums over rows' cells: the product of a sparse matrix, to the last digit, on any cores."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.kernels.layout import row_sums

PEOPLE, ITEMS = 301, 90


@pytest.fixture
def rated() -> csr_array:
    """Some rows without a cell, one with all, and many cells in the first rows."""
    chance = np.random.default_rng(1)
    share = np.linspace(0.9, 0.05, PEOPLE)[:, None]
    cells = chance.random((PEOPLE, ITEMS)) < share
    cells[[0, 200, PEOPLE - 1]], cells[100] = False, True
    return csr_array(cells.astype(float))


@pytest.mark.parametrize("shape", [(ITEMS,), (ITEMS, 1), (ITEMS, 5)])
@pytest.mark.parametrize("threads", [1, 3])
def test_sums_of_doubles_are_scipys_to_the_last_digit(rated, shape, threads, use_threads):
    x = np.random.default_rng(2).normal(size=shape)
    use_threads(threads)
    found = row_sums(rated.indptr.astype(np.int64), rated.indices, x)
    assert found.dtype == np.float64
    assert np.array_equal(found, rated @ x)


def test_singles_stay_singles(rated):
    x = np.random.default_rng(3).normal(size=(ITEMS, 4)).astype(np.float32)
    found = row_sums(rated.indptr.astype(np.int64), rated.indices, x)
    assert found.dtype == np.float32
    assert found == pytest.approx(rated @ x.astype(float), abs=1e-4)


def test_no_rows_have_no_sums():
    none = row_sums(np.zeros(1, np.int64), np.empty(0, np.int32), np.ones((3, 2)))
    assert none.shape == (0, 2)
