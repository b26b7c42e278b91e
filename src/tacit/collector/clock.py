"""The clock that epochs and retention go by: this machine's, unless it jumped.

One wrong reading would delete every report for good, and shut epochs that are still to come. A
reading is trusted while it is near the last one that was; where it is not, time goes on from there
by the machine's monotonic clock, and nothing is deleted until somebody confirms the reading.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from tacit.collector.storage.store import ReportStore
from tacit.errors import TacitError
from tacit.wire.strict import ENDS
from tacit.wire.task import DAY, Task, loads

log = logging.getLogger(__name__)

DAYS, EPOCHS = 7, 3
"""How far a reading may be from the last trusted one: days, or epochs if those are longer."""


def tolerance(tasks: Iterable[Task]) -> int:
    """Seconds by which a reading may differ, for the task of the shortest epochs among these."""
    return max(DAYS * DAY, EPOCHS * min(task.epoch_seconds for task in tasks))


class TrustedClock:
    """Unix seconds, called; `trusted`: whether the last call took the machine's own reading.

    `wall`: the machine's reading, Unix seconds. `monotonic`: seconds since any moment. `limit`:
    seconds that a reading may differ from the last trusted one and what has passed since.
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
            self._at, self._since, self.trusted = reading, moment, True
            return reading
        if self.trusted:
            self.trusted = False
            log.warning(_doubt(reading, expected))
        return expected

    def hear(self, kept: int) -> None:
        """Go on from what the store keeps, where this clock is far from it."""
        moment = self._monotonic()
        if abs(self._at + moment - self._since - kept) > self.limit:
            self._at, self._since = kept, moment

    def start(self, store: ReportStore, confirmed: bool) -> None:
        """Compare with what the store keeps, or with its newest report where it keeps none.

        `confirmed`: somebody has looked at the reading, and it is right.
        """
        if confirmed:
            store.set_clock(int(self._wall()))
        elif (kept := store.clock()) is not None:
            self.hear(kept)
        elif (made := _begun(store.newest())) is not None:
            begun, task = made
            if abs(self._wall() - begun) > tolerance([task]):
                store.set_clock(begun)
                self.hear(begun)
        self.hear(self.keep(store, self()))

    def keep(self, store: ReportStore, now: float) -> int:
        """Have the store keep a time that this clock told; gives what it keeps, to be heard.
        Several collectors may share it: a wrong clock moves it no further than `limit`."""
        return store.keep_clock(int(now), self.limit)


def _begun(newest: Sequence[tuple[bytes, int]]) -> tuple[int, Task] | None:
    """When the epoch of the newest report began, Unix seconds, and the task it belongs to."""
    begun: list[tuple[int, Task]] = []
    for document, epoch in newest:
        with suppress(TacitError):  # of a form that is asked no more
            task = loads(document)
            begun.append((min(task.start + epoch * task.epoch_seconds, ENDS), task))
    return max(begun, key=lambda pair: pair[0], default=None)


def _doubt(reading: float, expected: float) -> str:
    days, side = abs(reading - expected) / DAY, "after" if reading > expected else "before"
    return (
        f"The clock reads {_date(reading)}, {days:,.0f} days {side} the last trusted time. "
        f"Uploads continue from {_date(expected)}, and nothing is deleted. Set the clock. If "
        "it is right, as after a long stop, start once with --confirm-clock."
    )


def _date(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return "no date"
