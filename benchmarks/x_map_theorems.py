"""How often X-Map's Theorems 2, 3 and 4 hold: on random small cases, and on rated items.

python benchmarks/x_map_theorems.py [RATINGS] [--pairs 2000] [--rows 200] [--draws 200]
"""

import argparse
from collections.abc import Iterator
from statistics import fmean

import numpy as np

from followed import followed
from tacit import read
from tacit.audit.published_bounds.x_map import (
    EventShares,
    Moved,
    holds,
    moved,
    neighbours_drawn,
    published_sensitivity,
)
from tacit.kernels.sensitive import SMALLEST

K, EPSILON = 50, 0.8


def random_cases(count: int) -> Iterator[Moved]:
    """Two items, three to eight people, each with her ratings of both, or of one."""
    chance = np.random.default_rng(0)
    for _ in range(count):
        people = int(chance.integers(3, 9))
        table = chance.integers(1, 6, (people, 5)).astype(float)
        table[chance.random(table.shape) < 0.3] = np.nan
        around = (
            table
            - np.array(
                [row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else 0 for row in table]
            )[:, None]
        )
        pair = around[:, 0], around[:, 1]
        if (~np.isnan(pair[0]) & ~np.isnan(pair[1])).any():
            yield moved(*pair)


def dense(path: str) -> np.ndarray:
    """Ratings centred by person, NaN where there is none."""
    ratings = read(path)
    table = np.full((ratings.n_users, ratings.n_items), np.nan, np.float32)
    table[ratings.users, ratings.items] = ratings.values
    return table - np.nanmean(table, axis=1, keepdims=True)


def rated_pairs(table: np.ndarray, count: int) -> Iterator[Moved]:
    """Random pairs of items that somebody rated both of."""
    chance = np.random.default_rng(0)
    while count:
        i, j = chance.choice(table.shape[1], 2, replace=False)
        a, b = table[:, i].astype(float), table[:, j].astype(float)
        if (~np.isnan(a) & ~np.isnan(b)).any():
            count -= 1
            yield moved(a, b)


def rows(table: np.ndarray, count: int, draws: int) -> Iterator[EventShares]:
    """Random items with their candidates: all that share a rater with them."""
    chance = np.random.default_rng(1)
    longest = int((~np.isnan(table)).sum(0).max())
    filled = np.nan_to_num(table).astype(float)
    squares = (filled**2).sum(0)
    for i in followed("rows", chance.choice(table.shape[1], count, replace=False)):
        both = ~np.isnan(table[:, [i]]) & ~np.isnan(table)
        others = [j for j in np.flatnonzero(both.any(0)) if j != i and squares[j] * squares[i] > 0]
        if len(others) > K:
            s = filled[:, others].T @ filled[:, i] / np.sqrt(squares[others] * squares[i])
            printed = (
                published_sensitivity(filled[:, i], filled[:, j], both[:, j]) for j in others
            )
            guarded = np.maximum(np.abs(list(printed)), SMALLEST)
            yield neighbours_drawn(s, guarded, K, EPSILON, longest, draws)


def second(found: list[Moved]) -> str:
    """Theorem 2 in figures."""
    n = len(found)
    shared = sum(case.shared > case.printed for case in found) / n
    single = sum(case.single > case.printed for case in found) / n
    negative = sum(case.printed < 0 for case in found) / n
    return (
        f"{n} pairs: Theorem 2 holds in {fmean(case.holds for case in found):.1%}; a rater of both "
        f"moves s further in {shared:.1%}, of one in {single:.1%}; SS < 0 in {negative:.1%}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="?")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    asked = parser.parse_args()
    print("random,", second(list(random_cases(asked.pairs))))
    if asked.ratings:
        table = dense(asked.ratings)
        print("rated,", second(list(rated_pairs(table, asked.pairs))))
        found = list(rows(table, asked.rows, asked.draws))
        print(
            f"rated, {len(found)} rows at k {K}, epsilon' {EPSILON}: "
            f"Theorem 3 holds in {fmean(holds(row.above) for row in found):.1%}, "
            f"4 in {fmean(holds(row.present) for row in found):.1%}; "
            f"they say nothing in {fmean(row.silent for row in found):.1%}"
        )


if __name__ == "__main__":
    main()
