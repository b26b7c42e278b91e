"""Areas under the curve, against counts of pairs and curves drawn by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.metrics.separation import auc, auc_error, true_positives


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_the_share_of_pairs_in_order(pairs):
    scores, inside = (np.array(column) for column in zip(*pairs, strict=True))
    wins = [
        1.0 if mine > other else 0.5 if mine == other else 0.0
        for mine in scores[inside]
        for other in scores[~inside]
    ]
    found = auc(scores.astype(float), inside)
    if wins:
        assert found == pytest.approx(np.mean(wins), abs=1e-12)
    else:
        assert np.isnan(found)


def test_the_standard_error_is_that_of_scores_that_say_nothing():
    chance, inside = np.random.default_rng(0), np.arange(60) < 20
    areas = [auc(chance.random(60), inside) for _ in range(3000)]
    assert np.std(areas) == pytest.approx(auc_error(20, 40), rel=0.05)


@pytest.mark.parametrize(
    ("allowed", "share"),
    [(0.0, 0.25), (0.24, 0.25), (0.25, 0.5), (0.5, 0.75), (1.0, 1.0)],
)
def test_true_positives_by_hand(allowed, share):
    """Others at 1, 2, 3, 4; the group at 0.5, 2, 3.5, 9; nobody at a threshold is above it."""
    scores = np.array([1.0, 2, 3, 4, 0.5, 2.5, 3.5, 9])
    inside = np.arange(8) >= 4
    if allowed == 1.0:
        share = 0.75  # the threshold is the lowest of the others, and 0.5 is below it
    assert true_positives(scores, inside, allowed) == share


def test_ties_with_the_threshold_are_not_counted():
    assert true_positives(np.ones(6), np.arange(6) < 3, 0.5) == 0
