"""The device: a user's ratings stay on it, and reports are sent within the user's limits.

    with Client("alice.db", "https://films.example", most_epsilon="2", lifetime="50") as me:
        me.rate(42, "4")
        me.sync()
        print(me.recommend(5))

Standard library only, including all its imports.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

from tacit.channels.table import Channel, Words, secret_word
from tacit.device.answering import Question, answer
from tacit.device.documents import Documents
from tacit.device.erasing import Erasures, erase
from tacit.device.list_profile import ListProfile
from tacit.device.outbox import Outbox, SyncOutcome, some_share
from tacit.device.profile import Item, Profile
from tacit.device.provider import Chance, Provider
from tacit.device.storage.store import Store
from tacit.device.storage.stored_rows import check_rows, copy_ratings, export
from tacit.device.transport import Http, Transport
from tacit.errors import BudgetError, CertificateError, RequestError, must_be
from tacit.privacy.ledger import Ledger, nano, plain
from tacit.scale import shortest
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.report import person
from tacit.wire.tasks.task import Task, is_address

NOT_BEGUN = "This task has not begun, so the device sends no report yet."


class Client:
    """One user's device: true ratings in the store at `path`, and a collector at `url`.

    Only `sync`, `fetch_model`, `erase`, and opening a store without a task contact the collector.
    Call `sync` on a schedule that is independent of ratings: its times are observable.

    `most_epsilon`: most epsilon of one report, `lifetime`: of all reports together, in nats, as
    decimal strings. `token`: enrolment token. `task`: address of the task to report to; default:
    the collector's first task. `insecure`: whether a `url` of http may lead to another machine,
    where all intermediaries can read and modify the traffic. `transport`, `clock` (Unix seconds),
    `words` and `random_share` are replaced in tests only.

    For contents, times and names of reports see docs/reference/wire.md. Raises `RequestError` if
    the store is in use or the `url` is not allowed, and what `sync` raises for a first task.

    A provider can move to another origin, with its signature. To open the store with a `url` of
    `MovedError.successor` is the user's agreement to it: ratings, answers, names and epsilon spent
    continue, and all further requests go there.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        url: str,
        *,
        most_epsilon: str,
        lifetime: str,
        token: str | None = None,
        task: str | None = None,
        insecure: bool = False,
        transport: Transport | None = None,
        clock: Callable[[], float] = time.time,
        words: Words = secret_word,
        random_share: Chance = some_share,
    ) -> None:
        must_be(str, url, "a URL", "write it as a string, as in 'https://films.example'")
        must_be(
            str,
            task or "",
            "the address of a task",
            "write it as a string of 64 hexadecimal digits",
        )
        for epsilon in (most_epsilon, lifetime):
            plain(epsilon)
        if task is not None and not is_address(task):
            raise RequestError(
                f"task must be an address of 64 hexadecimal digits, got '{task[:64]}'."
            )
        self._most, self._pinned = most_epsilon, task
        self._clock, self._words, self._chance = clock, words, random_share
        self._open = ExitStack()
        self._transport = transport or self._open.enter_context(
            closing(Http(url, token, insecure=insecure))
        )
        self._store = self._open.enter_context(closing(Store(path, nano(lifetime))))
        self._known: tuple[Task, int, dict[str, int]] | None = None
        try:
            self._provider = Provider(self._store, url)
            self._documents = Documents(self._provider, self._transport, clock, random_share)
            self._meet(self._documents.known(task) or self._documents.asked(task))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and the connection."""
        self._open.close()

    @property
    def task(self) -> Task:
        """The current task: its catalogue, titles and scale."""
        return self._task()[0]

    @property
    def ledger(self) -> Ledger:
        """Epsilon of all draws so far and of reserved ones, and the limit, in nano-epsilon."""
        return self._store.ledger

    @property
    def ratings(self) -> dict[Item, str]:
        """The user's true ratings of the task's items, as decimals; "1" for implicit feedback."""
        task, number, _ = self._task()
        levels = task.scale.levels
        entries = self._store.ratings(number).items()
        return {task.items[index]: shortest(levels[level]) for index, level in sorted(entries)}

    def rate(self, item: Item, rating: str | int | Decimal | None) -> None:
        """Store the user's true rating of an item on the device, or delete it (None).

        Sends nothing.

        On the scale `there`, 1 means that the item is present and None that it is absent.

        Raises `RequestError` for an item that is not in the catalogue and a rating off its scale.
        The messages name neither: they may be logged.
        """
        task, number, places = self._task()
        if (index := places.get(str(item))) is None:
            raise RequestError("This item is not in the task's catalogue.")
        level = None if rating is None else task.scale.level_of(rating)
        self._store.rate(number, index, level)

    def copy_ratings(self, earlier: str) -> int:
        """Copy the user's ratings of an earlier task to the current one; return their number.

        `earlier`: address of a task of this provider, as in `export()["tasks"]`. An item is the
        same in both tasks if it has the same id and title. Ratings of the current task are not
        replaced. Sends nothing.

        Get the user's agreement first. The tasks have different pseudonyms, and reports of the
        same ratings may reveal that both are of one user. They also cost epsilon again.

        Raises `RequestError` for any other address, and for a task of another scale.
        """
        task, number, _ = self._task()
        return copy_ratings(self._store, self._provider.earlier(earlier), (number, task))

    def sync(self) -> SyncOutcome:
        """Make due reports, send unacknowledged ones, and fetch a newer item model.

        Everything is verified, paid for, drawn and stored before anything is sent. Does not wait:
        `SyncOutcome.again` is the time to call again after a failure.

        Raises `CertificateError` for a task that was forged, names another provider, or requires
        more than `most_epsilon`, and `RequestError` if no task is known or another provider's task
        is the same, and `MovedError` if the provider moved away from the `url`; all before any
        draw. Raises `BudgetError` if the lifetime limit does not allow a first report of slots, or
        all reports to a task over slots that can be extended, which are paid for together. Of
        single ratings those that it allows are reported, and `SyncOutcome.refusal` has the reason
        for the others. Raises `DataError`, after everything is sent, for a malformed item model;
        the one before remains.
        """
        now = self._clock()
        erasures = self._erasures(now)
        self._meet(self._documents.asked(self._pinned))
        task, number, _ = self._task()
        channel = self._channel(task, number)
        question = Question(task, number, channel, self._provider.named(number))
        outbox = Outbox(self._provider, now, self._chance)
        outbox.drop_late()
        epoch = task.epoch(now)
        try:
            refusals = answer(self._store, question, epoch, self._words)
        except BudgetError:
            outbox.send(self._transport)
            raise
        outcome = outbox.send(self._transport)
        self.fetch_model()
        notes = outcome.notes + ([NOT_BEGUN] if epoch < 0 else [])
        first = next(iter(refusals), None)
        refused = replace(outcome, refused=len(refusals), refusal=first, notes=notes)
        return _with_erasures(refused, erasures)

    def fetch_model(self) -> None:
        """Fetch a newer item model, if any, without sending data; `sync` does this, too."""
        self._documents.fetch_model(self.task.address)

    def predict(self, item: Item) -> float:
        """Predict the user's rating of an item, on the device. Raises as `profile`."""
        return self.profile().predict(item)

    def recommend(self, n: int = 10) -> list[tuple[Item, float]]:
        """Return the n best unrated items, best first, with predicted ratings.

        A list model uses which items are rated, not their ratings, and returns scores. Raises
        `RequestError` without a model, `DataError` for a malformed one.
        """
        model = self._documents.model(self.task.scale)
        if isinstance(model, ListModel):
            return ListProfile(model, self.ratings).recommend(n)
        return self._profile(model).recommend(n)

    def profile(self) -> Profile:
        """Fold in the user's true ratings, which stay on the device, with the last item model.

        Raises `RequestError` without a model and for a list model, which has no such row, and
        `DataError` for a malformed model.
        """
        model = self._documents.model(self.task.scale)
        if isinstance(model, ListModel):
            raise RequestError(
                "The provider publishes a list model, which predicts no ratings; use recommend."
            )
        return self._profile(model)

    def _profile(self, model: ItemModel) -> Profile:
        return Profile(model, {item: float(rating) for item, rating in self.ratings.items()})

    def reference_code(self) -> str:
        """Return the code by which the provider finds this user's reports to the task.

        The user quotes it to have the provider delete or export the reports. It is the pseudonym
        in every report, in four groups of digits, and erases nothing without the provider. Raises
        `RequestError` if no task is known.
        """
        _, number, _ = self._task()
        name = person(self._store.secret, *self._provider.named(number))
        return "-".join(name[start : start + 8] for start in range(0, len(name), 8))

    def export(self) -> dict[str, Any]:
        """Return all data about the user in the store, as JSON values, without the secret."""
        return export(self._store)

    def erase(self) -> SyncOutcome:
        """Delete all data and names, but not the epsilon spent, and request erasure by providers.

        Reports under names with an erasure key are erased at the provider that received them. The
        requests to this provider are sent now, and again in later syncs until it confirms, also
        after a restart; those to others by their clients on this store. `SyncOutcome.erased` and
        `.erasing` count this provider's names.

        Names made for a tacit-task-1 have no key. Fitted models and backups are unaffected.
        """
        erase(self._store)
        self._known = None
        now = self._clock()
        erasures = self._erasures(now)
        return _with_erasures(SyncOutcome(again=self._provider.again(now)), erasures)

    def _erasures(self, now: float) -> Erasures:
        """Send this provider's erasures, if the retry time has come."""
        erasures = Erasures(self._provider, self._transport, self._chance)
        erasures.send(now)
        return erasures

    def _meet(self, task: Task | None) -> None:
        if task is not None and (self._known is None or self._known[0].address != task.address):
            number, task = self._provider.adopt(task)
            places = {str(item): index for index, item in enumerate(task.items)}
            check_rows(self._store.db, number, task)
            self._known = task, number, places

    def _channel(self, task: Task, number: int) -> Channel:
        """Return the channel to report through: the one for which the limit was reserved, if any.

        The choice does not depend on ratings. Raises `CertificateError` as `Task.choose`.
        """
        channel, reserved = task.choose(self._most), self._store.reserved(number)
        if reserved is None:
            return channel
        if nano(task.channels[reserved].epsilon) > nano(self._most):
            raise CertificateError(
                f"This device answers the task at epsilon = {task.channels[reserved].epsilon} per "
                f"slot, above your maximum of {self._most}, so it sends nothing."
            )
        return task.channels[reserved]

    def _task(self) -> tuple[Task, int, dict[str, int]]:
        """Return the task, its number in the store, and the index of each item id as text."""
        if self._known is None:
            raise RequestError(
                "No task has been received yet; sync when the collector can be reached."
            )
        return self._known


def _with_erasures(outcome: SyncOutcome, erasures: Erasures) -> SyncOutcome:
    notes = erasures.notes + outcome.notes
    return replace(outcome, erased=erasures.erased, erasing=erasures.waiting, notes=notes)
