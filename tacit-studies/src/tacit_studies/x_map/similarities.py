"""X-Map's similarities across domains: how many adjusted cosine finds, and how many X-Sim.

A pair of items counts where its similarity is not 0. The ratings are those known in a trial (seed
0, nothing kept) at each share of people who link the domains. Undamped, as printed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import extend
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.similar import Wanted
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept


class LinkedShare(NamedTuple):
    """A share of people who link, and neighbours kept."""

    overlap: float
    k: int


@dataclass(frozen=True)
class Similarities:
    """At each of the `overlaps`, with `k` edges kept."""

    overlaps: tuple[float, ...] = (0.002, 0.01, 0.05, 0.2, 1.0)
    k: int = 50

    name: ClassVar[str] = "similarities"
    title: ClassVar[str] = "How many similarities X-Sim adds"

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Both counts at each share of people who link."""
        cases = [LinkedShare(overlap, self.k) for overlap in self.overlaps]
        found = kept.measured(self.name, cases, partial(counted, data))
        held = {f"{case.overlap:g}": at["x_sim"] > at["cosine"] for case, at in found.items()}
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "X-Sim finds more similarities across domains than adjusted cosine",
                    ".3 million and 4.5 million", held, "where these shares link",
                ),
            ),
            tables=(table(found),),
        )  # fmt: skip


def counted(domains: Domains, case: LinkedShare) -> Figures:
    """Pairs of a source item and a target item: all; by adjusted cosine; by X-Sim."""
    target = len(domains.names) - 1
    known = Holdout(overlap=case.overlap).hide(domains, target, seed=0).trial.domains
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


def table(found: Mapping[LinkedShare, Figures]) -> Table:
    """A line a share of people who link."""
    lines = tuple(
        (f"{case.overlap:g}", *(f"{int(at[name]):,}" for name in ("pairs", "cosine", "x_sim")))
        for case, at in found.items()
    )
    heading = ("share who link", "pairs of items", "by adjusted cosine", "by X-Sim")
    return Table("Similarities that are not 0", heading, lines)
