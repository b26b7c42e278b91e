"""A script that leaves workers idle until Spark has ended them; prints how many there were."""

import os
import sys
import time
from pathlib import Path

from tacit.channels import compile_channel
from tacit.collection.plans import Rated
from tacit.collection.spark import write_perturbed_on_spark
from tacit.engines.spark import Spark
from tacit.engines.spark_session import session
from tacit.readers import synthetic
from tacit.testing.engines import SHARED, matrices, scaled

MASTER, LONGEST = "local[2]", 240
"""Spark ends workers that were idle for a minute, and checks every ten seconds."""


def workers(mark: bytes) -> int:
    """The number of workers with `mark` in their environment; each daemon leads a group."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            daemon = b"pyspark.daemon" in (process / "cmdline").read_bytes()
            ours = daemon and mark in (process / "environ").read_bytes()
            count += ours and os.getpgid(int(process.name)) != int(process.name)
        except OSError:  # it has just ended
            continue
    return count


def reports(folder: str) -> None:
    """Write a report of every rating."""
    ratings = synthetic(200, 100, 5000, "1:5:1", rng=0)
    channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
    write_perturbed_on_spark(ratings, Rated(channel), Path(folder, "reports"), master=MASTER)


def main(folder: str) -> None:
    """Run both kinds of tasks, and wait."""
    os.environ["IDLE_WORKERS_OF"] = folder
    with session(MASTER), Spark(MASTER) as engine:
        engine.over(scaled, matrices(40, 8), SHARED)
        reports(folder)
        print(workers(folder.encode()))
        end = time.monotonic() + LONGEST
        while workers(folder.encode()) and time.monotonic() < end:
            time.sleep(1)
        print(workers(folder.encode()))


if __name__ == "__main__":
    main(sys.argv[1])
