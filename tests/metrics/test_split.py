"""Splits are the ones that anybody can redo."""

import numpy as np
import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.metrics.split import SplitProtocol, at_random, fold_of, latest
from tacit.readers import from_frame


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
    with pytest.raises(RequestError, match="no times"):
        latest(from_frame(frame.drop("timestamp"), scale="1:5:1"), 0.5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share": 1.5}, "1.5 is not between"),
        ({"seeds": 0}, "0 seeds"),
        ({"folds": 1}, "1 folds"),
        ({"kind": "odd"}, "no split 'odd'"),
        ({"kind": "time", "folds": 3}, "--folds"),
    ],
)
def test_a_protocol_that_cannot_be_run_is_refused(settings, words):
    with pytest.raises(RequestError, match=words):
        SplitProtocol(**settings)


def test_a_split_without_a_test_row_is_refused():
    few = from_frame(
        pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [3, 4]}), scale="1:5:1"
    )
    with pytest.raises(RequestError, match="Of 2 ratings 0 would be held out"):
        SplitProtocol(share=0.01).test(few, 0, None)
