"""Bulk reports as a Spark job: workers draw, and the file equals that of a single machine."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.collection.named_plans import plan as plan_of
from tacit.collection.perturb import perturb
from tacit.collection.plan import Plan
from tacit.collection.report_file import write_blocks
from tacit.collection.slots import BLOCK, SlotReports, slot_reports
from tacit.engines.spark_session import quiet, session, set_up_worker
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire.channel import dumps, loads

PIECE = 1 << 25
"""Cells per task, and per batch read back: about 500 MiB if all are reported."""

REPORT = "user int, item int, symbol int, channel int"


def write_perturbed_on_spark(
    ratings: Ratings,
    plan: Plan,
    path: str | Path,
    *,
    master: str = "local[*]",
    memory: str = "4g",
) -> int:
    """Perturb on the workers of `master`, as `tacit.collection.report_file.write_perturbed`.

    Each user is a row with their ratings, so that a task is a run of users under any plan; reports
    are ordered by user. Workers write next to `path`, which all of them must be able to reach, and
    their output is merged into one file. `memory`: of the driver. Raises as `write_perturbed` and
    `tacit.engines.spark_session.session` do.
    """
    _check_request(ratings, plan)
    task = _Perturb(
        plan=plan.name,
        channels=tuple(dumps(channel) for channel in plan.channels),
        cap=plan.cap,
        scale=str(ratings.scale),
        items=tuple(ratings.item_ids.ids),
    )
    target = Path(path)
    with (
        tempfile.TemporaryDirectory(
            prefix=f"{target.name}.", dir=target.absolute().parent
        ) as folder,
        session(master, memory) as spark,
        quiet(),
    ):
        # Evaluated once, by this write: a second evaluation would draw a second report of
        # everything, and cost epsilon again. Spark removes the output of failed tasks.
        _drawn(spark, ratings, plan, task).write.parquet(f"{folder}/parts")
        parts = sorted(Path(folder, "parts").glob("part-*.parquet"))
        widest = max(len(channel.outputs) for channel in plan.channels)
        kind = np.min_scalar_type(widest - 1)
        return write_blocks(ratings, plan, (_block(part, kind) for part in parts), target)


def _check_request(ratings: Ratings, plan: Plan) -> None:
    """Raise errors here that every worker would raise; nothing is drawn."""
    ratings.require_distinct_pairs()
    if plan.reported_slots(ratings.n_items) is not None:
        slot_reports(ratings, plan)  # a generator: draws on the first block
    else:
        perturb(ratings.where(np.zeros(len(ratings), np.bool_)), plan)


def _drawn(spark: Any, ratings: Ratings, plan: Plan, task: "_Perturb") -> Any:
    """Return the job, a lazy frame of reports."""
    slots = len(ratings) // max(1, ratings.n_users) + 1
    if plan.reported_slots(ratings.n_items) is not None:
        slots = ratings.n_items  # sampling materializes all items
    pieces = max(16, ratings.n_users * slots // PIECE)
    most = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(most, str(-(-ratings.n_users // pieces) or 1))  # batches that become partitions
    people = spark.createDataFrame(_people(ratings))
    spark.conf.set(most, str(max(1, BLOCK // slots)))  # batches within a partition
    return people.mapInArrow(task, REPORT)


def _people(ratings: Ratings) -> Any:
    """Return an Arrow table, one row per user: code, raw id, and lists of items and levels."""
    pa: Any = import_module("pyarrow")
    order = np.argsort(ratings.users, kind="stable")
    starts = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1)).astype(np.int32)
    lists = {
        name: pa.ListArray.from_arrays(pa.array(starts), pa.array(column[order].astype(np.int32)))
        for name, column in (("items", ratings.items), ("levels", ratings.levels))
    }
    ids = pa.array(ratings.user_ids.ids.to_list())
    return pa.table({"user": np.arange(ratings.n_users, dtype=np.int32), "id": ids, **lists})


@dataclass(frozen=True)
class _Perturb:
    """Work of a worker on a run of users. It contains no rating and no random state."""

    plan: str
    channels: tuple[str, ...]
    cap: int | None
    scale: str
    items: tuple[Any, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pa: Any = import_module("pyarrow")
        # Tables are sent as JSON and certified by the worker; words are from its machine.
        plan = plan_of(self.plan, [loads(channel) for channel in self.channels], self.cap)
        items = Vocabulary(pl.Series("id", self.items))
        scale = RatingScale.parse(self.scale)
        for batch in batches:
            reports = perturb(_ratings(batch, items, scale), plan)
            people = batch["user"].to_numpy()[reports.users]
            columns = (people, reports.items, reports.symbols, reports.channel_of)
            names = ("user", "item", "symbol", "channel")
            yield pa.record_batch([pa.array(c.astype(np.int32)) for c in columns], names)
        set_up_worker()


def _ratings(batch: Any, items: Vocabulary, scale: RatingScale) -> Ratings:
    counts: NDArray[np.int32] = batch["items"].value_lengths().to_numpy()
    return Ratings(
        users=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        items=batch["items"].flatten().to_numpy(),
        levels=batch["levels"].flatten().to_numpy().astype(np.min_scalar_type(scale.n_levels - 1)),
        scale=scale,
        user_ids=Vocabulary(pl.Series("id", batch["id"].to_pylist())),
        item_ids=items,
    )


def _block(part: Path, kind: np.dtype[Any]) -> SlotReports:
    users, items, symbols, channel_of = (column.to_numpy() for column in pl.read_parquet(part))
    return SlotReports(users, items, symbols.astype(kind), channel_of.astype(np.uint8))
