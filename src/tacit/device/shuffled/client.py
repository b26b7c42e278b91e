"""Device of shuffled messages: one sealed bundle per task, paid for and stored before it is sent.

    policy = ShuffledPolicy(most_epsilon="4")
    with ShuffledClient(
        "alice.db", "https://shuffler.example", "https://films.example", policy=policy, lifetime="8"
    ) as me:
        me.sync([17, 42])
        print(me.recommend([17, 42], 5))

One transaction contains the debit, all draws, and the bytes of the bundle: after a crash before its
end nothing was drawn, and after it the same bytes are sent as often as necessary. Requires the
extra `secure`; everything else is the standard library.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from tacit.channels.table import Words, secret_word
from tacit.device.documents import Documents
from tacit.device.list_profile import ListProfile
from tacit.device.outbox import WRONG, SyncOutcome, some_share
from tacit.device.profile import Item, Profile
from tacit.device.provider import Chance, Provider
from tacit.device.shuffled.sealing import sealed_bundle
from tacit.device.shuffled.signs import OwnItems, are_ratings, check_kind
from tacit.device.shuffled.tokens import OneTimeTokens
from tacit.device.storage.store import Store
from tacit.device.transport import Answer, Http, Transport
from tacit.errors import CertificateError, RequestError, integer, must_be
from tacit.privacy.ledger import Ledger, is_plain, nano, plain
from tacit.wire.list_model import ListModel
from tacit.wire.origin import origin_of, place_of
from tacit.wire.shuffled import register
from tacit.wire.shuffled import task as shuffled_task
from tacit.wire.shuffled.task import ShuffledTask

_verified = lru_cache(maxsize=4)(shuffled_task.loads)
MEDIA_TYPE = "application/octet-stream"
REFUSED = {
    409: "the shuffler has another bundle of this token",
    410: "the batch is closed",
}
"""Statuses after which a bundle is deleted."""


@dataclass(frozen=True, kw_only=True)
class ShuffledPolicy:
    """What a user, or a shuffler for all of its users, requires of a shuffled task.

    `most_epsilon`: greatest epsilon per user, for a profile replaced by any other one, in nats.
    `honest`: fraction of bundles that may be assumed to come from devices that follow the protocol.
    `bundles`: least number of bundles in a batch. Epsilon and fraction are decimal strings.
    `signed`: whether tasks must require signed tokens. The provider signs none for a task that it
    did not write, so that devices do not answer a task that a shuffler has written in its name.

    Raises `RequestError` for another epsilon, fraction or number.
    """

    most_epsilon: str
    honest: str = "0.8"
    bundles: int = 10_000
    signed: bool = False

    def __post_init__(self) -> None:
        plain(self.most_epsilon)
        integer("bundles", self.bundles, 1)
        must_be(bool, self.signed, "True or False as signed", "leave it out")
        if not (is_plain(self.honest) and 0 < Decimal(self.honest) <= 1):
            raise RequestError(
                f"honest must be a decimal above 0 and at most 1, as in '0.8', got {self.honest!r}."
            )

    def check(self, task: ShuffledTask) -> None:
        """Raise `CertificateError` for a task that this policy does not allow."""
        if self.signed and task.signer is None:
            raise CertificateError(
                "The shuffled task requires no signed tokens, but the policy does, so the device "
                "sends nothing."
            )
        claim = task.certificate
        for name, value, limit, allowed in (
            ("epsilon", claim.replaced, self.most_epsilon, "at most"),
            ("honest", claim.honest, self.honest, "at most"),
            ("bundles", str(claim.bundles), str(self.bundles), "at least"),
        ):
            excess = Decimal(value) - Decimal(limit)
            if excess > 0 if allowed == "at most" else excess < 0:
                raise CertificateError(
                    f"The shuffled task requires {name} = {value}, but the policy allows "
                    f"{allowed} {limit}, so it is refused."
                )


class ShuffledClient:
    """One user's device in shuffled tasks of a provider, through the shuffler at `url`.

    `path`: the store, which may also be that of a `Client`: both have one ledger. `provider`: URL
    from which models are downloaded; its origin is that of the tasks. `lifetime`: most epsilon of
    everything that is ever sent, in nats, a decimal string. `token`: enrolment token of the
    shuffler. `provider_token`: that of the provider, for tasks that require signed tokens.
    `insecure`, `transport`, `clock`, `words` and `random_share` as in `Client`. `downloads`,
    `signing`: the transports to the provider, without and with its token, replaced in tests only.

    Raises `RequestError` if the store is in use or the `url` is not allowed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        url: str,
        provider: str,
        *,
        policy: ShuffledPolicy,
        lifetime: str,
        token: str | None = None,
        provider_token: str | None = None,
        insecure: bool = False,
        transport: Transport | None = None,
        downloads: Transport | None = None,
        signing: Transport | None = None,
        clock: Callable[[], float] = time.time,
        words: Words = secret_word,
        random_share: Chance = some_share,
    ) -> None:
        self._shuffler, self._origin = origin_of(url), origin_of(provider)
        self._policy, self._clock, self._words, self._chance = policy, clock, words, random_share
        self._open = ExitStack()
        self._transport = transport or self._open.enter_context(
            closing(Http(url, token, insecure=insecure, media_type=MEDIA_TYPE))
        )
        downloads = downloads or self._open.enter_context(
            closing(Http(provider, insecure=insecure))
        )
        # A separate connection: a download must not name the customer.
        signing = signing or self._open.enter_context(
            closing(Http(provider, provider_token, insecure=insecure, media_type=MEDIA_TYPE))
        )
        self._store = self._open.enter_context(closing(Store(path, nano(plain(lifetime)))))
        self._waits = Provider(self._store, url)
        self._documents = Documents(self._waits, self._transport, clock, random_share)
        # In another row than that of a `Client`, whose model is of another task.
        models = Provider(self._store, place_of(provider) + "/shuffled")
        self._models = Documents(models, downloads, clock, random_share)
        self._tokens = OneTimeTokens(self._store, models, signing, clock, random_share)
        self._released: str | None = None

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
    def ledger(self) -> Ledger:
        """Epsilon of all draws so far, and the limit, in nano-epsilon."""
        return self._store.ledger

    def sync(self, items: OwnItems) -> SyncOutcome:
        """Answer the provider's open task, send pending bundles, and fetch a newer model.

        Between two tasks, it reports to the shuffler that this device is ready for the next one. A
        task that requires signed tokens is answered by a later call than the one that requests a
        token: the moment is random, and no epsilon is debited before.

        `items`: ids of all items of the user, whatever the task. For tasks about star ratings, all
        ratings by item id, as in `{17: "4"}`. Call it on a schedule that does not depend on them. A
        task is answered once, with the items of that moment, and its bundle cannot be withdrawn.

        Raises `CertificateError` for a task or a register that was forged, or is against the
        policy, or signed a token with another key, `BudgetError` if the lifetime limit does not
        allow the task, and `RequestError` without the extra `secure`, for items where the task is
        about ratings or the reverse, and for a rating off its scale; all before any draw. Raises
        `DataError`, after everything is sent, for a malformed model; the one before remains.
        """
        if isinstance(items, str):
            raise RequestError("items must be a collection of item ids, got one string.")
        task, notes = self._open_task(), list[str]()
        if task is not None:
            self._policy.check(task)
            check_kind(task, items)
            self._store.ledger.debit(self._cost(task))  # no token for a task that is not allowed
            signed = self._tokens.obtain(task, notes)
            if signed is not None:
                self._answer(task, items, signed)
        outcome = self._send()
        outcome.notes[:0] = notes
        if self._released is not None:
            self._models.fetch_model(self._released)
        return outcome

    def recommend(self, items: OwnItems, n: int = 10) -> list[tuple[Item, float]]:
        """Return the n best items outside of `items`, best first, on the device.

        With scores of a list model, or predicted ratings. `items`: ids of the user's items, or
        ratings by item id, which a rating model requires. They stay on the device. Raises
        `RequestError` without a model, without an item that it has, and as `sync` for ratings, and
        `DataError` for a malformed model.
        """
        model = self._models.stored_model()
        if isinstance(model, ListModel):
            return ListProfile(model, items).recommend(n)
        if not are_ratings(items):
            raise RequestError("The model predicts ratings; pass ratings by item id, as {17: '4'}.")
        values, level_of = model.scale.values, model.scale.level_of
        ratings = {item: values[level_of(rating)] for item, rating in items.items()}
        return Profile(model, ratings).recommend(n)

    def _open_task(self) -> ShuffledTask | None:
        """Return the provider's verified open task; None without one that is to be answered."""
        document = self._documents.get("/v1/register", register.LONGEST)
        address = None if document is None else self._listed(document)
        if document is not None and address is None:
            # Participation without data, for the provider to plan with. Nothing depends on it.
            self._transport("POST", "/v1/ready", b"")
        if address is None or self._one("SELECT 1 FROM shuffled WHERE address = ?", address):
            return None
        document = self._documents.get(f"/v1/tasks/{address}", shuffled_task.LONGEST)
        if document is None:
            return None
        task = _verified(document, address)
        if (task.provider, task.shuffler) != (self._origin, self._shuffler):
            raise CertificateError(
                f"The shuffled task is of {task.provider} by {task.shuffler}, but was received "
                f"for {self._origin} from {self._shuffler}, so the device sends nothing."
            )
        return task if self._clock() < task.closes else None

    def _listed(self, document: bytes) -> str | None:
        """Return the address of the open task in a register that continues the last one."""
        before = self._one("SELECT head FROM register WHERE url = ?", self._shuffler)
        listed = register.loads(document, before or register.BEGIN)
        if listed.head != before:
            with self._store.transaction():
                self._store.db.execute(
                    "INSERT OR REPLACE INTO register VALUES (?, ?)", (self._shuffler, listed.head)
                )
        self._released = listed.released.get(self._origin)
        return listed.open.get(self._origin)

    def _answer(self, task: ShuffledTask, items: OwnItems, signed: bytes) -> None:
        with self._store.transaction():
            # The debit does not depend on the items, and is made whether or not a batch is
            # released: the shuffler has the bundle in both cases.
            self._store.spend(self._store.ledger.debit(self._cost(task)))
            bundle = sealed_bundle(task, items, self._words)
            values = (task.address, task.document, task.first, bundle + signed)
            self._store.db.execute("INSERT INTO shuffled VALUES (?, ?, ?, ?)", values)
            self._tokens.delete(task)

    def _cost(self, task: ShuffledTask) -> int:
        """Return the debit: 0 for the first round that an answered task has announced.

        Its epsilon was debited with that task, whose certificate covers both.
        """
        document = self._one("SELECT document FROM shuffled WHERE address = ?", task.first)
        is_repeated = self._one("SELECT 1 FROM shuffled WHERE first = ?", task.first)
        if document and not is_repeated and task.is_announced_by(_verified(document)):
            return 0
        return nano(task.certificate.replaced)

    def _send(self) -> SyncOutcome:
        now, outcome = self._clock(), SyncOutcome()
        for address, task, bundle in self._waiting():
            if self._waits.again(now) is not None:
                break
            answer = self._transport("POST", f"/v1/tasks/{address}/bundles", bundle)
            if self._waits.postpones(answer, now, self._chance) or answer is None:
                break
            self._settle(answer, address, now >= task.closes, outcome)
        outcome.waiting, outcome.again = len(self._waiting()), self._waits.again(now)
        return outcome

    def _settle(self, answer: Answer, address: str, is_closed: bool, outcome: SyncOutcome) -> None:
        if answer.status == 200:
            outcome.stored += 1
            self._waits.relieve()
        elif answer.status in REFUSED or is_closed:
            outcome.given_up += 1
            reason = REFUSED.get(answer.status, REFUSED[410])
            outcome.notes.append(f"The bundle was not accepted: {reason}.")
        else:
            reason = WRONG.get(answer.status, "the shuffler cannot parse the bundle")
            outcome.notes.append(f"A bundle is pending: {reason} (status {answer.status}).")
            return
        with self._store.transaction():
            self._store.db.execute(
                "UPDATE shuffled SET bundle = NULL WHERE address = ?", (address,)
            )

    def _waiting(self) -> list[tuple[str, ShuffledTask, bytes]]:
        """Return the pending bundles for this shuffler."""
        rows = self._store.db.execute(
            "SELECT address, document, bundle FROM shuffled WHERE bundle IS NOT NULL"
        ).fetchall()
        known = [(address, _verified(document), bundle) for address, document, bundle in rows]
        return [each for each in known if each[1].shuffler == self._shuffler]

    def _one(self, query: str, *keys: str | None) -> Any:
        row = self._store.db.execute(query, keys).fetchone()
        return row and row[0]
