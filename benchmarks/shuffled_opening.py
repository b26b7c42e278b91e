"""Opening of a batch of sealed messages at the provider: CPU seconds on each engine, and hours.

    python benchmarks/shuffled_opening.py [--messages 1000000] [--items 3706]

Messages of devices about as many items as MovieLens 1M has are sealed, and the batch is opened in
this process, in two processes and on Spark's local[2]. All of them have the same counts. CPU
seconds are those of all processes, with the start of the engine. Rows foretell the hours of one
core for 1.2e8 messages. The last one counts 1e8 buckets, which are drawn.
"""

import argparse
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from spark_cost import Figures, clocked
from tacit.collection.shuffled.plan import ShuffledPlan, largest_delta
from tacit.collection.shuffled.tasks import Origins, bundle_sizes, item_task
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.sealing import seal
from tacit.engines.engine import Engine, Local
from tacit.engines.processes import Processes
from tacit.engines.spark import Spark
from tacit.shuffler.batch_files import BatchFiles
from tacit.shuffler.decryption import open_batch
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.task import SEALED_BYTES, ShuffledTask

OWN = 20
FORETOLD, OPENED, HOUR = 1.2e8, 100_000_000, 3600
ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {
    "this process": lambda: nullcontext(Local()),
    "two processes": lambda: Processes(2),
    "Spark, local[2]": lambda: Spark("local[2]", blocks=8),
}


def shuffled_task(messages: int, items: int, key: TaskKey) -> ShuffledTask:
    """The task about items whose least batch has nearly so many messages."""
    low, high = 1, messages
    while high - low > 1:
        middle = (low + high) // 2
        is_within = bundle_sizes(plan(middle, items), 1).items * middle <= messages
        low, high = (middle, high) if is_within else (low, middle)
    origins = Origins(provider="https://a.example", shuffler="https://b.example", name="Items")
    ids = range(items)
    return item_task(plan(low, items), ids, origins, key=key.public, closes=1, most_dummies=1)


def plan(bundles: int, items: int) -> ShuffledPlan:
    """The plan at epsilon 4 per user."""
    delta = largest_delta(bundles)
    return ShuffledPlan(messages=100, items=items, epsilon="4", delta=delta, bundles=bundles)


def sealed_batch(task: ShuffledTask, folder: Path) -> Path:
    """The batch of the least number of devices, which are sealed one after the other."""
    own = range(min(OWN, len(task.items)))

    def bundle() -> bytes:
        return b"".join(seal(draw_bundle(own, task.round), task.key, task.address))

    files = BatchFiles(folder)
    files.write(task.address, (bundle() for _ in range(task.certificate.bundles)))
    return files.path(task.address)


def main() -> None:
    """Print a row per engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000, help="size of the batch")
    parser.add_argument("--items", type=int, default=3_706, help="size of the catalogue")
    options = parser.parse_args()
    key = TaskKey.generate()
    task = shuffled_task(options.messages, options.items, key)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key.save(folder / "key")
        with clocked(figures := Figures()):
            batch = sealed_batch(task, folder)
        total = batch.stat().st_size // SEALED_BYTES
        print(
            f"{total:,} messages; sealing {figures['cpu'] / total * 1e6:.0f} CPU microseconds each"
        )
        digests: set[bytes] = set()
        for title, engine in ENGINES.items():
            with engine() as chosen, clocked(figures := Figures()):  # its processes are alive
                counts = open_batch(batch, task, folder / "key", chosen).counts
            digests.add(counts.tobytes())
            each = figures["cpu"] / total
            print(
                f"{title}: {figures['cpu']:.1f} CPU s, {figures['wall']:.1f} wall s, "
                f"{each * 1e6:.0f} CPU microseconds per message, "
                f"{each * FORETOLD / HOUR:.1f} hours of one core for {FORETOLD:.2g} messages",
                flush=True,
            )
        assert len(digests) == 1, "engines have different counts"
    buckets = np.random.default_rng(0).integers(0, task.round.buckets, OPENED, np.int32)
    with clocked(figures := Figures()):
        np.bincount(buckets, minlength=task.round.buckets)
    print(f"counting {OPENED:,} opened buckets: {figures['cpu']:.1f} CPU s")


if __name__ == "__main__":
    main()
