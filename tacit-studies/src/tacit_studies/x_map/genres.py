"""X-Map's split of one catalogue by genre: NX-Map, X-Map and MLlib's ALS beside published MAEs.

A fifth of those who rated in both halves are tested, with nothing kept of the target. NX-Map and
X-Map by items as printed, at the published claim.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import ClassVar, NamedTuple

from tacit.crossdomain import MllibALS, XMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System, score
from tacit.engines.engine import Engine, Local
from tacit.engines.spark import Spark
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept

NX, X, ALS = "nx-map", "x-map", "mllib-als"
PUBLISHED = {NX: 0.6027, X: 0.6830, ALS: 0.6729}
"""MAE on MovieLens 20M by genre, in the authors' report."""
EPSILONS = {NX: None, X: "1.1", ALS: None}


class GenreCase(NamedTuple):
    """A system on one draw of who is tested."""

    system: str
    seed: int
    k: int


@dataclass(frozen=True)
class Genres:
    """So many `seeds`, `k` neighbours. MLlib's ALS runs on a Spark of that `master`, with so much
    `memory` for the driver; it is left out without one."""

    seeds: int = 1
    k: int = 50
    master: str = "local[2]"
    memory: str = "4g"

    name: ClassVar[str] = "genres"
    title: ClassVar[str] = "MAE on one catalogue by genre"

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """The three systems, source to target."""
        names = list(PUBLISHED) if self.master else [NX, X]
        cases = [GenreCase(name, seed, self.k) for seed in range(self.seeds) for name in names]
        found = means(kept.measured(self.name, cases, partial(self._measured, data)))
        remarks = ("Published values are of MovieLens 20M; these are of the data given.",)
        left_out = (f"{ALS} runs on Spark, and no master was given.",)
        return StudyResult(
            claims=claims(found),
            tables=(table(found),),
            remarks=remarks if self.master else remarks + left_out,
        )

    def _measured(self, domains: Domains, case: GenreCase) -> Figures:
        hidden = Holdout().hide(domains, target=len(domains.names) - 1, seed=case.seed)
        system = SYSTEMS[case.system]
        if isinstance(system, XMap):
            system = changed(system, k=case.k)
        with self._engine(case.system) as engine:
            told = system.predict(hidden.trial, engine=engine, epsilon=EPSILONS[case.system])
        found = score(hidden.values, told.predicted, domains.ratings.scale)
        return {"mae": found.mae, "rounded": found.mae_rounded, "covered": found.coverage}

    def _engine(self, system: str) -> AbstractContextManager[Engine]:
        return Spark(self.master, memory=self.memory) if system == ALS else nullcontext(Local())


SYSTEMS: dict[str, System] = {NX: XMap(), X: XMap(mode="faithful"), ALS: MllibALS()}


def means(found: Mapping[GenreCase, Figures]) -> dict[str, Figures]:
    """By system, over seeds."""
    groups: dict[str, list[Figures]] = {}
    for case, figures in found.items():
        groups.setdefault(case.system, []).append(figures)
    return {
        name: {key: fmean(one[key] for one in every) for key in every[0]}
        for name, every in groups.items()
    }


def claims(found: Mapping[str, Figures]) -> tuple[PaperClaim, ...]:
    """The published order: NX-Map is the best, and X-Map, which pays for privacy, the worst."""
    said: list[PaperClaim] = []
    for lower, higher in ((NX, X), (NX, ALS), (ALS, X)):
        published = f"{PUBLISHED[lower]:.4f} and {PUBLISHED[higher]:.4f}"
        held, ours = {}, "no Spark"
        if lower in found and higher in found:
            below = found[lower]["mae"], found[higher]["mae"]
            held, ours = {"here": below[0] < below[1]}, f"{below[0]:.4f} and {below[1]:.4f}"
        said.append(PaperClaim.of_cases(f"{lower} below {higher}", published, held, ours))
    return tuple(said)


def table(found: Mapping[str, Figures]) -> Table:
    """A line a system."""
    lines = tuple(
        (name, f"{PUBLISHED[name]:.4f}", f"{at['mae']:.4f}", f"{at['rounded']:.4f}",
         f"{at['covered']:.0%}")
        for name, at in found.items()
    )  # fmt: skip
    heading = ("system", "published, ML-20M", "MAE", "rounded to a level", "covered")
    return Table("Mean absolute error", heading, lines)
