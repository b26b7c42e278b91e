"""Clock of epochs and retention: the machine's clock, unless it jumped.

One wrong reading would delete every report permanently, and close future epochs. A reading is
trusted while it is near the last trusted one. Otherwise time continues from there by the machine's
monotonic clock, and nothing is deleted until the operator confirms the reading.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from tacit.collector.storage.store import ReportStore
from tacit.errors import TacitError
from tacit.wire.strict import ENDS
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task
from tacit.wire.tasks.terms import DAY

log = logging.getLogger(__name__)

DAYS, EPOCHS = 7, 3
"""Tolerance relative to the last trusted reading: days, or epochs if those are longer."""


def tolerance(tasks: Iterable[Task]) -> int:
    """Return the tolerance of a reading in seconds, for the task of the shortest epochs."""
    return max(DAYS * DAY, EPOCHS * min(task.epoch_seconds for task in tasks))


class TrustedClock:
    """A callable that returns Unix seconds.

    `trusted`: whether the last call used the machine's reading. `wall`: the machine's reading, Unix
    seconds. `monotonic`: seconds since any moment. `limit`: tolerance in seconds.
    """

    def __init__(
        self, wall: Callable[[], float], monotonic: Callable[[], float], limit: int
    ) -> None:
        self._wall, self._monotonic = wall, monotonic
        self.limit = limit
        self._at, self._since = wall(), monotonic()
        self.trusted = True

    def __call__(self) -> float:
        reading, moment = self._wall(), self._monotonic()
        expected = self._at + moment - self._since
        if abs(reading - expected) <= self.limit:
            if not self.trusted:
                log.warning("The clock is trusted again.", extra={"event": "clock-trusted"})
            self._at, self._since, self.trusted = reading, moment, True
            return reading
        if self.trusted:
            self.trusted = False
            log.warning(_doubt(reading, expected), extra={"event": "clock-not-trusted"})
        return expected

    def hear(self, stored: int) -> None:
        """Continue from the stored time if this clock is far from it."""
        moment = self._monotonic()
        if abs(self._at + moment - self._since - stored) > self.limit:
            self._at, self._since = stored, moment

    def start(self, store: ReportStore, confirmed: bool) -> None:
        """Compare with the stored time, or else with the newest report.

        `confirmed`: whether the operator confirmed the machine's reading.
        """
        if confirmed:
            store.set_clock(int(self._wall()))
        elif (stored := store.clock()) is not None:
            self.hear(stored)
        elif (made := _begun(store.newest())) is not None:
            begun, task = made
            if abs(self._wall() - begun) > tolerance([task]):
                store.set_clock(begun)
                self.hear(begun)
        self.hear(self.keep(store, self()))

    def keep(self, store: ReportStore, now: float) -> int:
        """Store the time of this clock, and return the stored time for `hear`.

        Several collectors may share it: a wrong clock moves it by at most `limit`.
        """
        return store.keep_clock(int(now), self.limit)


def _begun(newest: Sequence[tuple[bytes, int]]) -> tuple[int, Task] | None:
    """Return the start of the newest report's epoch, in Unix seconds, and its task."""
    begun: list[tuple[int, Task]] = []
    for document, epoch in newest:
        with suppress(TacitError):  # an obsolete document format
            task = loads(document)
            begun.append((min(task.start + epoch * task.epoch_seconds, ENDS), task))
    return max(begun, key=lambda pair: pair[0], default=None)


def _doubt(reading: float, expected: float) -> str:
    days, side = abs(reading - expected) / DAY, "after" if reading > expected else "before"
    return (
        f"The clock reads {_date(reading)}, {days:,.0f} days {side} the last trusted time. The "
        f"collector accepts uploads as if it were {_date(expected)} and deletes no reports. Set "
        "the clock. If the clock is correct, for example after a long downtime, restart once "
        "with --confirm-clock."
    )


def _date(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return "no date"
