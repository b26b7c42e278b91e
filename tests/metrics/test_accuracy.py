"""Each metric against a twin written from its definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.metrics.accuracy import mae, ranking, relevant_from, rmse
from tacit.scale import RatingScale


def naive_ranking(users, items, predicted, relevant, length):
    """One person at a time, with Python's own sort."""
    precisions, recalls, f_scores, left_out = [], [], [], 0
    for user in sorted(set(users)):
        mine = [k for k in range(len(users)) if users[k] == user]
        wanted = sum(relevant[k] for k in mine)
        if wanted == 0:
            left_out += 1
            continue
        best = sorted(mine, key=lambda k: (-predicted[k], items[k]))[:length]
        hits = sum(relevant[k] for k in best)
        precision, recall = hits / len(best), hits / wanted
        precisions.append(precision)
        recalls.append(recall)
        f_scores.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    return precisions, recalls, f_scores, left_out


cells = st.tuples(
    st.integers(0, 4), st.integers(0, 30), st.sampled_from([1.0, 2.5, 2.5, 4.0]), st.booleans()
)


@given(st.lists(cells, min_size=1, max_size=60, unique_by=lambda c: c[:2]), st.integers(1, 12))
def test_pooled_f_is_that_of_one_confusion_matrix(made, length):
    users, items, predicted, relevant = (np.array(column) for column in zip(*made, strict=True))
    listed = np.zeros(len(users), bool)
    for user in set(users):
        mine = np.flatnonzero(users == user)
        listed[sorted(mine, key=lambda k: (-predicted[k], items[k]))[:length]] = True
    true, false = (listed & relevant).sum(), (listed & ~relevant).sum()
    missed = (~listed & relevant).sum()
    precision, recall = true / (true + false), true / max(1, true + missed)
    expected = 2 * precision * recall / (precision + recall) if true else 0.0
    found = ranking(users, items, predicted, relevant, length)
    assert found.pooled_f_score == pytest.approx(expected)


@given(st.lists(cells, min_size=1, max_size=60, unique_by=lambda c: c[:2]), st.integers(1, 12))
def test_ranking_agrees_with_its_twin(made, length):
    users, items, predicted, relevant = (list(column) for column in zip(*made, strict=True))
    found = ranking(
        np.array(users, np.int32), np.array(items, np.int32), np.array(predicted, np.float32),
        np.array(relevant), length,
    )  # fmt: skip
    precisions, recalls, f_scores, left_out = naive_ranking(
        users, items, predicted, relevant, length
    )
    assert (found.people, found.left_out) == (len(precisions), left_out)
    if not precisions:
        assert math.isnan(found.precision)
        assert math.isnan(found.f_score)
        return
    assert found.precision == pytest.approx(sum(precisions) / len(precisions))
    assert found.recall == pytest.approx(sum(recalls) / len(recalls))
    assert found.f_score == pytest.approx(sum(f_scores) / len(f_scores))


def test_ties_go_to_the_lower_item():
    users, items = np.zeros(2, np.int32), np.array([7, 3], np.int32)
    first = ranking(users, items, np.ones(2), np.array([False, True]), length=1)
    assert (first.precision, first.recall, first.f_score) == (1.0, 1.0, 1.0)


def test_errors():
    true, predicted = np.array([1, 2, 4], np.float32), np.array([1, 4, 3], np.float32)
    assert rmse(true, predicted) == pytest.approx(math.sqrt(5 / 3))
    assert mae(true, predicted) == pytest.approx(1)


@pytest.mark.parametrize(("scale", "level"), [("1:5:1", 4), ("-10:10:1", 5), ("0.5:5:0.5", 3.875)])
def test_relevance(scale, level):
    assert relevant_from(RatingScale.parse(scale)) == level
