"""Solutions of EASE: dense and of low rank, and their losses, beside naive twins."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.ease_solution import (
    HeldOutLoss,
    LowRankSolution,
    ReportRegression,
    exact_loss,
    exact_weights,
)

ITEMS = 30
CHANCE = np.random.default_rng(3)
X = (CHANCE.random((200, ITEMS)) < np.linspace(0.05, 0.5, ITEMS)).astype(float)
HELD_OUT = (CHANCE.random((40, ITEMS)) < 0.3).astype(float)
FACTORS = CHANCE.standard_normal((ITEMS, 5))


def by_inverse(gram, ridge):
    """B = I - P diag(P)^-1 for a ridge per item."""
    inverse = np.linalg.inv(gram + np.diag(np.broadcast_to(ridge, ITEMS)))
    return np.eye(ITEMS) - inverse / np.diag(inverse)


def squared_error(weights, gram):
    """tr((I - B)' G (I - B))."""
    wrong = np.eye(ITEMS) - weights
    return np.trace(wrong.T @ gram @ wrong)


def test_exact_weights_and_their_loss():
    gram = X.T @ X
    expected = by_inverse(gram, 7.0)
    assert exact_weights(gram, 7.0) == pytest.approx(expected, abs=1e-6)
    loss = squared_error(expected, HELD_OUT.T @ HELD_OUT)
    assert exact_loss(gram, 7.0, csr_array(HELD_OUT)) == pytest.approx(loss)
    single = exact_loss(gram.astype(np.float32), 7.0, csr_array(HELD_OUT))
    assert single == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("ridge", [2.0, np.linspace(1, 9, ITEMS)], ids=["one", "per item"])
def test_low_rank_weights_are_those_of_the_inverse(ridge):
    """As two factors, and as directions with a multiple, which are orthonormal."""
    expected = by_inverse(FACTORS @ FACTORS.T, ridge)
    solution = LowRankSolution.of(FACTORS, ridge)
    off = ~np.eye(ITEMS, dtype=bool)
    assert (solution.weights.left @ solution.weights.right.T)[off] == pytest.approx(expected[off])
    directions = solution.directions(0.5)
    assert directions.vectors.T @ directions.vectors == pytest.approx(np.eye(5), abs=1e-5)
    entries = directions.left_factors @ directions.of_items.T
    assert entries[off] == pytest.approx(0.5 * expected[off], abs=1e-5)
    assert directions.diagonal == pytest.approx(np.diag(entries), abs=1e-5)


def test_the_low_rank_loss_is_that_of_its_weights():
    gram = HELD_OUT.T @ HELD_OUT
    for ridge in (0.5, 20.0):
        expected = squared_error(by_inverse(FACTORS @ FACTORS.T, ridge), gram)
        assert HeldOutLoss.of(FACTORS, gram).at(ridge) == pytest.approx(expected)


def test_directions_that_add_nothing_are_left_out():
    """Rank 5 in 9 columns."""
    wide = FACTORS @ CHANCE.standard_normal((5, 9))
    assert LowRankSolution.of(wide, 1.0).directions().vectors.shape == (ITEMS, 5)


def moments(variance):
    return CoOccurrence(X.T @ X, 0.0, len(X), variance)


def dense(regression):
    return regression.weights.left @ regression.weights.right.T


def test_scores_of_reports_are_of_least_squares():
    """W M + M W = 2 S is where the squared error has no slope in any symmetric direction."""
    known = moments(50.0)
    W = dense(ReportRegression.of(np.linalg.cholesky(known.gram), known, np.zeros((ITEMS, 0))))
    mean = X.mean(0)
    S = (X - mean).T @ (X - mean)
    M = S + 50.0 * np.eye(ITEMS)
    assert pytest.approx(W.T) == W
    assert pytest.approx(2 * S, abs=1e-8) == W @ M + M @ W
    regression = ReportRegression.of(np.linalg.cholesky(known.gram), known, np.zeros((ITEMS, 0)))
    off = W - np.diag(np.diag(W))
    assert regression.offset(mean) == pytest.approx(mean - mean @ off)
    directions = regression.directions()
    entries = directions.left_factors @ directions.of_items.T
    assert entries == pytest.approx(W, abs=1e-5)


def test_factors_of_features_are_signal_and_part_of_the_reports():
    """A prior of G is added to both sides, so that it is not mistaken for noise."""
    known, prior = moments(50.0), FACTORS[:, :2]
    W = dense(ReportRegression.of(np.linalg.cholesky(known.gram), known, prior))
    mean = X.mean(0)
    S = (X - mean).T @ (X - mean) + prior @ prior.T
    M = S + 50.0 * np.eye(ITEMS)
    assert pytest.approx(2 * S, abs=1e-8) == W @ M + M @ W
