"""The device: a person's ratings at home, and what little the owner agreed to tell about them.

    with Client("alice.db", "https://films.example", most_epsilon="2", lifetime="50") as me:
        me.rate(42, "4")
        me.sync()
        print(me.recommend(5))

Standard library only, as is all that it imports.
"""

import os
import re
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from types import TracebackType
from typing import Any, Self

from tacit.channels.draw import Words, secret_word
from tacit.device.answering import Question, answer
from tacit.device.documents import Documents
from tacit.device.erasing import Erasures, erase
from tacit.device.export import export
from tacit.device.list_profile import ListProfile
from tacit.device.outbox import Outbox, SyncOutcome, some_share
from tacit.device.profile import Item, Profile
from tacit.device.provider import Chance, Provider
from tacit.device.row_check import check_rows
from tacit.device.store import Store
from tacit.device.transport import Http, Transport
from tacit.errors import BudgetError, RequestError
from tacit.given import must_be
from tacit.privacy.ledger import Ledger, nano
from tacit.scale import RatingScale, shortest
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.task import Task, is_address

NOT_BEGUN = "This task has not begun: nothing is answered yet."
_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")


class Client:
    """One person's device: true ratings in the store at `path`, and a collector at `url`.

    Nothing talks to the collector but `sync`, `fetch_model`, `erase`, and opening a store without a
    task. Call `sync` on a schedule that has nothing to do with ratings: when it calls can be seen.

    `most_epsilon`: what one answer may cost at most, `lifetime`: what all of them together may, in
    nats, as decimal strings. `token`: what the collector knows enrolled devices by. `task`: the
    address of the one task to answer; the one that the collector names first, unless given.
    `insecure`: whether a `url` of http may lead to another machine, where everybody on the way can
    read and change what is said. `transport`, `clock` (Unix seconds), `words` and `chance` are
    replaced in tests only.

    What is told, when, and under which name: see docs/reference/wire.md. Raises `RequestError`
    where the store is in use or the `url` is none to talk to, and what `sync` raises for a first
    task.
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
        chance: Chance = some_share,
    ) -> None:
        must_be(str, url, "a URL", "write it as a string, as in 'https://films.example'")
        must_be(
            str,
            task or "",
            "the address of a task",
            "write it as a string of 64 hexadecimal digits",
        )
        for epsilon in (most_epsilon, lifetime):
            must_be(str, epsilon, "an epsilon", "write it as a string, as in '0.5'")
            if not _AMOUNT.fullmatch(epsilon):
                raise RequestError(f"Epsilon '{epsilon}' is not a plain decimal such as 0.5.")
        if task is not None and not is_address(task):
            raise RequestError(
                f"task must be an address of 64 hexadecimal digits, got '{task[:64]}'."
            )
        self._most, self._pinned = most_epsilon, task
        self._clock, self._words, self._chance = clock, words, chance
        self._open = ExitStack()
        self._transport = transport or self._open.enter_context(
            closing(Http(url, token, insecure=insecure))
        )
        self._store = self._open.enter_context(closing(Store(path, nano(lifetime))))
        self._known: tuple[Task, int, dict[str, int]] | None = None
        try:
            self._provider = Provider(self._store, url)
            self._documents = Documents(self._provider, self._transport, clock, chance)
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
        """Let go of the store and the connection."""
        self._open.close()

    @property
    def task(self) -> Task:
        """The task that is answered: its catalogue, titles and scale."""
        return self._task()[0]

    @property
    def ledger(self) -> Ledger:
        """What all draws of the person's life cost so far, and the limit, in nano-epsilon."""
        return self._store.ledger

    @property
    def ratings(self) -> dict[Item, str]:
        """The person's true ratings of the task's items, as decimals; "1" where one is there."""
        task, number, _ = self._task()
        levels = task.scale.levels
        found = self._store.ratings(number).items()
        return {task.items[place]: shortest(levels[level]) for place, level in sorted(found)}

    def rate(self, item: Item, rating: str | int | Decimal | None) -> None:
        """Keep the person's true rating of an item at home, or forget it (None). Tells nobody.

        Where the task is on the scale `there`, 1 says that the item is there, and None that it is
        not: that is all a person can say of it.

        Raises `RequestError` for an item that is not in the catalogue and a rating off its scale.
        The sentences name neither: they may end up in a log.
        """
        task, number, places = self._task()
        if (place := places.get(str(item))) is None:
            raise RequestError("This item is not in the catalogue of the task.")
        try:
            level = None if rating is None else task.scale.levels.index(Decimal(rating))
        except (ValueError, InvalidOperation):
            raise RequestError(_off(task.scale)) from None
        self._store.rate(number, place, level)

    def sync(self) -> SyncOutcome:
        """Answer what is due, send what is not acknowledged, fetch a newer item model.

        Everything is verified, paid for, drawn and on disk before anything is sent. Does not
        wait: `SyncOutcome.again` says when to call again after a failure.

        Raises `CertificateError` for a task that was forged, names another provider, or asks for
        more than `most_epsilon`, `RequestError` where no task is known or another provider asked
        this one before; all before any draw. Raises `BudgetError` where the lifetime limit does not
        allow a first report for slots. Of single ratings those that it allows are told, and
        `SyncOutcome.refusal` says why the others are not.
        """
        now = self._clock()
        erasures = self._erasures(now)
        self._meet(self._documents.asked(self._pinned))
        task, number, _ = self._task()
        channel = task.choose(self._most)
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
        """Fetch a newer item model, if there is one, and tell nothing; `sync` does this, too."""
        self._documents.fetch_model(self.task)

    def predict(self, item: Item) -> float:
        """The rating the person would give, worked out here from their true ratings; raises what
        `profile` raises."""
        return self.profile().predict(item)

    def recommend(self, n: int = 10) -> list[tuple[Item, float]]:
        """The n best items that the person has not rated, best first, with the ratings they would
        give; under a list model, which reads what they rated and not how, with its scores.

        Raises `RequestError` while there is no model, `DataError` for one that is malformed.
        """
        model = self._documents.model(self.task)
        if isinstance(model, ListModel):
            return ListProfile(model, self.ratings).recommend(n)
        return self._profile(model).recommend(n)

    def profile(self) -> Profile:
        """The person's row under the item model fetched last, from true ratings, which stay here.

        Raises `RequestError` while there is no model and under a list model, which has no such
        row, `DataError` for one that is malformed.
        """
        model = self._documents.model(self.task)
        if isinstance(model, ListModel):
            raise RequestError(
                "The provider publishes a list model, which predicts no ratings; use recommend."
            )
        return self._profile(model)

    def _profile(self, model: ItemModel) -> Profile:
        return Profile(model, {item: float(rating) for item, rating in self.ratings.items()})

    def export(self) -> dict[str, Any]:
        """All the store holds about its owner, for their eyes, as JSON values; not the secret."""
        return export(self._store)

    def erase(self) -> SyncOutcome:
        """Forget everything, names too, but the sum spent, and ask each provider to forget as well.

        What was reported under a name that has an erasure key is to be erased where it went: this
        provider is asked now, and again in later syncs until it says so, also after a restart;
        others are asked by clients of theirs on this store. `SyncOutcome.erased` and `.erasing`
        count this provider's names.

        Names made for a tacit-task-1 have no key. What models have learnt, and backups, stay.
        """
        erase(self._store)
        self._known = None
        now = self._clock()
        erasures = self._erasures(now)
        return _with_erasures(SyncOutcome(again=self._provider.again(now)), erasures)

    def _erasures(self, now: float) -> Erasures:
        """Those of this provider, sent where they may be now."""
        erasures = Erasures(self._provider, self._transport, self._chance)
        erasures.send(now)
        return erasures

    def _meet(self, task: Task | None) -> None:
        if task is not None and (self._known is None or self._known[0].address != task.address):
            places = {str(item): place for place, item in enumerate(task.items)}
            number = self._provider.adopt(task)
            check_rows(self._store.db, number, task)
            self._known = task, number, places

    def _task(self) -> tuple[Task, int, dict[str, int]]:
        """The task, its number in the store, and the place of each item id as text."""
        if self._known is None:
            raise RequestError(
                "No task has been received yet; sync when the collector can be reached."
            )
        return self._known


def _off(scale: RatingScale) -> str:
    if scale.has_one_level:
        return f"On the scale {scale} an item is there, given as 1, or it is not, given as None."
    return f"This rating is not on the scale {scale}."


def _with_erasures(outcome: SyncOutcome, erasures: Erasures) -> SyncOutcome:
    notes = erasures.notes + outcome.notes
    return replace(outcome, erased=erasures.erased, erasing=erasures.waiting, notes=notes)
