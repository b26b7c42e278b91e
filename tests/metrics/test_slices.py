"""Slices against a twin that goes from person to person, and what deciles promise."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.metrics.accuracy import Slice, deciles, slices
from tacit.readers import from_frame, synthetic


def naive_decile(count, counts):
    """Where the middle of those like it stands in a queue of all."""
    queue = sorted(counts)
    first, after = queue.index(count), len(queue) - queue[::-1].index(count)
    return 1 + (10 * (first + after)) // (2 * len(queue))


def naive_slices(by, trained, tested):
    """`trained`: the person or item of each training row; `tested`: (that, error) of each test
    row."""
    known, errors = Counter(trained), {}
    for who, error in tested:
        errors.setdefault(who, []).append(error)
    counts = {who: known[who] for who in errors}
    groups = {}
    for who, count in counts.items():
        groups.setdefault(naive_decile(count, counts.values()), []).append(who)
    return [
        Slice(
            by=by,
            decile=decile,
            fewest=min(counts[who] for who in members),
            most=max(counts[who] for who in members),
            members=len(members),
            tested=sum(len(errors[who]) for who in members),
            slice_rmse=pytest.approx(
                math.sqrt(
                    sum(error**2 for who in members for error in errors[who])
                    / sum(len(errors[who]) for who in members)
                )
            ),
        )
        for decile, members in sorted(groups.items())
    ]


def split(rows):
    """(person, item, level, whether it is a test row) as training and test ratings."""
    users, items, levels, held = zip(*rows, strict=True)
    frame = pl.DataFrame({"user": users, "item": items, "rating": levels})
    ratings = from_frame(frame, scale="1:5:1")
    return ratings.where(~np.array(held)), ratings.where(np.array(held))


pairs = st.tuples(st.integers(0, 25), st.integers(0, 12), st.integers(1, 5), st.booleans())
made = st.lists(pairs, min_size=1, max_size=90, unique_by=lambda row: row[:2])


def agrees(train, test, seed):
    """Both sides' slices are the twin's, of predictions drawn at random."""
    predicted = 1 + 4 * np.random.default_rng(seed).random(len(test))
    errors = (test.values - predicted).tolist()
    found = slices(train, test, predicted)
    for by, side in (("activity", "users"), ("popularity", "items")):
        trained, tested = (getattr(part, side).tolist() for part in (train, test))
        expected = naive_slices(by, trained, list(zip(tested, errors, strict=True)))
        assert [part for part in found if part.by == by] == expected
    return found


@settings(max_examples=40)
@given(made, st.integers(0, 99))
def test_slices_agree_with_their_twin(rows, seed):
    agrees(*split(rows), seed)


def test_slices_of_many_counts_agree_with_their_twin():
    """Ten slices a side, most of them of people or items that were counted differently."""
    ratings = synthetic(200, 150, 6000)
    held = np.random.default_rng(0).random(len(ratings)) < 0.2
    found = agrees(ratings.where(~held), ratings.where(held), 0)
    assert [part.decile for part in found] == [*range(1, 11)] * 2
    assert sum(part.fewest < part.most for part in found) > 10


@settings(max_examples=40)
@given(made)
def test_every_test_row_is_in_one_slice_of_each_side(rows):
    train, test = split(rows)
    found = slices(train, test, np.full(len(test), 3.5))
    whole = ((test.values - 3.5) ** 2).sum()
    for by in ("activity", "popularity"):
        mine = [part for part in found if part.by == by]
        assert sum(part.tested for part in mine) == len(test)
        assert sum(part.tested * part.slice_rmse**2 for part in mine) == pytest.approx(whole)
        ends = [end for part in mine for end in (part.fewest, part.most)]
        assert ends == sorted(ends)
        assert len({part.decile for part in mine}) == len(mine)


@pytest.mark.parametrize("n", [10, 30, 1000])
def test_counts_that_differ_fall_into_ten_alike(n):
    counts = np.random.default_rng(0).permutation(n) * 3
    found = deciles(counts)
    assert np.bincount(found)[1:].tolist() == [n // 10] * 10
    assert found[counts.argmin()] == 1
    assert found[counts.argmax()] == 10
    assert (np.diff(found[np.argsort(counts)]) >= 0).all()


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], []),
        ([7], [6]),
        ([4, 4, 4, 4], [6, 6, 6, 6]),
        ([9, 1], [8, 3]),
        ([0] * 6 + [1, 2, 3, 4], [4] * 6 + [7, 8, 9, 10]),
        ([1] * 50 + [2] * 50, [3] * 50 + [8] * 50),
    ],
)
def test_equal_counts_stay_together_where_their_middle_falls(counts, expected):
    assert deciles(np.array(counts, np.int64)).tolist() == expected


def test_whoever_has_no_test_row_is_in_no_slice():
    """Ada rates much and is not tested; of the two who are, Bo is known from one training row."""
    train, test = split(
        [("ada", k, 3, False) for k in range(9)]
        + [("bo", 0, 3, False), ("bo", 1, 5, True), ("cy", 2, 1, True), ("cy", 3, 2, True)]
    )
    people = [part for part in slices(train, test, np.full(3, 3.0)) if part.by == "activity"]
    assert [(p.decile, p.fewest, p.most, p.members, p.tested) for p in people] == [
        (3, 0, 0, 1, 2), (8, 1, 1, 1, 1),
    ]  # fmt: skip
    assert people[0].slice_rmse == pytest.approx(math.sqrt((4 + 1) / 2))
    assert people[1].slice_rmse == 2
    assert all(part.privacy_cost is None for part in people)
