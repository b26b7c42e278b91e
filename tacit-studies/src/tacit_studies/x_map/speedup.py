"""X-Map's speed-up over workers, drawn as the paper draws it: T(fewest) / T(n).

NX-Map by items and by people, and MLlib's ALS on both halves together. Workers are processes of one
core each (`local-cluster[n,1,MEMORY]`); of a given master there are as many as it says, one number
a run. Wall seconds of a whole prediction, the session and its first stage begun before.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from matplotlib.figure import Figure

from tacit.crossdomain import MllibALS, XMap
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System, Trial
from tacit.engines.spark import Spark
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import panels
from tacit_studies.kept import Figures, Kept

SYSTEMS: dict[str, System] = {
    "nx-map (item)": XMap(),
    "nx-map (user)": XMap(variant="user"),
    "mllib-als": MllibALS(),
}
NEAR = 0.8
"""The share of the ideal from which a speed-up is near linear."""


class WorkersCase(NamedTuple):
    """A system with so many workers."""

    system: str
    workers: int
    master: str


@dataclass(frozen=True)
class Speedup:
    """At each number of `workers`, none for no Spark; `memory` of the driver, MiB of each worker.
    `master`: a Spark's own instead of processes of this machine, for one number of workers."""

    workers: tuple[int, ...] = (1, 2)
    memory: str = "4g"
    worker_memory: int = 4096
    master: str = ""

    name: ClassVar[str] = "speedup"
    title: ClassVar[str] = "Speed-up over workers"

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Every system with every number of workers."""
        if not self.workers:
            words = "X-Map's time falls nearly linearly in machines"
            return StudyResult(
                claims=(PaperClaim.of_cases(words, "near linear", {}, "no Spark"),),
                remarks=("Speed-up is measured on Spark, and no workers were given.",),
            )
        os.environ.setdefault("SPARK_EXECUTOR_MEMORY", f"{self.worker_memory}m")
        trial = Holdout().hide(data, target=len(data.names) - 1, seed=0).trial
        cases = [WorkersCase(name, n, self.master) for n in self.workers for name in SYSTEMS]
        found = kept.measured(self.name, cases, partial(self._seconds, trial))
        speeds = speed_ups(found)
        return StudyResult(
            claims=claims(speeds),
            tables=(table(found, speeds),),
            drawing=drawn(speeds),
            described="Speed-up of each system against the number of workers.",
            remarks=("Workers are of one machine, where the paper has a cluster.",),
        )

    def _seconds(self, trial: Trial, case: WorkersCase) -> Figures:
        master = self.master or f"local-cluster[{case.workers},1,{self.worker_memory}]"
        with Spark(master, blocks=4 * case.workers, memory=self.memory) as engine:
            engine.over(given_back, [Begun(n) for n in range(case.workers)], Begun(0))
            begun = time.perf_counter()
            SYSTEMS[case.system].predict(trial, engine=engine, epsilon=None)
            return {"seconds": time.perf_counter() - begun}


class Begun(NamedTuple):
    """A block of a first stage, which begins the workers and does nothing else."""

    worker: int


def given_back(block: Begun, shared: Begun) -> Begun:
    """A kernel of nothing."""
    del shared
    return block


def speed_ups(found: Mapping[WorkersCase, Figures]) -> dict[str, dict[int, float]]:
    """By system and workers, over the fewest."""
    times: dict[str, dict[int, float]] = {}
    for case, at in found.items():
        times.setdefault(case.system, {})[case.workers] = at["seconds"]
    return {
        name: {n: took[min(took)] / seconds for n, seconds in took.items()}
        for name, took in times.items()
    }


def claims(speeds: Mapping[str, Mapping[int, float]]) -> tuple[PaperClaim, ...]:
    """The paper's curves, of its own systems."""
    said: list[PaperClaim] = []
    for name, at in speeds.items():
        fewest = min(at)
        held = {f"{n} workers": s >= NEAR * n / fewest for n, s in at.items() if n > fewest}
        told = ", ".join(f"{s:.2f} with {n}" for n, s in at.items())
        said.append(PaperClaim.of_cases(f"{name} speeds up", "near linear", held, told))
    return tuple(said)


def table(found: Mapping[WorkersCase, Figures], speeds: Mapping[str, Mapping[int, float]]) -> Table:
    """A line a system and number of workers."""
    lines = tuple(
        (c.system, str(c.workers), f"{at['seconds']:.1f}", f"{speeds[c.system][c.workers]:.2f}")
        for c, at in found.items()
    )
    return Table("Seconds of a prediction", ("system", "workers", "seconds", "speed-up"), lines)


def drawn(speeds: Mapping[str, Mapping[int, float]]) -> Figure:
    """Speed-up against workers, beside the ideal."""
    page, (axes,) = panels(1, 1)
    counts = sorted(next(iter(speeds.values())))
    axes.plot(counts, [n / counts[0] for n in counts], ":", color=INK, label="ideal")
    for colour, (name, at) in zip(PALETTE, speeds.items(), strict=False):
        axes.plot(counts, [at[n] for n in counts], "o-", color=colour, ms=4, label=name)
    dress(axes, "", counts, "workers", log=False)
    axes.set_ylabel(f"speed-up over {counts[0]}", color=INK, fontsize=9)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return page
