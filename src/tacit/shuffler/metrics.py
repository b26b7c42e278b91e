"""Metrics of a shuffler for Prometheus: failures and states, and nothing that a bundle changes.

A count of bundles or commits, or the CPU time of the process, would show at every scrape how many
bundles have arrived since the last one. Their times of arrival are not recorded anywhere, so no
metric changes when a bundle is accepted. The register shows their number after the closing.
"""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tacit.collector.http.metrics import SHOWN, add_build, by_task, counter, gauge
from tacit.collector.ingest.writer import Writer
from tacit.shuffler.shuffler import Shuffler


class ShufflerState(Collector):
    """Failures and states of the running components, collected at each scrape.

    `shuffler`: its tasks and its clock. `writer`: of the bundles, whose number of commits is not
    shown. `refusals`: refused bundles by problem since the start.
    """

    def __init__(
        self, shuffler: Shuffler, writer: Writer, refusals: Callable[[], Mapping[str, int]]
    ) -> None:
        self._shuffler, self._writer, self._refusals = shuffler, writer, refusals
        self.registry = CollectorRegistry()
        add_build(self.registry, "sqlite")
        self.registry.register(self)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """Implement `prometheus_client.registry.Collector.collect`."""
        # Refused bundles are not in the batch, so their times are not those of its messages.
        yield counter(
            "tacit_refusals", "Refused bundles by answer.", "answer", dict(self._refusals())
        )
        failures = self._writer.counts["failures"]
        about = "Commits of bundles that failed."
        yield CounterMetricFamily("tacit_commit_failures", about, value=failures)
        ready = "1 if the last write to the store succeeded."
        yield gauge("tacit_ready", ready, not self._writer.failing)
        trusted = "1 if the machine's clock is near the last trusted time."
        yield gauge("tacit_clock_trusted", trusted, self._shuffler.clock.trusted)
        yield by_task(
            "tacit_closing_timestamp_seconds",
            "Closing time of an open task.",
            {task.address[:SHOWN]: task.closes for task in self._shuffler.open_tasks},
        )
        late = "Time since the closing time of a task whose bundles are not deleted, 0 if none."
        yield gauge("tacit_closing_lag_seconds", late, self._shuffler.closing_lag)
        waiting = "Time since the closing time of a task whose batch is not deleted, 0 if none."
        yield gauge("tacit_batch_age_seconds", waiting, self._shuffler.batch_age)
