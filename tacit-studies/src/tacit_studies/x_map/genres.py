"""X-Map's split of one catalogue by genre: MAEs of NX-Map, X-Map and MLlib's ALS.

A fifth of the users with ratings in both halves are tested, without any of their target ratings.
NX-Map and X-Map are item-based, as printed, at the published claim.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

from tacit.crossdomain import MllibALS, XMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System, score
from tacit.engines.engine import Engine, Local
from tacit.engines.spark import Spark
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept, averaged, by_draw, samples

NX, X, ALS = "nx-map", "x-map", "mllib-als"
PUBLISHED = {NX: 0.6027, X: 0.6830, ALS: 0.6729}
"""MAE on MovieLens 20M by genre, in the authors' report."""
LEAST = 0.005
"""The least difference of MAE."""
EPSILONS = {NX: None, X: "1.1", ALS: None}


class GenreCase(NamedTuple):
    """A system on one draw of who is tested."""

    system: str
    seed: int
    k: int


@dataclass(frozen=True)
class Genres:
    """`seeds`: number of draws of test users. `k`: neighbours. MLlib's ALS runs on a Spark of that
    `master`, with that `memory` of the driver. Without a master it is left out."""

    seeds: int = 3
    k: int = 50
    master: str = "local[2]"
    memory: str = "4g"

    name: ClassVar[str] = "genres"
    title: ClassVar[str] = "MAE on one catalogue by genre"
    covers: ClassVar[tuple[str, ...]] = ("MAE on ML-20M by genre",)
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Measure the three systems, source to target."""
        names = list(PUBLISHED) if self.master else [NX, X]
        cases = [GenreCase(name, seed, self.k) for seed in range(self.seeds) for name in names]
        draws = by_draw(
            kept.measured(self.name, cases, partial(self._measured, data)), lambda case: case.system
        )
        remarks = ("Published values are of MovieLens 20M; these are of the data given.",)
        left_out = (f"{ALS} runs on Spark, and no master was given.",)
        return StudyResult(
            claims=tuple(claims(draws)),
            tables=(table(averaged(draws)),),
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


def claims(draws: Mapping[str, Sequence[Figures]]) -> Iterator[PaperClaim]:
    """Judge the published order: NX-Map is best, and X-Map, which pays for privacy, is worst."""
    for lower, higher in ((NX, X), (NX, ALS), (ALS, X)):
        below, above = (
            {"here": samples(draws[n], "mae")} if n in draws else {} for n in (lower, higher)
        )
        claim = PaperClaim.of_draws(f"{lower} below {higher}", below, above, least=LEAST)
        published = f"{PUBLISHED[lower]:.4f} and {PUBLISHED[higher]:.4f}"
        yield replace(claim, published=published, ours=claim.ours or "no Spark")


def table(found: Mapping[str, Figures]) -> Table:
    """A line a system."""
    lines = tuple(
        (name, f"{PUBLISHED[name]:.4f}", f"{at['mae']:.4f}", f"{at['rounded']:.4f}",
         f"{at['covered']:.0%}")
        for name, at in found.items()
    )  # fmt: skip
    heading = ("system", "published, ML-20M", "MAE", "rounded to a level", "covered")
    return Table("Mean absolute error", heading, lines)
