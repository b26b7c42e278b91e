"""X-Map's similarities across domains: how many adjusted cosine finds, and how many X-Sim.

A pair of items counts where its similarity is not 0. The ratings are those known in a trial
(nothing kept) at each share of users who link the domains, for several draws of them. Undamped, as
printed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import extend
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.search_results import Wanted
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept, averaged, by_draw
from tacit_studies.verdict import ClaimVerdict, Difference

LEAST = 0.05
"""The least difference of the counts, as a share of that by adjusted cosine."""


class LinkedShare(NamedTuple):
    """A share of users who link, neighbours kept, and the draw of these users."""

    overlap: float
    k: int
    seed: int


@dataclass(frozen=True)
class Similarities:
    """At each of the `overlaps`, with `k` edges kept, for that number of `seeds`."""

    overlaps: tuple[float, ...] = (0.002, 0.01, 0.05, 0.2, 1.0)
    k: int = 50
    seeds: int = 3

    name: ClassVar[str] = "similarities"
    title: ClassVar[str] = "How many similarities X-Sim adds"
    covers: ClassVar[tuple[str, ...]] = ("number of similarities", "X-Sim")
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Count both at each share of users who link."""
        cases = [
            LinkedShare(overlap, self.k, seed)
            for overlap in self.overlaps
            for seed in range(self.seeds)
        ]
        draws = by_draw(
            kept.measured(self.name, cases, partial(counted, data)), lambda case: case.overlap
        )
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "X-Sim finds more similarities across domains than adjusted cosine",
                    ".3 million and 4.5 million",
                    {f"{overlap:g}": more(each) for overlap, each in draws.items()},
                    f"where these shares link; least difference {LEAST:.0%}",
                ),
            ),
            tables=(table(averaged(draws)),),
        )  # fmt: skip


def more(draws: Sequence[Figures]) -> ClaimVerdict:
    """Judge whether X-Sim finds more pairs, by its gain over adjusted cosine in every draw."""
    gains = [at["x_sim"] / max(at["cosine"], 1) - 1 for at in draws]
    return Difference.of(gains).verdict(LEAST)


def counted(domains: Domains, case: LinkedShare) -> Figures:
    """Pairs of a source item and a target item: all; by adjusted cosine; by X-Sim."""
    target = len(domains.names) - 1
    known = Holdout(overlap=case.overlap).hide(domains, target, case.seed).trial.domains
    alike, in_target = compare_items(known.ratings), known.of_item == target
    source, others = (np.flatnonzero(side).astype(np.int32) for side in (~in_target, in_target))
    near = alike.nearest(source, others, Wanted(len(others)), Local())
    base = baseline(alike, in_target, Local(), Wanted(case.k))
    found = extend(base, in_target, Local()).found
    return {
        "pairs": len(source) * len(others),
        "cosine": int(np.count_nonzero(near.code >= 0)),
        "x_sim": int(np.count_nonzero(found.s)),
    }


def table(means: Mapping[float, Figures]) -> Table:
    """Return the mean counts at each share of users who link."""
    lines = tuple(
        (f"{overlap:g}", *(f"{int(at[name]):,}" for name in ("pairs", "cosine", "x_sim")))
        for overlap, at in means.items()
    )
    heading = ("share who link", "pairs of items", "by adjusted cosine", "by X-Sim")
    return Table("Similarities that are not 0", heading, lines)
