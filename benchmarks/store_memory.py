"""What learning from a store takes: seconds and memory of reading it, against its reports.

    python benchmarks/store_memory.py [--millions 1,4]

Stores of that many reports under the plan rated, 20,000 people and 2,000 items, are read as `tacit
fit --db` does, each in a process of its own. Printed are the bytes a report, above what the process
holds before it reads.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing

from followed import followed
from tacit.channels import compile_channel
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.slot_codec import pack_rated
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport
from tacit.scale import RatingScale
from tacit.wire.tasks.task import Task

PEOPLE, ITEMS, BLOCK = 20_000, 2_000, 4096
STARS = RatingScale.parse("1:5:1")


def fill(path: str, count: int) -> None:
    """A store of so many reports of different (person, item)."""
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    task = Task(
        name="Memory",
        scale=STARS,
        plan="rated",
        items=tuple(range(ITEMS)),
        channels=(channel,),
        start=0,
    )
    with closing(SqliteStore(path)) as store:
        number = store.hold(task.document).number
        for start in range(0, count, BLOCK):
            names = os.urandom(16 * BLOCK)
            store.insert(
                [
                    StoredReport(
                        names[16 * k : 16 * k + 16],
                        number,
                        0,
                        0,
                        ((start + k) % PEOPLE).to_bytes(16, "big"),
                        pack_rated((start + k) // PEOPLE % ITEMS, k % 5),
                    )
                    for k in range(min(BLOCK, count - start))
                ]
            )


def peak() -> int:
    """Bytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def read(path: str) -> None:
    """Read it as `tacit fit --db` does, and say what that took."""
    before, begun = peak(), time.perf_counter()
    with closing(open_reader(path)) as reader:
        reports = stored_reports.reports(reader)
    took, held = time.perf_counter() - begun, peak() - before
    print(
        f"{len(reports):10,} reports: {took:5.1f} s, {held >> 20:5} MiB more at the peak, "
        f"{held / len(reports):4.0f} bytes a report"
    )


def main() -> None:
    """Fill stores and read them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", default="1,4")
    parser.add_argument("--read")
    asked = parser.parse_args()
    if asked.read:
        read(asked.read)
        return
    for millions in followed("stores", asked.millions.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reports.db")
            fill(path, int(float(millions) * 1e6))
            subprocess.run([sys.executable, __file__, "--read", path], check=True)


if __name__ == "__main__":
    main()
