"""Sums in whole vectors against NumPy, at every width: each way to cut one into vectors is met."""

import numpy as np
import pytest

from tacit.kernels.dense import add_gram, add_rows, padded

WIDTHS = range(1, 131)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_added_up_to_their_last_column(kind: type) -> None:
    rng = np.random.default_rng(0)
    for K in WIDTHS:
        y, pull = rng.normal(size=(5, padded(K))).astype(kind), rng.normal(size=(5, 3)).astype(kind)
        x = rng.normal(size=(2, padded(K))).astype(kind)
        wanted = x.copy()
        wanted[1, :K] += 0.5 * pull[:, 2] @ y[:, :K]
        add_rows(x, 1, K, 0.5, pull, 2, y, 5)
        # Sums of six terms below 10 cancel: 6 x 10 x 2^-23 is 7e-6 of single precision.
        assert np.allclose(x[:, :K], wanted[:, :K], rtol=1e-4, atol=1e-5), K


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_gram_matrix_is_added_up_to_its_last_row(kind: type) -> None:
    rng = np.random.default_rng(1)
    for K in WIDTHS:
        y = rng.normal(size=(5, padded(K))).astype(kind)
        H = rng.normal(size=(padded(K), padded(K))).astype(kind)
        wanted = np.tril(H[:K, :K] - y[:, :K].T @ y[:, :K])
        add_gram(H, K, -1.0, y, 5)
        assert np.allclose(np.tril(H[:K, :K]), wanted, rtol=1e-4, atol=1e-5), K
