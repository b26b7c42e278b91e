"""How often X-Map's Theorems 2, 3 and 4 hold: on random small cases, and on rated items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.x_map.private_neighbours import RHO
from tacit.progress import bar
from tacit.reporting.table import NOTHING, Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.verdict import ClaimVerdict, share_verdict, weakest
from tacit_studies.x_map.bounds import EventCounts, Moved, moved, neighbours_drawn
from tacit_studies.x_map.sparse_ratings import CentredRatings

EPSILON = 0.8
"""epsilon' of PNSA and PNCF, in nats, as published for items."""

TRIES = 200
"""Random pairs of items that are drawn, at most, for each one with a rater of both."""

HELD = (
    "A theorem holds where it does in every case. A row of 3 or 4 is judged by the share of draws "
    "in which its event occurs, with a confidence of 95 % for all rows together."
)


@dataclass(frozen=True)
class Theorems:
    """Theorem 2 on that number of random `pairs`, and of pairs of rated items. 3 and 4 on `rows` of
    rated items with `k` neighbours, each in `draws`."""

    pairs: int = 2000
    rows: int = 200
    draws: int = 200
    k: int = 50

    name: ClassVar[str] = "theorems"
    title: ClassVar[str] = "Theorems 2, 3 and 4: sensitivity, and drawn neighbours"
    covers: ClassVar[tuple[str, ...]] = ("Theorem 2", "Theorem 3", "Theorem 4", "PNSA", "PNCF")
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Measure the shares of cases in which each theorem holds."""
        del kept  # Fresh draws in every run.
        centred = CentredRatings.of(data.ratings)
        second = {
            "random small tables": list(random_cases(self.pairs)),
            data.ratings.name: list(rated_pairs(centred, self.pairs)),
        }
        rows = list(self._rows(centred))
        claims = [second_theorem(second)]
        if rows:
            third = [(row.above, row.draws) for row in rows]
            fourth = [(row.present, row.draws) for row in rows]
            claims += [
                row_theorem("Theorem 3: drawn neighbours are near the nearest", third),
                row_theorem("Theorem 4: the nearest are drawn", fourth),
            ]
        return StudyResult(
            claims=tuple(claims), tables=(table(second),), remarks=(HELD, self._vacuous(rows))
        )

    def _vacuous(self, rows: Sequence[EventCounts]) -> str:
        """Return for how many rows Theorems 3 and 4 are vacuous."""
        if not rows:
            return (
                f"No item shares raters with more than {self.k} others, so that Theorems 3 and 4 "
                "have no case."
            )
        silent = fmean(row.silent for row in rows)
        return f"3 and 4 are vacuous in {silent:.0%} of {len(rows)} rows: w is all of Sim_k."

    def _rows(self, centred: CentredRatings) -> Iterator[EventCounts]:
        """Draw neighbours of random items with more candidates than k."""
        chance = np.random.default_rng(1)
        longest = int(centred.counts.max())
        # A catalogue in two halves has each item in both, and one of them is unrated.
        rated = np.flatnonzero(centred.counts)
        items = chance.choice(rated, min(self.rows, len(rated)), replace=False)
        with bar("rows of Theorems 3 and 4") as progress:
            for number, item in enumerate(items.tolist()):
                progress("", number, len(items))
                s, sensitivity = centred.candidates(item)
                if len(s) > self.k:
                    yield neighbours_drawn(s, sensitivity, self.k, EPSILON, longest, self.draws)


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


def rated_pairs(centred: CentredRatings, count: int) -> Iterator[Moved]:
    """Yield random pairs of items with a rater of both, fewer where they are rare."""
    chance = np.random.default_rng(0)
    rated = np.flatnonzero(centred.counts)
    for _ in range(TRIES * count if len(rated) > 1 else 0):
        i, j = chance.choice(rated, 2, replace=False).tolist()
        if centred.share_a_rater(i, j):
            yield moved(*centred.pair(i, j))
            count -= 1
        if count == 0:
            return


def second_theorem(cases: Mapping[str, Sequence[Moved]]) -> PaperClaim:
    """Judge Theorem 2, which fails where any case does."""
    shares = {name: [case.holds for case in each] for name, each in cases.items() if each}
    ours = "; ".join(f"in {fmean(each):.0%} of cases, {name}" for name, each in shares.items())
    verdict = weakest(
        ClaimVerdict.HOLDS if all(each) else ClaimVerdict.FAILS for each in shares.values()
    )
    return PaperClaim("Theorem 2: one user moves s(i, j) by SS at most", "always", ours, verdict)


def row_theorem(words: str, counts: Sequence[tuple[int, int]]) -> PaperClaim:
    """Judge a theorem by the draws of every row in which its event occurs."""
    verdicts = [share_verdict(hits, n, 1 - RHO, cases=len(counts)) for hits, n in counts]
    share = fmean(hits >= (1 - RHO) * n for hits, n in counts)
    failed = verdicts.count(ClaimVerdict.FAILS)
    ours = f"in {share:.0%} of {len(counts)} rows; fewer draws beyond chance in {failed}"
    return PaperClaim(words, f"in {1 - RHO:.0%} of draws, always", ours, weakest(verdicts))


def table(found: Mapping[str, list[Moved]]) -> Table:
    """Return what moves a similarity further than Theorem 2 bounds it."""

    def share(cases: list[Moved], what: str) -> str:
        if not cases:
            return NOTHING
        shares = {
            "both": [case.shared > case.printed for case in cases],
            "one": [case.single > case.printed for case in cases],
            "negative": [case.printed < 0 for case in cases],
        }
        return f"{fmean(shares[what]):.0%}"

    kinds = {
        "a user who rated both moves s further than SS": "both",
        "a user who rated one of the two does": "one",
        "SS is negative": "negative",
    }
    lines = tuple(
        (words, *(share(cases, what) for cases in found.values())) for words, what in kinds.items()
    )
    return Table("Theorem 2, share of pairs", ("of pairs with a rater of both", *found), lines)
