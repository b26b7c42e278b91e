"""How often X-Map's Theorems 2, 3 and 4 hold: on random small cases, and on rated items."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.experiments.progress import bar
from tacit.kernels.neighbourhood.sensitivity import SMALLEST
from tacit.ratings import Ratings
from tacit.reporting.table import NOTHING, Table
from tacit_studies.claim import ClaimVerdict, PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.x_map.bounds import (
    EventShares,
    Moved,
    holds,
    moved,
    neighbours_drawn,
    published_sensitivity,
)

EPSILON = 0.8
"""epsilon' of PNSA and PNCF, in nats, as published for items."""

HELD = "A theorem holds where it does in every case."

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class Theorems:
    """Theorem 2 on so many `pairs`, made up and rated; 3 and 4 on `rows` of rated items with `k`
    neighbours, each in so many `draws`."""

    pairs: int = 2000
    rows: int = 200
    draws: int = 200
    k: int = 50

    name: ClassVar[str] = "theorems"
    title: ClassVar[str] = "Theorems 2, 3 and 4: sensitivity, and drawn neighbours"

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """The shares of cases in which each theorem holds."""
        del kept  # A minute, and chance throughout.
        centred = dense(data.ratings)
        second = {
            "random small tables": list(random_cases(self.pairs)),
            data.ratings.name: list(rated_pairs(centred, self.pairs)),
        }
        found = list(self._rows(centred))
        claims = [claim("Theorem 2: one person moves s(i, j) by SS at most", held(second))]
        if found:
            third = [holds(row.above) for row in found]
            fourth = [holds(row.present) for row in found]
            claims += [
                claim("Theorem 3: drawn neighbours are near the nearest", {"": third}),
                claim("Theorem 4: the nearest are drawn", {"": fourth}),
            ]
        return StudyResult(
            claims=tuple(claims), tables=(table(second),), remarks=(HELD, self._said(found))
        )

    def _said(self, found: list[EventShares]) -> str:
        """What Theorems 3 and 4 leave unsaid."""
        if not found:
            return (
                f"No item shares raters with more than {self.k} others, so that Theorems 3 and 4 "
                "have no case."
            )
        silent = fmean(row.silent for row in found)
        return f"3 and 4 say nothing in {silent:.0%} of {len(found)} rows: w is all of Sim_k."

    def _rows(self, centred: Matrix) -> Iterator[EventShares]:
        """Random items with their candidates: all that share a rater with them."""
        chance = np.random.default_rng(1)
        longest = int((~np.isnan(centred)).sum(0).max())
        filled = np.nan_to_num(centred).astype(float)
        squares = (filled**2).sum(0)
        # A catalogue in two halves has each item in both, and in one of them nobody rated it.
        rated = np.flatnonzero(~np.isnan(centred).all(0))
        items = chance.choice(rated, min(self.rows, len(rated)), replace=False)
        with bar("rows of Theorems 3 and 4") as progress:
            for number, i in enumerate(items):
                progress("", number, len(items))
                both = ~np.isnan(centred[:, [i]]) & ~np.isnan(centred)
                near = np.flatnonzero(both.any(0))
                others = [j for j in near if j != i and squares[j] * squares[i] > 0]
                if len(others) > self.k:
                    s = filled[:, others].T @ filled[:, i] / np.sqrt(squares[others] * squares[i])
                    printed = (
                        published_sensitivity(filled[:, i], filled[:, j], both[:, j])
                        for j in others
                    )
                    guarded = np.maximum(np.abs(list(printed)), SMALLEST)
                    yield neighbours_drawn(s, guarded, self.k, EPSILON, longest, self.draws)


def random_cases(count: int) -> Iterator[Moved]:
    """Two items, three to eight people, each with their ratings of both, or of one."""
    chance = np.random.default_rng(0)
    for _ in range(count):
        people = int(chance.integers(3, 9))
        stars = chance.integers(1, 6, (people, 5)).astype(float)
        stars[chance.random(stars.shape) < 0.3] = np.nan
        rated = ~np.isnan(stars)
        means = np.nan_to_num(stars).sum(1) / np.maximum(rated.sum(1), 1)
        around = stars - means[:, None]
        pair = around[:, 0], around[:, 1]
        if (rated[:, 0] & rated[:, 1]).any():
            yield moved(*pair)


def dense(ratings: Ratings) -> Matrix:
    """Ratings centred by person, NaN where there is none, shape (people, items)."""
    found = np.full((ratings.n_users, ratings.n_items), np.nan, np.float32)
    found[ratings.users, ratings.items] = ratings.values
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    sums = np.bincount(ratings.users, ratings.values, ratings.n_users)
    return found - (sums / np.maximum(counts, 1)).astype(np.float32)[:, None]


def rated_pairs(centred: Matrix, count: int) -> Iterator[Moved]:
    """Random pairs of items that somebody rated both of."""
    chance = np.random.default_rng(0)
    while count:
        i, j = chance.choice(centred.shape[1], 2, replace=False)
        a, b = centred[:, i].astype(float), centred[:, j].astype(float)
        if (~np.isnan(a) & ~np.isnan(b)).any():
            count -= 1
            yield moved(a, b)


def held(found: dict[str, list[Moved]]) -> dict[str, list[bool]]:
    """Whether Theorem 2 holds, case by case."""
    return {name: [case.holds for case in cases] for name, cases in found.items()}


def claim(words: str, cases: dict[str, list[bool]]) -> PaperClaim:
    """A theorem, which fails where any case does."""
    said = "; ".join(f"in {fmean(of):.0%} of cases{f', {name}' if name else ''}"
                     for name, of in cases.items())  # fmt: skip
    whole = all(all(of) for of in cases.values())
    return PaperClaim(words, "always", said, ClaimVerdict.HOLDS if whole else ClaimVerdict.FAILS)


def table(found: dict[str, list[Moved]]) -> Table:
    """What moves a similarity further than Theorem 2 says."""

    def share(cases: list[Moved], what: str) -> str:
        if not cases:
            return NOTHING
        told = {
            "both": [case.shared > case.printed for case in cases],
            "one": [case.single > case.printed for case in cases],
            "negative": [case.printed < 0 for case in cases],
        }
        return f"{fmean(told[what]):.0%}"

    kinds = {
        "somebody who rated both moves s further than SS": "both",
        "somebody who rated one of the two does": "one",
        "SS is negative": "negative",
    }
    lines = tuple(
        (words, *(share(cases, what) for cases in found.values())) for words, what in kinds.items()
    )
    return Table("Theorem 2, share of pairs", ("of pairs with a rater of both", *found), lines)
