"""X-Map's speed-up over workers, drawn as the paper draws it: T(fewest) / T(n).

X-Map and NX-Map by items and by users, and MLlib's ALS on both halves together. Workers are
processes of one core each (`local-cluster[n,1,MEMORY]`). A given master has its own number of them,
one number per run. Wall seconds of a complete prediction, AlterEgos included, after the session and
its first stage have begun, for several repetitions.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import ClassVar, NamedTuple

from matplotlib.figure import Figure

from tacit.crossdomain import MllibALS, XMap
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System, Trial
from tacit.engines.spark import Spark
from tacit.registry import named
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import panels
from tacit_studies.kept import Figures, Kept, averaged, by_draw, samples
from tacit_studies.verdict import Difference

SYSTEMS: dict[str, System] = {
    "x-map (item)": XMap(mode="faithful"),
    "x-map (user)": XMap(variant="user", mode="faithful"),
    "nx-map (item)": XMap(),
    "nx-map (user)": XMap(variant="user"),
    "mllib-als": MllibALS(),
}
EPSILONS = {"x-map (item)": "1.1", "x-map (user)": "0.9"}
"""The published claims, in nats: both epsilons together."""
NEAR = 0.8
"""The share of the ideal from which a speed-up is near linear."""
LEAST = 0.02
"""The least difference of a speed-up, as a share of the ideal."""


class WorkersCase(NamedTuple):
    """A system with a number of workers, and which of the repetitions it is."""

    system: str
    workers: int
    master: str
    run: int


@dataclass(frozen=True)
class Speedup:
    """At each number of `workers`, none for no Spark, in that number of `runs`.

    `memory`: of the driver. `worker_memory`: MiB of each worker. `master`: a Spark's own, instead
    of processes of this machine, for one number of workers. `systems`: those measured.
    """

    workers: tuple[int, ...] = (1, 2)
    runs: int = 3
    systems: tuple[str, ...] = tuple(SYSTEMS)
    memory: str = "4g"
    worker_memory: int = 4096
    master: str = ""

    name: ClassVar[str] = "speedup"
    title: ClassVar[str] = "Speed-up over workers"
    covers: ClassVar[tuple[str, ...]] = ("speed-up over machines",)
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Measure every system with every number of workers."""
        if not self.workers:
            words = "X-Map's time falls nearly linearly in machines"
            return StudyResult(
                claims=(PaperClaim.of_cases(words, "near linear", {}, "no Spark"),),
                remarks=("Speed-up is measured on Spark, and no workers were given.",),
            )
        os.environ.setdefault("SPARK_EXECUTOR_MEMORY", f"{self.worker_memory}m")
        trial = Holdout().hide(data, target=len(data.names) - 1, seed=0).trial
        cases = [
            WorkersCase(name, n, self.master, run)
            for run in range(self.runs)
            for n in self.workers
            for name in self.systems
        ]
        seconds = by_draw(
            kept.measured(self.name, cases, partial(self._seconds, trial)),
            lambda case: (case.system, case.workers),
        )
        speeds = speed_ups({key: samples(runs, "seconds") for key, runs in seconds.items()})
        means = averaged(seconds)
        return StudyResult(
            claims=claims(speeds),
            tables=(table({key: at["seconds"] for key, at in means.items()}, speeds),),
            drawing=drawn(speeds),
            described="Speed-up of each system against the number of workers.",
            remarks=(
                "Workers are of one machine, where the paper has a cluster. A prediction includes "
                "the AlterEgos.",
            ),
        )

    def _seconds(self, trial: Trial, case: WorkersCase) -> Figures:
        system = named(SYSTEMS, case.system, "system of speedup")
        master = self.master or f"local-cluster[{case.workers},1,{self.worker_memory}]"
        with Spark(master, blocks=4 * case.workers, memory=self.memory) as engine:
            engine.over(given_back, [Begun(n) for n in range(case.workers)], Begun(0))
            begun = time.perf_counter()
            system.predict(trial, engine=engine, epsilon=EPSILONS.get(case.system))
            return {"seconds": time.perf_counter() - begun}


class Begun(NamedTuple):
    """A block of a first stage, which begins the workers and does nothing else."""

    worker: int


def given_back(block: Begun, shared: Begun) -> Begun:
    """A kernel of nothing."""
    del shared
    return block


Speeds = dict[str, dict[int, list[float]]]
"""The speed-up of every run over the same run with the fewest workers, by system and workers."""


def speed_ups(seconds: Mapping[tuple[str, int], Sequence[float]]) -> Speeds:
    """Return speed-ups from the seconds of every run, by system and workers."""
    fewest = min(workers for _, workers in seconds)
    speeds: Speeds = {}
    for (system, workers), runs in seconds.items():
        first = seconds[system, fewest]
        ratios = [one / many for one, many in zip(first, runs, strict=True)]
        speeds.setdefault(system, {})[workers] = ratios
    return speeds


def claims(speeds: Speeds) -> tuple[PaperClaim, ...]:
    """Judge the curves of the paper's systems, X-Map's first."""
    judged: list[PaperClaim] = []
    for name, at in speeds.items():
        fewest = min(at)
        verdicts = {
            f"{n} workers": Difference.of([s * fewest / n - NEAR for s in runs]).verdict(LEAST)
            for n, runs in at.items()
            if n > fewest
        }
        ours = ", ".join(f"{fmean(runs):.2f} with {n}" for n, runs in at.items())
        words = f"{name} speeds up, by {NEAR:.0%} of the ideal"
        judged.append(PaperClaim.of_cases(words, "near linear", verdicts, ours))
    return tuple(judged)


def table(seconds: Mapping[tuple[str, int], float], speeds: Speeds) -> Table:
    """Return the mean seconds and speed-up of each system and number of workers."""
    lines = tuple(
        (system, str(workers), f"{took:.1f}", f"{fmean(speeds[system][workers]):.2f}")
        for (system, workers), took in seconds.items()
    )
    return Table("Seconds of a prediction", ("system", "workers", "seconds", "speed-up"), lines)


def drawn(speeds: Speeds) -> Figure:
    """Draw the mean speed-up against workers, and the ideal."""
    page, (axes,) = panels(1, 1)
    counts = sorted(next(iter(speeds.values())))
    axes.plot(counts, [n / counts[0] for n in counts], ":", color=INK, label="ideal")
    for colour, (name, at) in zip(PALETTE, speeds.items(), strict=False):
        means = [fmean(at[n]) for n in counts]
        axes.plot(counts, means, "o-", color=colour, ms=4, label=name)
    dress(axes, "", counts, "workers", log=False)
    axes.set_ylabel(f"speed-up over {counts[0]}", color=INK, fontsize=9)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return page
