"""The most similar of many things against sums written out, ties and all."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from tacit.crossdomain.neighbours import POINT_BITS, Adjusted
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.search_results import Near, Wanted

PEOPLE, ITEMS = 30, 40
EVERYTHING = np.arange(ITEMS, dtype=np.int32)
WANTED = [
    Wanted(k, damping, signed, same)
    for k, damping, signed, same in itertools.product(
        (1, 7, 60), (0, 4), (True, False), (True, False)
    )
]


def ratings() -> Adjusted:
    """Two stars only, and copies of items, so that many similarities are equal or opposite."""
    rng = np.random.default_rng(8)
    table = rng.integers(0, 2, (PEOPLE, ITEMS))
    table[:, 30:] = table[:, :10]
    held = rng.random(table.shape) < 0.4
    held[:, 30:] = held[:, :10]
    held[:, 17] = False
    users, items = (codes.astype(np.int32) for codes in np.nonzero(held))
    points = table[users, items].astype(np.int64) << POINT_BITS
    return Adjusted.of(items, users, points, ITEMS, PEOPLE)


def naive(alike: Adjusted, row: int, wanted: Wanted) -> list[tuple[int, float, int, int]]:
    """Code, s, S and n of the nearest of an item."""
    x, like, has = (np.zeros((PEOPLE, ITEMS), np.int64) for _ in range(3))
    people = np.repeat(np.arange(PEOPLE), alike.witnesses.counts)
    cells = people, alike.witnesses.other
    x[cells], like[cells], has[cells] = alike.value, alike.like, 1
    found = []
    for code in range(ITEMS):
        both = int((has[:, row] * has[:, code]).sum())
        same = int((has[:, row] * has[:, code] * (like[:, row] == like[:, code])).sum())
        dot = int((x[:, row] * x[:, code]).sum())
        if code == row or dot == 0 or (wanted.same and same == 0):
            continue
        s = dot / (alike.root[row] * alike.root[code])
        if wanted.damping:
            s *= min(both, wanted.damping) / wanted.damping
        told = (same, both) if wanted.same or wanted.damping else (0, 0)
        found.append((code, s, *told))
    found.sort(key=lambda each: (-each[1] if wanted.signed else -abs(each[1]), each[0]))
    return found[: wanted.k]


def told(near: Near, row: int) -> list[tuple[int, float, int, int]]:
    columns = (column[row].tolist() for column in near)
    return [each for each in zip(*columns, strict=True) if each[0] >= 0]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("wanted", WANTED)
def test_the_nearest_are_those_of_the_sums_to_the_last_digit(
    wanted: Wanted, use_threads: Callable[[int], None]
) -> None:
    alike = ratings()
    for blocks, count in ((1, 1), (1, 3), (3, 3)):
        use_threads(count)
        near = alike.nearest(EVERYTHING, EVERYTHING, wanted, Local(blocks))
        for row in range(ITEMS):
            assert told(near, row) == naive(alike, row, wanted)


def test_rows_among_other_columns_have_the_nearest_of_those() -> None:
    alike, wanted = ratings(), Wanted(5)
    near = alike.nearest(EVERYTHING[:12], EVERYTHING[8:], wanted, Local())
    for row in range(12):
        expected = [each for each in naive(alike, row, Wanted(ITEMS)) if each[0] >= 8][:5]
        assert told(near, row) == expected
