"""The whole way over HTTP beside `tacit compare`: devices, collector, store, model, devices.

    python benchmarks/end_to_end.py DATA [--epsilons 1,3] [--runs 5] [--model M] [--plan rated]

A collector in a process of its own; `tacit simulate` plays the people of DATA, one in ten ratings
held out (split 0); `tacit fit --db --publish` learns from the store; the devices fetch the item
model and predict what was held out from their own ratings. `tacit compare` does the same in one
process. Noise comes from the operating system in both, and one run's RMSE at epsilon 1 has a
standard deviation of .002 to .003: the bar is a difference of .003 between the means of both.
"""

import argparse
import contextlib
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from statistics import mean, variance

from followed import followed

BAR = 0.003
TACIT = (sys.executable, "-c", "from tacit.cli import main; main()")


def tacit(*arguments: object) -> str:
    """What a verb prints; its notices go to the terminal."""
    command = [*TACIT, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def collector(folder: Path, port: int) -> Iterator[None]:
    """A collector of `folder`'s task."""
    where = ("--db", folder / "reports.db", "--task", folder / "task.json", "--port", port)
    command = [*TACIT, "collect", *map(str, where), "--publish", str(folder / "models")]
    process = subprocess.Popen(command)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def over_http(data: Path, epsilon: str, model: str, plan: str) -> float:
    """The device-side RMSE of the whole way."""
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        url = f"http://127.0.0.1:{port}"
        asked = ("--provider", url, "--epsilon", epsilon, "--plan", plan)
        tacit("task", data, *asked, "-o", folder / "task.json")
        with collector(folder, port):
            play = ("simulate", data, "--url", url, "--test-share", "0.1")
            print(tacit(*play).strip())
            store = ("--db", folder / "reports.db", "--publish", folder / "models")
            tacit("fit", *store, "--model", model, "-o", folder / "model")
            said = tacit(*play, "--score")
    return float(re.findall(r"RMSE ([0-9.]+)", said)[0])


def in_one_process(data: Path, epsilon: str, model: str, plan: str) -> float:
    """The device-side RMSE of `tacit compare`."""
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / "rows.json"
        asked = ("--channel", "auto", "--model", model, "--epsilon", epsilon, "--plan", plan)
        tacit("compare", data, *asked, "--test-share", "0.1", "--json", rows)
        found = [row for row in json.loads(rows.read_text()) if row["model"] == model]
    kept = (row for row in found if row["where"] == "device" and row["epsilon"] is not None)
    (rmse,) = (row["rmse"] for row in kept)
    return float(rmse)


def _told(there: list[float], here: list[float]) -> str:
    """Both means, what each run gave, and how far chance alone moves their difference."""
    every = [
        f"{name} {mean(runs):.4f} ({' '.join(f'{run:.4f}' for run in runs)})"
        for name, runs in (("HTTP", there), ("compare", here))
    ]
    if len(here) == 1:
        return ", ".join(every)
    error = sqrt((variance(there) + variance(here)) / len(here))
    return f"{', '.join(every)}; difference {mean(there) - mean(here):+.4f} +- {error:.4f}"


def main() -> int:
    """Measure both, and say whether they agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", default="channel-mf")
    parser.add_argument("--plan", default="rated")
    asked = parser.parse_args()
    short = 0
    for epsilon in asked.epsilons.split(","):
        given = (asked.data, epsilon, asked.model, asked.plan)
        runs = range(asked.runs)
        there = [over_http(*given) for _ in followed(f"HTTP, epsilon {epsilon}", runs)]
        here = [in_one_process(*given) for _ in followed(f"compare, epsilon {epsilon}", runs)]
        met = abs(mean(there) - mean(here)) <= BAR
        short += not met
        print(f"{'met  ' if met else 'SHORT'} epsilon {epsilon}: {_told(there, here)}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
