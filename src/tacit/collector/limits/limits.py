"""Quotas of tokens: reserved before anything is stored, returned if nothing was."""

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from tacit.collector.limits.counts import Counts, Running, TokenCounts
from tacit.collector.limits.keys import (
    OTHER_KEYS,
    Epoch,
    EpochKeys,
    counted,
    epoch_of,
    mark_of,
)
from tacit.errors import RequestError
from tacit.wire.tasks.task import Task


class Charge(NamedTuple):
    """Cost of an upload to its token.

    `token`: its SHA-256. `task`: the address it is counted under. `now`: time of arrival, Unix
    seconds. `reports`: their number. `people`: the names they are from.
    """

    token: bytes
    task: bytes
    now: float
    reports: int
    people: frozenset[bytes]


class Reservation(NamedTuple):
    """A granted charge: the epoch, and the name under which the token is counted in it."""

    task: bytes
    epoch: int
    name: bytes


class Excess(NamedTuple):
    """A refused charge. `spent`: whether the token's quota of reports is exhausted."""

    spent: bool


class Limits:
    """Quotas, used by the writer's thread alone.

    `tasks`: the served ones. `most`: reports per token, epoch and task. `most_people`: number of
    people that these may be from.

    Raises `RequestError` where the counts were made under other keys than the file's.
    """

    def __init__(
        self, counts: Counts, keys: EpochKeys, tasks: Iterable[Task], most: int, most_people: int
    ) -> None:
        self._counts, self._keys = counts, keys
        self._tasks = {counted(task): task for task in tasks}
        self._most, self._most_people = most, most_people

    def turn(self, now: float) -> None:
        """Advance to a moment: replace the day's state, make keys, and delete past counts.

        Raises `StoreError`, `OSError`, `RequestError`.
        """
        self._keys.turn([self._epoch(task, now) for task in self._tasks], now)
        with self._counts.transaction(alone=True):
            over = {
                task: running
                for task, running in self._counts.running().items()
                if running.mark is not None and running.ends <= now
            }
            for task, running in over.items():
                self._counts.enter(task, Running(running.epoch + 1, None, 0))
        if over:
            self._counts.scrub()

    def start(self, now: float) -> None:
        """Start counting. Raises `RequestError` if running counts have other keys."""
        self.turn(now)
        self._enter([self._epoch(task, now) for task in self._tasks])

    def reserve(self, charges: Sequence[Charge]) -> list[Reservation | Excess]:
        """Reserve each charge in order, completely or not at all. Durable on return.

        Raises `StoreError` if the database does not respond; nothing is reserved then.
        """
        latest = {charge.task: charge.now for charge in sorted(charges, key=lambda c: c.now)}
        wanted = [self._epoch(task, now) for task, now in sorted(latest.items())]
        while True:
            with self._counts.transaction():
                epochs = self._entered(wanted, self._counts.running())
                if epochs is not None:
                    return self._granted(charges, epochs)
            self._enter(wanted)

    def give_back(self, unused: Iterable[tuple[Reservation, int]]) -> None:
        """Return reports of reservations that were not stored. Raises `StoreError`."""
        back = Counter[Reservation]()
        for reservation, reports in unused:
            back[reservation] += reports
        with self._counts.transaction():
            running = self._counts.running()
            current = [each for each in back if self._is_running(each, running)]
            for task, reservations in _by_task(current):
                tallies = self._counts.tallies(task, [each.name for each in reservations])
                left = {
                    each.name: tally._replace(reports=tally.reports - back[each])
                    for each in reservations
                    if (tally := tallies.get(each.name)) is not None
                }
                self._counts.keep(task, left, ())

    def probe(self) -> None:
        """Read the counts; raises `StoreError` if the database does not respond."""
        with self._counts.transaction():
            self._counts.running()

    def close(self) -> None:
        """Close the database."""
        self._counts.close()

    def _is_running(self, each: Reservation, running: Mapping[bytes, Running]) -> bool:
        return each.task in running and running[each.task].epoch == each.epoch

    def _epoch(self, task: bytes, now: float) -> Epoch:
        return epoch_of(self._tasks[task], self._tasks[task].epoch(now))

    def _entered(
        self, wanted: Sequence[Epoch], running: Mapping[bytes, Running]
    ) -> dict[bytes, Epoch] | None:
        """Return the epochs to count in; the later one if another collector is ahead.

        None if one of them must be started first.
        """
        epochs: dict[bytes, Epoch] = {}
        for epoch in wanted:
            current = running.get(epoch.task)
            if current is None or current.epoch < epoch.number or current.mark is None:
                return None
            epochs[epoch.task] = epoch_of(self._tasks[epoch.task], current.epoch)
            self._same(epochs[epoch.task], current.mark)
        return epochs

    def _enter(self, wanted: Sequence[Epoch]) -> None:
        """Start epochs, and thereby end earlier ones."""
        with self._counts.transaction(alone=True):
            running = self._counts.running()
            for epoch in wanted:
                current = running.get(epoch.task, Running(epoch.number - 1, None, 0))
                begun = epoch_of(self._tasks[epoch.task], max(epoch.number, current.epoch))
                entered = Running(begun.number, self._mark(begun), begun.ends)
                if current.epoch < begun.number:
                    self._counts.enter(epoch.task, entered)
                elif current.mark is None:
                    self._counts.mark(epoch.task, entered)
                else:
                    self._same(begun, current.mark)
        self._counts.scrub()

    def _mark(self, epoch: Epoch) -> bytes:
        return mark_of(self._keys.key(epoch))

    def _same(self, epoch: Epoch, mark: bytes) -> None:
        if self._mark(epoch) != mark:
            raise RequestError(OTHER_KEYS)

    def _granted(
        self, charges: Sequence[Charge], epochs: Mapping[bytes, Epoch]
    ) -> list[Reservation | Excess]:
        verdicts: dict[int, Reservation | Excess] = {}
        for task, epoch in sorted(epochs.items()):
            key = self._keys.key(epoch)
            charges_of_task = {
                index: each for index, each in enumerate(charges) if each.task == task
            }
            named = {index: names(key, each) for index, each in charges_of_task.items()}
            tallies = self._counts.tallies(task, {name for name, _ in named.values()})
            known = self._counts.known(task, set(chain(*(people for _, people in named.values()))))
            sheet = _Sheet(tallies, known, TokenCounts(self._most, self._most_people))
            for index, (name, people) in named.items():
                granted = sheet.add(name, charges_of_task[index].reports, people)
                verdicts[index] = (
                    Reservation(task, epoch.number, name) if granted else Excess(sheet.spent(name))
                )
            self._counts.keep(task, sheet.changed, sheet.added)
        return [verdicts[index] for index in range(len(charges))]


class _Sheet:
    """Counts of a transaction. `changed`, `added`: tallies and people to store."""

    def __init__(
        self, tallies: Mapping[bytes, TokenCounts], known: set[bytes], most: TokenCounts
    ) -> None:
        self._tallies, self._known, self._most = tallies, known, most
        self.changed: dict[bytes, TokenCounts] = {}
        self.added: set[bytes] = set()

    def add(self, name: bytes, reports: int, people: Sequence[bytes]) -> bool:
        """Count an upload, unless it exceeds the quota."""
        new = [each for each in people if each not in self._known and each not in self.added]
        before = self._counted(name)
        after = TokenCounts(before.reports + reports, before.people + len(new))
        if after.reports > self._most.reports or after.people > self._most.people:
            return False
        self.changed[name] = after
        self.added.update(new)
        return True

    def spent(self, name: bytes) -> bool:
        return self._counted(name).reports >= self._most.reports

    def _counted(self, name: bytes) -> TokenCounts:
        return self.changed.get(name) or self._tallies.get(name) or TokenCounts(0, 0)


def names(key: bytes, charge: Charge) -> tuple[bytes, list[bytes]]:
    """Return the names of the token, and of the token with each person.

    Every field has a fixed size for its kind, so different fields never yield equal bytes.
    """
    fields = charge.token + charge.task
    people = [hmac.digest(key, b"person" + fields + each, "sha256") for each in charge.people]
    return hmac.digest(key, b"token" + fields, "sha256"), people


def _by_task(reservations: Iterable[Reservation]) -> Iterator[tuple[bytes, list[Reservation]]]:
    for task, group in groupby(sorted(reservations), key=lambda each: each.task):
        yield task, list(group)
