"""X-Map's speed-up over workers, drawn as the paper draws it: T(fewest) / T(n).

    python benchmarks/x_map_speedup.py RATINGS [--items FILE] [--workers 1,2] [--memory 4g]
           [--master spark://host:7077] [--made PEOPLE,ITEMS,RATINGS] [--rows OUT.jsonl]
           [--figure OUT.svg]

One catalogue in two by genre, as in `x_map_genres.py`: NX-Map by items and by people, and MLlib-ALS
on both halves together. Workers are processes of one core each (`local-cluster[n,1,MEMORY]`); of a
given master there are as many as --workers says, one number a run. Wall seconds of a whole
prediction, the session and its first stage begun before. The driver has --memory. Rows that are in
OUT already are not measured again.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import argparse
import json
import os
import time
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from followed import followed
from tacit.crossdomain import MllibALS, XMap
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System, Trial
from tacit.engines.spark import Spark
from tacit.testing.engines import SHARED, matrices, scaled
from x_map_genres import halves

SYSTEMS: dict[str, System] = {
    "nx-map (item)": XMap(),
    "nx-map (user)": XMap(variant="user"),
    "mllib-als": MllibALS(),
}
COLOURS = {"nx-map (item)": "#0072B2", "nx-map (user)": "#009E73", "mllib-als": "#D55E00"}
Times = dict[tuple[str, int], float]


def seconds(name: str, workers: int, trial: Trial, asked: argparse.Namespace) -> float:
    """Wall seconds of a prediction with so many workers."""
    master = asked.master or f"local-cluster[{workers},1,{asked.worker_memory}]"
    with Spark(master, blocks=4 * workers, memory=asked.memory) as engine:
        engine.over(scaled, matrices(workers, workers), SHARED)
        begun = time.perf_counter()
        SYSTEMS[name].predict(trial, engine=engine, epsilon=None)
        return time.perf_counter() - begun


def drawn(times: Times, counts: list[int], target: Path) -> None:
    """Speed-up against workers, beside the ideal."""
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    page = Figure(figsize=(4.4, 3.4), layout="constrained")
    axes = page.subplots()
    axes.plot(counts, [n / counts[0] for n in counts], ":", color="0.6", label="ideal")
    for name, colour in COLOURS.items():
        speed = [times[name, counts[0]] / times[name, n] for n in counts]
        axes.plot(counts, speed, "o-", color=colour, ms=4, label=name)
    axes.set_xticks(counts)
    axes.set_xlabel("workers")
    axes.set_ylabel(f"speed-up over {counts[0]}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    page.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="?")
    parser.add_argument("--items", type=Path)
    parser.add_argument("--made", help="PEOPLE,ITEMS,RATINGS")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--master")
    parser.add_argument("--memory", default="4g", help="of the driver")
    parser.add_argument("--worker-memory", type=int, default=4096, help="MiB of each worker")
    parser.add_argument("--rows", type=Path, default=Path("x-map-speedup.jsonl"))
    parser.add_argument("--figure", type=Path, default=Path("docs/figures/x-map-speedup.svg"))
    asked = parser.parse_args()
    if (asked.ratings is None) == (asked.made is None):
        parser.error("give ratings, or --made PEOPLE,ITEMS,RATINGS")
    counts = [int(count) for count in asked.workers.split(",")]
    os.environ.setdefault("SPARK_EXECUTOR_MEMORY", f"{asked.worker_memory}m")
    trial = Holdout().hide(halves(asked), target=1, seed=0).trial
    times: Times = {}
    for line in asked.rows.read_text().splitlines() if asked.rows.exists() else ():
        name, workers, took = json.loads(line)
        times[name, workers] = took
    every = [(name, workers) for workers in counts for name in SYSTEMS]
    for name, workers in followed("speed-up", [one for one in every if one not in times]):
        times[name, workers] = seconds(name, workers, trial, asked)
        with asked.rows.open("a") as file:
            file.write(json.dumps([name, workers, times[name, workers]]) + "\n")
    for name, workers in every:
        speed = times[name, counts[0]] / times[name, workers]
        print(f"{name:14s} {workers} workers {times[name, workers]:8.1f} s, speed-up {speed:.2f}")
    drawn(times, counts, asked.figure)
    print(f"the figure is {asked.figure}")


if __name__ == "__main__":
    main()
