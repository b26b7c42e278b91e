"""What a fit of channel-mf takes on one machine against the number of reports, and will take.

    python benchmarks/fit_size.py [--millions 1,3,10,30] [--rows FILE.json] [--people 10000]
                                  [--items 50000] [--sweeps 28] [--in-memory 10]

Made-up people with a hundred ratings each (`--people` a million reports) on 50,000 items, reported
at epsilon 1 per value. Of each size: `channel-mf` with 15 factors over a folder, in a process of
its own, from the file of reports on; wall and CPU seconds, the part of them that grows with the
sweeps, the most memory held, and the error of devices on ratings that were held out of up to
100,000 people. `--in-memory`: sizes that are fitted without a folder, too; both have to find the
same, to the last digit. `--rows`: a file of rows so far, to which these are added.

What the next size will take is told from all smaller ones, by least squares of relative errors, and
stands beside what it took. CPU seconds: a + n (b + c log n), since a report costs the more the less
of the other side's rows the caches hold. Memory: a straight line.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from followed import followed
from measure import Clock
from tacit import fit as fit_model
from tacit import models
from tacit.channels import compile_channel
from tacit.collection.plans import Rated
from tacit.collection.report_file import read_reports, write_perturbed
from tacit.metrics.accuracy import rmse
from tacit.models import Fitted
from tacit.models.simulated_devices import device_predict
from tacit.ratings import Ratings
from tacit.readers import synthetic

DRAWS, EVERY = 4, 2
ASKED, HELD_OUT = 100_000, 0.1  # people whose devices predict, and the share of their ratings
SETTINGS = {"factors": 15, "directions": 4, "draws": DRAWS, "every": EVERY}
Figures = dict[str, Any]


def make(people: int, items: int, reports: int, folder: Path) -> None:
    """Reports of all ratings but those held out; true ratings of the people who are asked."""
    ratings = synthetic(people, items, reports)
    asked = ratings.users < ASKED
    held = asked & (np.random.default_rng(0).random(len(ratings)) < HELD_OUT)
    for name, rows in (("own", asked & ~held), ("held", held)):
        kept = ratings.where(rows)
        np.savez(folder / f"{name}.npz", kept.users, kept.items, kept.levels)
    channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
    write_perturbed(ratings.where(~held), Rated(channel), folder / "reports.parquet")


def fit(folder: Path, sweeps: int, *, in_memory: bool) -> Figures:
    """One fit, what it took, and a digest of what it found."""
    ends: list[float] = []
    state = {} if in_memory else {"state": folder / "state"}
    with Clock() as clock:
        reports = read_reports(folder / "reports.parquet")
        fitted = fit_model(
            "channel-mf", reports, burn_in=sweeps, **SETTINGS, **state,
            progress=lambda done: ends.append(time.perf_counter()),
        )  # fmt: skip
    peak = held_at_most()
    figures = {"wall": clock.wall, "cpu": clock.cpu, "sweep": float(np.mean(np.diff(ends)))}
    digest = hashlib.sha256(fitted.people.tobytes() + fitted.items.tobytes()).hexdigest()
    size = len(models.item_model(fitted).to_bytes()) / 1e6
    found = {"digest": digest, "item_model_mb": size, "error": error(fitted, folder)}
    return figures | {"gigabytes": peak} | found


def held_at_most() -> float:
    """Gigabytes that this process held at once, pages of files that it maps among them."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e9


def error(fitted: Fitted, folder: Path) -> float:
    """RMSE of devices on the ratings that were held out."""
    own, held = (loaded(folder / f"{name}.npz", fitted) for name in ("own", "held"))
    return rmse(held.values, device_predict(fitted, own, held.users, held.items))


def loaded(path: Path, fitted: Fitted) -> Ratings:
    """Ratings under the vocabularies of the model."""
    with np.load(path) as columns:
        users, items, levels = columns.values()
    return Ratings(users, items, levels, fitted.scale, fitted.user_ids, fitted.item_ids)


def told(rows: list[Figures], millions: float) -> Figures:
    """CPU seconds and gigabytes that smaller sizes foretell, or none of fewer than three."""
    known = [row for row in rows if row["millions"] < millions]
    if len(known) < 3:
        return {}
    sizes, cpu, held = (
        np.array([row[figure] for row in known]) for figure in ("millions", "cpu", "gigabytes")
    )
    shares = np.linalg.lstsq(seconds_of(sizes) / cpu[:, None], np.ones(len(cpu)))[0]
    slope, start = np.polyfit(sizes, held, 1, w=1 / held)
    return {
        "cpu_told": float(seconds_of(np.array([millions]))[0] @ shares),
        "gigabytes_told": float(start + slope * millions),
    }


def seconds_of(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """What CPU seconds are sums of, shape (sizes, 3)."""
    return np.column_stack([np.ones(len(sizes)), sizes, sizes * np.log(sizes)])


def measured(given: argparse.Namespace, rows: list[Figures]) -> Iterator[Figures]:
    """A row of each size, after those there are."""
    sizes = [float(size) for size in given.millions.split(",")]
    in_memory = [float(size) for size in given.in_memory.split(",") if size]
    for millions in followed("millions of reports", sizes):
        with tempfile.TemporaryDirectory() as folder:
            shape = (int(given.people * millions), given.items, int(millions * 1_000_000))
            asked("make", *shape, folder)
            row = {"millions": millions} | json.loads(asked("folder", folder, given.sweeps))
            if millions in in_memory:
                other = json.loads(asked("memory", folder, given.sweeps))
                if other["digest"] != row["digest"]:
                    raise SystemExit(f"Folder and memory do not agree at {millions:g} millions.")
        row |= told(rows, millions)
        rows.append(row)
        yield row


def asked(party: str, *given: object) -> str:
    """What a process of its own says."""
    command = [sys.executable, __file__, "--party", party, *map(str, given)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def play(party: str, *given: str) -> None:
    """What such a process does."""
    if party == "make":
        make(*map(int, given[:3]), Path(given[3]))
    else:
        print(json.dumps(fit(Path(given[0]), int(given[1]), in_memory=party == "memory")))


def main() -> None:
    """Measure every size asked for, and print it beside what was foretold."""
    if sys.argv[1:2] == ["--party"]:
        play(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", default="1,3,10,30")
    parser.add_argument("--in-memory", default="10")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--people", type=int, default=10_000, help="to a million reports")
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--sweeps", type=int, default=28, help="before the first draw")
    given = parser.parse_args()
    kept = given.rows and given.rows.exists()
    rows: list[Figures] = json.loads(given.rows.read_text()) if kept else []
    for row in measured(given, rows):
        shown = {key: value for key, value in row.items() if key != "digest"}
        print(*(f"{key} {value:.4g}" for key, value in shown.items()), sep=", ", flush=True)
        if given.rows:
            given.rows.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
