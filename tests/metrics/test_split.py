"""Splits are the ones that anybody can redo."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.metrics.split import SplitProtocol, at_random, fold_of, last, latest
from tacit.readers import from_frame, synthetic


def test_a_share_is_numpys_generator_over_rows_in_file_order(ratings):
    expected = np.random.default_rng(3).random(len(ratings)) < 0.1
    assert (SplitProtocol(share=0.1).test(ratings, 3, None) == expected).all()
    assert (at_random(len(ratings), 0.1, 3) == expected).all()


def test_folds_hold_out_every_row_once(ratings):
    protocol = SplitProtocol(folds=10)
    masks = [protocol.test(ratings, 0, fold) for fold in range(10)]
    assert (sum(mask.astype(int) for mask in masks) == 1).all()
    assert {mask.sum() for mask in masks} == {200}
    assert set(np.bincount(fold_of(103, 10, 5))) == {10, 11}


def test_places_run_through_seeds_and_folds():
    assert list(SplitProtocol(seeds=2).places()) == [(0, None), (1, None)]
    assert list(SplitProtocol(folds=2, seeds=2).places()) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_by_time_the_latest_are_held_out():
    frame = pl.DataFrame(
        {"user": [1, 2, 3, 4], "item": 1, "rating": 3, "timestamp": [50, 70, 60, 70]}
    )
    ratings = from_frame(frame, scale="1:5:1")
    assert latest(ratings, 0.25).tolist() == [False, False, False, True]
    assert latest(ratings, 0.5).tolist() == [False, True, False, True]
    with pytest.raises(RequestError, match="has none"):
        latest(from_frame(frame.drop("timestamp"), scale="1:5:1"), 0.5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share": 1.5}, "test_share must be between 0 and 1, got 1.5"),
        ({"seeds": 0}, "0 seeds"),
        ({"folds": 1}, "1 folds"),
        ({"kind": "odd"}, "split must be random"),
        ({"kind": "time", "folds": 3}, "--folds"),
        ({"kind": "last", "folds": 3}, "(--folds) or split (--split last)"),
        ({"kind": "column:test", "folds": 3}, "(--folds) or split (--split column:test)"),
        (
            {"kind": "last", "share": 0.1},
            "(--test-share) or split (--split last)",
        ),
        ({"kind": "column:test", "share": 0.1}, "(--test-share) or split (--split column:test)"),
        ({"kind": "column:"}, "split must be random, time, last or column:NAME, got 'column:'"),
    ],
)
def test_a_protocol_that_cannot_be_run_is_refused(settings, words):
    with pytest.raises(RequestError, match=re.escape(words)):
        SplitProtocol(**settings)


def test_a_split_without_a_test_row_is_refused():
    few = from_frame(
        pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [3, 4]}), scale="1:5:1"
    )
    with pytest.raises(RequestError, match="hold out 0 of 2 ratings"):
        SplitProtocol(share=0.01).test(few, 0, None)


def test_the_last_of_each_person_is_what_sorting_says():
    """The naive twin: each person's rows sorted by time, the lowest item id among the latest."""
    ratings = synthetic(40, 60, 900, "there", rng=1)
    coarse = replace(ratings, times=ratings.times // 10**6)
    mixed = coarse.take(np.random.default_rng(2).permutation(900))
    held = np.zeros(900, bool)
    for person in range(40):
        rows = np.flatnonzero(mixed.users == person)
        held[min(rows, key=lambda row: (-mixed.times[row], mixed.items[row]))] = True
    assert SplitProtocol(kind="last").test(mixed, 3, None).tolist() == held.tolist()
    assert held.sum() == 40
    with pytest.raises(
        RequestError, match="requires times, but synthetic has none; leave out split"
    ):
        last(replace(ratings, times=None))


def test_a_published_split_is_what_its_column_says():
    ratings = synthetic(40, 60, 900, rng=1)
    published = np.arange(900) % 7 == 0
    protocol = SplitProtocol(kind="column:test")
    held = protocol.test(replace(ratings, held_out=published), 3, None)
    assert (held == published).all()
    assert (protocol.column, SplitProtocol().column) == ("test", None)
    with pytest.raises(RequestError, match=r"without the column test.* held_out='test'"):
        protocol.test(ratings, 0, None)
    for whole in (np.zeros(900, bool), np.ones(900, bool)):
        with pytest.raises(RequestError, match="neither training nor test data may be empty"):
            protocol.test(replace(ratings, held_out=whole), 0, None)


def test_a_split_is_named_by_all_that_it_depends_on():
    kinds = (
        {},
        {"share": 0.2},
        {"kind": "time"},
        {"kind": "last"},
        {"kind": "column:a"},
        {"kind": "column:b"},
        {"folds": 5},
    )
    assert len({SplitProtocol(**kind).words for kind in kinds}) == 7
    assert SplitProtocol(share=0.1).words == SplitProtocol().words
