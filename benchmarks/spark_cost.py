"""What Spark's jobs cost against the size of the data, beside the same work without Spark.

    python benchmarks/spark_cost.py [--json FILE.json] [--figure FILE.svg] [--millions 5,10,20]
                                    [--jobs neighbours,nx-map,perturb,channel-mf,devices]
    python benchmarks/spark_cost.py --json FILE.json --figure FILE.svg --millions ''

Made-up ratings of MovieLens 20M's people and items, half stars. Jobs at each size: the 50 items
most like each item by adjusted cosine, in 8 x 8 pairs of blocks; the whole of NX-Map from one half
of the items to the other; a report of every rating, written to Parquet; 36 sweeps of channel-mf
with 15 factors, over a folder on Spark and in memory without it; and everybody's device, which
solves its row by that model from nine tenths of its ratings and predicts the rest. Each party runs
in a process of its own, on two cores: `local`, and `spark` at local[2], whose workers' compiled
code is on disk. Wall seconds, and CPU seconds of all processes of the party (Java's and workers'
too), without reading, laying out or starting a session, which is shown apart. Both parties have to
find the same, to the last digit. The second form draws the figures of an earlier run again.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from followed import followed
from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.plans import Rated
from tacit.collection.report_file import write_perturbed
from tacit.collection.spark import write_perturbed_on_spark
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.baseliner import compare_items
from tacit.crossdomain.x_map.x_map import EVERYBODY
from tacit.engines.engine import Engine, Local
from tacit.engines.spark import Spark
from tacit.engines.spark_session import session
from tacit.kernels.neighbourhood.search_results import Wanted
from tacit.models import Fitted, device_predict
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.vocabulary import Vocabulary

SHAPE = (138_493, 26_744)  # people and items of MovieLens 20M
BLOCKS, MASTER, MEMORY = 8, "local[2]", "4g"
WHOLE = EVERYBODY  # of both forms the one with more to do
PARTIES, JOBS = ("local", "spark"), ("neighbours", "nx-map", "perturb", "channel-mf", "devices")
LEARNT = {"factors": 15, "directions": 4, "burn_in": 20, "draws": 8}
TITLES = {
    "neighbours": f"the 50 nearest of {SHAPE[1]:,} items",
    "nx-map": "NX-Map between halves of the items",
    "perturb": "a report of every rating",
    "channel-mf": "36 sweeps of channel-mf",
    "devices": "everybody's device",
}
COLOURS = {"local": "#0072B2", "spark": "#D55E00"}
Figures = dict[str, Any]


def tree(root: int) -> list[list[str]]:
    """/proc's fields, from the state on, of a process and of all that it started."""
    found: dict[int, list[str]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        found[int(entry.parent.name)] = fields
    mine = {root}
    while more := {p for p, fields in found.items() if int(fields[1]) in mine} - mine:
        mine |= more
    return [found[process] for process in mine if process in found]


def cpu_seconds() -> float:
    """User and system time of this process, its children, and what they have waited for."""
    ticks = sum(int(tick) for fields in tree(os.getpid()) for tick in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def clocked(figures: Figures) -> Iterator[None]:
    """Put the wall and CPU seconds of a `with` block into `figures`."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    yield
    figures |= {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}


def neighbours(ratings: Ratings, engine: Engine) -> Figures:
    """The stage, and a digest of what it found; compiled before the clock starts."""
    alike, figures = compare_items(ratings), Figures()
    everything, few = np.arange(ratings.n_items, dtype=np.int32), np.arange(16, dtype=np.int32)
    with clocked(start := Figures()):
        alike.nearest(few, few, Wanted(50), engine)
    with clocked(figures):
        near = alike.nearest(everything, everything, Wanted(50), engine)
    digest = hashlib.sha256(b"".join(column.tobytes() for column in near)).hexdigest()
    return figures | {"digest": digest, "start": start["wall"]}


def pipeline(ratings: Ratings, engine: Engine) -> Figures:
    """NX-Map from one half of the items to the other, one straddler in a hundred tested."""
    parts = [half(ratings, rest) for rest in (0, 1)]
    few = [half(ratings.where(ratings.users < 300), rest) for rest in (0, 1)]
    trial, small = (
        Holdout(test_share=0.01).hide(Domains.join(two), 1, seed=0).trial for two in (parts, few)
    )
    del parts, few
    with clocked(start := Figures()):
        WHOLE.predict(small, engine=engine, epsilon=None)
    with clocked(figures := Figures()):
        told = WHOLE.predict(trial, engine=engine, epsilon=None).predicted
    digest = hashlib.sha256(told.values.tobytes() + told.covered.tobytes()).hexdigest()
    return figures | {"digest": digest, "start": start["wall"], "asked": len(trial.users)}


def half(ratings: Ratings, rest: int) -> Ratings:
    """Every second item."""
    mine = ratings.where(ratings.items % 2 == rest)
    ids = Vocabulary(ratings.item_ids.ids.gather_every(2, rest))
    return replace(mine, items=mine.items // 2, item_ids=ids, name=("even", "odd")[rest])


def reports(ratings: Ratings, write: Callable[..., int]) -> Figures:
    """Perturbation to Parquet; tables compiled and kernels warm before the clock starts."""
    plan, figures = Rated(compile_channel("optimal", epsilon="1", scale=ratings.scale)), Figures()
    few = ratings.where(np.arange(len(ratings)) < 1000)
    with tempfile.TemporaryDirectory() as folder:
        with clocked(start := Figures()):
            write(few, plan, Path(folder, "few.parquet"))
        with clocked(figures):
            written = write(ratings, plan, Path(folder, "all.parquet"))
        size = Path(folder, "all.parquet").stat().st_size
    return figures | {"digest": str(written), "start": start["wall"], "bytes": size}


def learning(ratings: Ratings, engine: Engine) -> Figures:
    """A fit and a digest of its draws; compiled before the clock starts."""
    few = ratings.where(ratings.users < 300)
    with tempfile.TemporaryDirectory() as folder:
        with clocked(start := Figures()):
            learnt(few, engine, Path(folder, "few"))
        with clocked(figures := Figures()):
            fitted = learnt(ratings, engine, Path(folder, "all"))
    digest = hashlib.sha256(fitted.people.tobytes() + fitted.items.tobytes()).hexdigest()
    return figures | {"digest": digest, "start": start["wall"]}


def devices(ratings: Ratings, engine: Engine) -> Figures:
    """What devices predict of every tenth rating; the model is of a few people's ratings."""
    few, tenth = ratings.where(ratings.users < 3000), np.arange(len(ratings)) % 10 == 0
    fitted, test = fit("channel-mf", few, **LEARNT), ratings.where(tenth)
    there = None if isinstance(engine, Local) else engine
    own = ratings.where(~tenth)
    with clocked(start := Figures()):
        device_predict(fitted, few, few.users[:9], few.items[:9], there)
    with clocked(figures := Figures()):
        predicted = device_predict(fitted, own, test.users, test.items, there)
    digest = hashlib.sha256(predicted.tobytes()).hexdigest()
    return figures | {"digest": digest, "start": start["wall"], "asked": len(predicted)}


def learnt(ratings: Ratings, engine: Engine, folder: Path) -> Fitted:
    """The fit: in memory where the engine is the local one, else over a folder."""
    there = {} if isinstance(engine, Local) else {"engine": engine, "state": folder}
    return fit("channel-mf", ratings, **LEARNT, **there)


def party(name: str, job: str, ratings: Ratings) -> Figures:
    """One job by one party."""
    if job != "perturb":
        run = {
            "neighbours": neighbours,
            "nx-map": pipeline,
            "channel-mf": learning,
            "devices": devices,
        }[job]
        if name == "local":
            return run(ratings, Local(BLOCKS))
        with Spark(MASTER, BLOCKS, MEMORY) as engine:
            return run(ratings, engine)
    if name == "local":
        return reports(ratings, write_perturbed)
    with session(MASTER, MEMORY):

        def write(*given: Any) -> int:
            return write_perturbed_on_spark(*given, master=MASTER, memory=MEMORY)

        return reports(ratings, write)


def measured(millions: list[float], jobs: list[str], shape: tuple[int, int]) -> Iterator[Figures]:
    """Every size, job and party; both have to do the same."""
    for size in millions:
        with tempfile.TemporaryDirectory() as folder:
            made = synthetic(*shape, int(size * 1_000_000), "0.5:5:0.5")
            np.savez(Path(folder, "made.npz"), made.users, made.items, made.levels)
            del made
            for job in followed(f"{size:g} millions", jobs):
                data = Path(folder, "made.npz")
                rows = [asked(name, job, data, size, shape) for name in PARTIES]
                if len({row["digest"] for row in rows}) > 1:
                    raise SystemExit(f"The parties do not agree on {job} at {size} millions.")
                yield from rows


def asked(name: str, job: str, data: Path, size: float, shape: tuple[int, int]) -> Figures:
    """The figures of one party's process."""
    command = [sys.executable, __file__, "--party", name, "--job", job, "--data", str(data)]
    command += ["--shape", *map(str, shape)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row = {"engine": name, "job": job, "millions": size} | json.loads(ran.stdout)
    print(*(f"{key} {value}" for key, value in row.items()), sep=", ", flush=True)
    return row


def loaded(data: Path, people: int, items: int) -> Ratings:
    """The made-up ratings of a file, under the vocabularies that all sizes share."""
    about = synthetic(people, items, 20 * people, "0.5:5:0.5")
    with np.load(data) as columns:
        users, items, levels = columns.values()
    return Ratings(users, items, levels, about.scale, about.user_ids, about.item_ids)


def draw(rows: list[Figures], path: Path) -> None:
    """A panel a job: wall (whole lines) and CPU seconds (broken ones) against size."""
    mpl.rcParams["svg.hashsalt"] = "tacit"
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    jobs = [job for job in JOBS if any(row["job"] == job for row in rows)]
    panels = figure.subplots(1, len(jobs), squeeze=False)[0]
    for axes, job in zip(panels, jobs, strict=True):
        for name in PARTIES:
            mine = [row for row in rows if (row["engine"], row["job"]) == (name, job)]
            sizes = [row["millions"] for row in mine]
            for figure_of, line in (("wall", "o-"), ("cpu", "o--")):
                seconds = [row[figure_of] for row in mine]
                axes.plot(sizes, seconds, line, color=COLOURS[name], label=f"{name}, {figure_of}")
        axes.set(title=TITLES[job], xlabel="millions of ratings", ylabel="seconds")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure what is asked for, keep the rows, draw them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", default="5,10,20")
    for name in ("--json", "--figure", "--data"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--shape", nargs=2, type=int, default=SHAPE, help="people and items")
    parser.add_argument("--party", choices=PARTIES)
    parser.add_argument("--job", choices=JOBS)
    parser.add_argument("--jobs", default=",".join(JOBS))
    given = parser.parse_args()
    if given.party:
        print(json.dumps(party(given.party, given.job, loaded(given.data, *given.shape))))
        return
    kept = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    sizes = [float(size) for size in given.millions.split(",") if size]
    jobs = given.jobs.split(",")
    old = [row for row in kept if row["millions"] not in sizes or row["job"] not in jobs]
    rows = old + list(measured(sizes, jobs, tuple(given.shape)))
    rows.sort(key=lambda row: row["millions"])
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    if given.figure:
        draw(rows, given.figure)


if __name__ == "__main__":
    main()
