"""X-Map's extender in stages compared with all meta-paths: cost and agreement.

Measured are the seconds of the extender alone, X-Sims, the fraction of source items with the same
replacement, and the MAE of item-based NX-Map as printed, in trials without target ratings, at each
fraction of users who link the domains, for several draws of them. A small trial comes first, so
that times do not include compilation.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tacit.crossdomain import XMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut, Holdout
from tacit.crossdomain.trial import score
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import Extension, extend, extend_by_stages
from tacit.crossdomain.x_map.replacement import NOTHING, best
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.search_results import Wanted
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept, averaged, by_draw, samples
from tacit_studies.verdict import Difference

FEW = 0.001
ALIKE = 0.95
"""The share of items with the same replacement from which both extenders count as one."""
LEAST = 0.01
"""The least difference of that share."""


class StagedShare(NamedTuple):
    """A share of users who link, neighbours kept, and the draw of these users."""

    overlap: float
    k: int
    seed: int


@dataclass(frozen=True)
class Stages:
    """At each of the `overlaps`, with `k` edges kept, for that number of `seeds`."""

    overlaps: tuple[float, ...] = (0.002, 0.05, 0.2, 1.0)
    k: int = 50
    seeds: int = 3

    name: ClassVar[str] = "stages"
    title: ClassVar[str] = "The extender in stages"
    covers: ClassVar[tuple[str, ...]] = ("the extender",)
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Run both extenders at each share of users who link."""
        cases = [
            StagedShare(overlap, self.k, seed)
            for overlap in self.overlaps
            for seed in range(self.seeds)
        ]
        measured(data, StagedShare(FEW, 2, 0))
        draws = by_draw(
            kept.measured(self.name, cases, partial(measured, data)), lambda case: case.overlap
        )
        verdicts = {
            f"{overlap:g}": Difference.of([same - ALIKE for same in samples(each, "same")]).verdict(
                LEAST
            )
            for overlap, each in draws.items()
        }
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "stages that keep the k best give what all paths give", "implied", verdicts,
                    f"at least {ALIKE:.0%} of replacements where these shares link; least "
                    f"difference {LEAST:.0%}",
                ),
            ),
            tables=(table(averaged(draws)),),
            remarks=("Seconds are those of this machine, and of whatever else it did.",),
        )  # fmt: skip


def measured(domains: Domains, case: StagedShare) -> Figures:
    """Seconds, X-Sims and errors of both extenders, and how often they choose the same."""
    hidden = Holdout(overlap=case.overlap).hide(domains, len(domains.names) - 1, case.seed)
    chosen: list[np.ndarray] = []
    figures: Figures = {}
    for name, stages in (("paths", False), ("stages", True)):
        found, took = extended(hidden.trial.domains, case.k, stages=stages)
        chosen.append(best(found, len(domains.of_item)))
        figures |= {
            f"{name}_seconds": took,
            f"{name}_x_sims": len(found.found.s),
            f"{name}_mae": error(hidden, case.k, stages=stages),
        }
    mapped = chosen[0] != NOTHING
    figures["same"] = float((chosen[0] == chosen[1])[mapped].mean()) if mapped.any() else 1.0
    return figures


def extended(domains: Domains, k: int, *, stages: bool) -> tuple[Extension, float]:
    """X-Sims, and the seconds that they took."""
    in_target, engine = domains.of_item == len(domains.names) - 1, Local()
    base = baseline(compare_items(domains.ratings), in_target, engine, Wanted(k))
    begun = time.perf_counter()
    if stages:
        found = extend_by_stages(base, in_target, k, engine)
    else:
        found = extend(base, in_target, engine)
    return found, time.perf_counter() - begun


def error(hidden: HeldOut, k: int, *, stages: bool) -> float:
    """Mean absolute error of NX-Map by items."""
    system = changed(XMap(), k=k, stages=stages)
    told = system.predict(hidden.trial, engine=Local(), epsilon=None)
    return score(hidden.values, told.predicted, hidden.trial.domains.ratings.scale).mae


def table(means: Mapping[float, Figures]) -> Table:
    """Return the means of each extender at each share of users who link."""
    lines: list[tuple[str, ...]] = []
    for overlap, at in means.items():
        for name in ("paths", "stages"):
            same = f"{at['same']:.0%}" if name == "stages" else "100%"
            figures = (
                f"{at[f'{name}_seconds']:.2f}", f"{int(at[f'{name}_x_sims']):,}",
                same, f"{at[f'{name}_mae']:.4f}",
            )  # fmt: skip
            lines.append((f"{overlap:g}", name, *figures))
    heading = ("share who link", "extender", "seconds", "X-Sims", "same replacement", "MAE")
    return Table("All meta-paths, and stages", heading, tuple(lines))
