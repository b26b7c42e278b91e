"""Metrics for Prometheus: totals since the start, and the state of the store, without users.

Totals are counted where they arise. A separate connection reads the contents of the store
every ten minutes, because that scans all reports.
"""

import asyncio
import logging
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

from prometheus_client import CollectorRegistry, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

import tacit
from tacit.collector.administration.summary import TaskSummary, summaries
from tacit.collector.ingest.clock import TrustedClock
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.addresses import is_postgres, open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.wire.tasks.task import Task

log = logging.getLogger(__name__)

EVERY = 600.0
"""Seconds between two scans of the store."""
SHOWN = 12
"""Digits of a task's address in labels."""
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
BYTES = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18)
EPOCHS = (-30, -7, -3, -2, -1, 0, 1)

Answers = Callable[[], Mapping[str, int]]


class Metrics:
    """Registry of one collector. The histograms are observed by the code that they measure."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.commit_seconds = Histogram(
            "tacit_commit_seconds",
            "Duration of a commit of uploads, until it is on disk.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.body_bytes = Histogram(
            "tacit_upload_body_bytes",
            "Size of the bodies of uploads.",
            buckets=BYTES,
            registry=self.registry,
        )
        self.clock_skew = Histogram(
            "tacit_clock_skew_epochs",
            "Newest epoch of an upload, minus the epoch of the collector's clock. "
            "Above 0, a device's clock is fast; below, the upload is late.",
            buckets=EPOCHS,
            registry=self.registry,
        )

    def watch(self, collector: "State") -> None:
        """Add what is read from the running components at each scrape."""
        is_server = collector.db is not None and is_postgres(collector.db)
        add_build(self.registry, "postgresql" if is_server else "sqlite")
        ProcessCollector(registry=self.registry)
        self.registry.register(collector)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class State(Collector):
    """Counts and states of the running components, collected at each scrape.

    `db`: address of the store, None to leave out its contents. `tasks`: the served ones.
    """

    def __init__(
        self,
        uploads: Answers,
        erasures: Answers,
        writer: Writer,
        clock: TrustedClock,
        tasks: Sequence[Task],
        published: PublishedModels | None,
        db: str | None,
    ) -> None:
        self._uploads, self._erasures = uploads, erasures
        self._writer, self._clock, self._tasks, self._published = writer, clock, tasks, published
        self.db = db
        self._size, self._scanned, self._contents = 0, 0.0, list[TaskSummary]()

    async def keep(self, every: float = EVERY) -> None:
        """Read the contents of the store now and periodically, in another thread."""
        while self.db is not None:
            try:
                await asyncio.to_thread(self.scan)
            except Exception as error:
                log.warning(
                    "The contents of the store could not be counted.",
                    extra={"event": "statistics-failed", "cause": type(error).__name__},
                )
            await asyncio.sleep(every)

    def scan(self) -> None:
        """Read the contents of the store. Raises `RequestError` and database errors."""
        assert self.db is not None, "the store has no address"
        with closing(open_reader(self.db)) as reader:
            self._contents, self._size = list(summaries(reader)), reader.size()
        self._scanned = time.time()

    def collect(self) -> Iterator[Metric]:
        """Implement `prometheus_client.registry.Collector.collect`."""
        yield from self._totals()
        yield gauge("tacit_reports_waiting", "Reports waiting for a commit.", self._writer.waiting)
        ready = "1 if the last write to the store succeeded."
        yield gauge("tacit_ready", ready, not self._writer.failing)
        trusted = "1 if the machine's clock is near the last trusted time."
        yield gauge("tacit_clock_trusted", trusted, self._clock.trusted)
        yield self._models()
        if self._scanned:
            yield from self._store()

    def _totals(self) -> Iterator[Metric]:
        counts = self._writer.counts
        outcomes = {each: counts[each] for each in ("stored", "duplicate", "conflict")}
        yield counter("tacit_uploads", "Uploads by answer.", "answer", self._uploads())
        yield counter("tacit_erasures", "Erasures by answer.", "answer", self._erasures())
        yield counter("tacit_reports", "Reports by outcome.", "outcome", outcomes)
        yield CounterMetricFamily(
            "tacit_commits", "Commits of uploads that succeeded.", value=counts["commits"]
        )
        yield CounterMetricFamily(
            "tacit_commit_failures", "Commits of uploads that failed.", value=counts["failures"]
        )

    def _models(self) -> Metric:
        name, text = "tacit_model_published_timestamp_seconds", "Time of the last publication."
        times = {
            task.address[:SHOWN]: at
            for task in self._tasks
            if self._published and (at := self._published.published_at(task.address)) is not None
        }
        return by_task(name, text, times)

    def _store(self) -> Iterator[Metric]:
        yield gauge("tacit_store_bytes", "Size of the store on its disk.", self._size)
        scanned = "Time of the last count of the store's contents."
        yield gauge("tacit_store_counted_timestamp_seconds", scanned, self._scanned)
        now = self._clock()
        contents = {
            each.task.address[:SHOWN]: each.since(self._published) for each in self._contents
        }
        reports = {task: each.reports for task, each in contents.items()}
        yield by_task("tacit_stored_reports", "Reports in the store.", reports)
        backlog = {task: each.backlog for task, each in contents.items()}
        yield by_task("tacit_backlog_reports", "Reports since the last fit.", backlog)
        tombstones = {task: each.tombstones for task, each in contents.items()}
        yield by_task("tacit_tombstones", "Recorded erasures.", tombstones)
        lags = {task: each.retention_lag(now) for task, each in contents.items()}
        overdue = "How long the oldest report is overdue for deletion."
        yield by_task("tacit_retention_lag_seconds", overdue, lags)


def add_build(registry: CollectorRegistry, store: str) -> None:
    """Add the versions to a registry. `store`: the kind of store."""
    about = "Version of Tacit and Python, kind of store."
    build = {"version": tacit.__version__, "python": platform.python_version(), "store": store}
    Info("tacit_build", about, registry=registry).info(build)


def gauge(name: str, text: str, value: float) -> Metric:
    """Return a gauge without labels. `text`: its help."""
    return GaugeMetricFamily(name, text, value=value)


def counter(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    """Return a counter by the values of one label. `text`: its help."""
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def by_task(name: str, text: str, values: Mapping[str, float]) -> Metric:
    """Return a gauge by task. `values`: by the first digits of the address. `text`: its help."""
    family = GaugeMetricFamily(name, text, labels=["task"])
    for task, value in values.items():
        family.add_metric([task], value)
    return family
