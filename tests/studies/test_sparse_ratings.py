"""Candidates of an item from sparse ratings, against every pair laid out."""

import numpy as np
import polars as pl
import pytest

from tacit import from_frame
from tacit.kernels.neighbourhood.sensitivity import SMALLEST
from tacit_studies.x_map import sparse_ratings
from tacit_studies.x_map.bounds import moved
from tacit_studies.x_map.sparse_ratings import CentredRatings


@pytest.fixture(scope="module")
def stars():
    """Ratings of 40 users and 30 items, NaN where unrated; one item has a single rater."""
    chance = np.random.default_rng(3)
    table = chance.integers(1, 6, (40, 30)).astype(float)
    table[chance.random(table.shape) < 0.7] = np.nan
    table[:, 7] = np.nan
    table[5, 7] = 2.0
    return table


@pytest.fixture(scope="module")
def centred(stars):
    users, items = np.nonzero(~np.isnan(stars))
    frame = pl.DataFrame({"user": users, "item": items, "rating": stars[users, items]})
    return CentredRatings.of(from_frame(frame, scale="1:5:1"))


def around(stars):
    return stars - np.nanmean(stars, axis=1, keepdims=True)


def expected(stars, item):
    """Return s and |SS| of every item that shares a rater, from dense pairs."""
    centre = around(stars)
    norms = np.sqrt(np.nansum(centre**2, axis=0))
    s, sensitivity = [], []
    for other in range(stars.shape[1]):
        both = ~np.isnan(centre[:, item]) & ~np.isnan(centre[:, other])
        if other != item and both.any() and norms[item] * norms[other] > 0:
            dot = float((centre[both, item] * centre[both, other]).sum())
            s.append(dot / (norms[item] * norms[other]))
            printed = moved(centre[:, item], centre[:, other]).printed
            sensitivity.append(max(abs(printed), SMALLEST))
    return s, sensitivity


@pytest.mark.parametrize("block", [1, 10, 1 << 21])
def test_candidates_are_those_of_dense_pairs_in_any_blocks(block, stars, centred, monkeypatch):
    monkeypatch.setattr(sparse_ratings, "BLOCK", block)
    for item in (0, 7, 12, 29):
        s, sensitivity = expected(stars, item)
        found = centred.candidates(item)
        assert found.s == pytest.approx(s, abs=1e-12)
        assert found.sensitivity == pytest.approx(sensitivity, rel=1e-9)


def test_a_pair_is_that_of_its_raters(stars, centred):
    centre = around(stars)
    for i, j in ((0, 1), (7, 3), (20, 29)):
        first, second = centred.pair(i, j)
        rated = ~(np.isnan(centre[:, i]) & np.isnan(centre[:, j]))
        assert first == pytest.approx(centre[rated, i], nan_ok=True)
        assert second == pytest.approx(centre[rated, j], nan_ok=True)
        both = ~np.isnan(centre[:, i]) & ~np.isnan(centre[:, j])
        assert centred.share_a_rater(i, j) == both.any()
