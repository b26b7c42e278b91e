"""The bulk device step against the device's own solve, for profiles on either side of 1 + K."""

from array import array

import numpy as np
import pytest

from tacit.device import solve
from tacit.kernels.foldin import Home, fold_in_rows
from tacit.kernels.layout import Side, layout, starts
from tacit.kernels.level_scores import REACH, Doubles, cells_link, level_scores
from tacit.wire.item_model import ItemDraw

FACTORS, ITEMS = 6, 150
COUNTS = (0, 1, 5, 6, 7, 8, 60, 0, 150, 3)  # ratings a person; 1 + K is 7
STARS, HALVES, TWO = np.arange(1.0, 6), np.arange(0.5, 5.1, 0.5), np.array([0.0, 1.0])


def world(levels: Doubles, sigma: float, shrinks: bool) -> tuple[Side, Doubles, Home]:
    rng = np.random.default_rng(5)
    rated = [np.sort(rng.permutation(ITEMS)[:count]) for count in COUNTS]
    other = np.concatenate(rated).astype(np.int32)
    side = Side(starts(np.array(COUNTS)), other, np.arange(len(other)))
    home = Home(
        float(levels.mean()),
        rng.normal(0, 0.4, (ITEMS, 1 + FACTORS)).astype(np.float32),
        rng.uniform(0.5, 3, 1 + FACTORS).astype(np.float32).astype(float),
        rng.normal(0, 0.3, (len(COUNTS), 1 + FACTORS)),
        levels,
        sigma,
        rng.uniform(0, 0.2, ITEMS).astype(np.float32) if shrinks else np.empty(0, np.float32),
    )
    return side, rng.choice(levels, len(other)), home


@pytest.mark.parametrize("shrinks", [False, True])
@pytest.mark.parametrize(
    ("levels", "sigma"), [(STARS, 0.0), (STARS, 0.85), (HALVES, 0.8), (TWO, 2.0)]
)
def test_a_row_is_the_devices_own(levels: Doubles, sigma: float, shrinks: bool) -> None:
    side, ratings, home = world(levels, sigma, shrinks)
    draw = ItemDraw(
        home.mu,
        array("f", home.items[:, 0]),
        array("f", home.items[:, 1:].ravel()),
        array("f", home.precision),
        array("f"),
        array("f", home.shrinkage),
    )
    for r, row in enumerate(fold_in_rows(side, ratings, home)):
        cells, prior = slice(side.start[r], side.start[r + 1]), home.prior[r].tolist()
        known = list(zip(side.other[cells].tolist(), ratings[cells].tolist(), strict=True))
        twin = (
            solve.ordinal_row(draw, known, prior, levels.tolist(), sigma)
            if sigma
            else solve.linear_row(draw, known, prior)
        )
        assert row == pytest.approx(twin, abs=1e-10)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("levels", "sigma"), [(STARS, 0.85), (HALVES, 0.05), (TWO, 2.0)])
def test_scores_are_those_of_the_formula_in_the_table_and_beyond(
    levels: Doubles, sigma: float
) -> None:
    link, ends = cells_link(levels, sigma), np.array([-1.5, -1, -1 + 1e-12, 1 - 1e-12, 1, 1.5])
    for at, level in enumerate(levels):
        away = np.concatenate([np.linspace(-1.2, 1.2, 997), ends]) * REACH * sigma
        scores = np.empty(len(away))
        level_scores(link, np.full(len(away), at), level + away, scores)
        twin = [
            solve.level_score(theta, level, levels.tolist(), sigma)
            for theta in (level + away).tolist()
        ]
        assert scores == pytest.approx(twin, rel=1e-9, abs=1e-10)


def test_no_place_of_the_table_is_read_for_what_is_no_number() -> None:
    scores = np.empty(4)
    link = cells_link(STARS, 0.85)
    level_scores(link, np.zeros(4, np.int64), np.array([np.nan, np.inf, -np.inf, 1e300]), scores)
    assert np.isnan(scores[0])


def test_a_layout_sorts_by_person_then_item_and_keeps_the_order_of_equals() -> None:
    rng = np.random.default_rng(6)
    users, items = (rng.integers(0, n, 4000).astype(np.int32) for n in (40, 30))
    found, dealt = layout(users, items, 43, 31)
    order = np.lexsort((items, users))
    by_item = np.argsort(items[order], kind="stable")
    assert np.array_equal(dealt, order)
    assert np.array_equal(found.users.other, items[order])
    assert np.array_equal(found.items.cell, by_item)
    assert np.array_equal(found.items.other, users[order][by_item])
    assert found.users.counts.tolist() == np.bincount(users, minlength=43).tolist()
    assert found.items.counts.tolist() == np.bincount(items, minlength=31).tolist()
