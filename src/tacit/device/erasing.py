"""Erasure: delete local data, and request deletion by each provider.

The erasure keys are stored before the secret that they derive from is deleted, in one transaction:
a crash leaves either everything or the keys. They are sent until the provider confirms.
"""

import json

from tacit.device.outbox import WRONG
from tacit.device.provider import Chance, Provider
from tacit.device.storage.store import Store
from tacit.device.transport import Transport
from tacit.wire import report
from tacit.wire.origin import origin_of

REPORTED = (
    "SELECT named, origin, provider FROM task WHERE named <> question"
    " AND EXISTS (SELECT 1 FROM report WHERE task = number)"
)
"""Names with reports, except those for a tacit-task-1, which have no key."""


def erase(store: Store) -> None:
    """Delete everything but the epsilon spent, and store a key for each name with reports."""
    with store.transaction():
        for task, identity, url in store.db.execute(REPORTED).fetchall():
            key = report.erasure_key(store.secret, task, identity)
            values = (key, origin_of(url), task)  # the origin that its reports go to
            store.db.execute("INSERT INTO erasure VALUES (?, ?, ?)", values)
        store.forget()
    store.scrub()


class Erasures:
    """Erasure requests to one provider.

    `erased`: number of confirmed ones. `notes`: for the user.
    """

    def __init__(self, provider: Provider, transport: Transport, jitter: Chance) -> None:
        self._provider, self._transport, self._jitter = provider, transport, jitter
        self._db = provider.store.db
        self.erased, self.notes = 0, list[str]()

    @property
    def waiting(self) -> int:
        """Number of names to be erased."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM erasure WHERE origin = ?", (self._provider.origin,)
        ).fetchone()
        return count

    def send(self, now: float) -> None:
        """Send pending requests, unless it is too early after a failure."""
        waiting = self._db.execute(
            "SELECT key, task FROM erasure WHERE origin = ? ORDER BY key", (self._provider.origin,)
        ).fetchall()
        for key, task in waiting:
            if self._provider.again(now) is not None:
                return
            body = json.dumps({"key": key.hex()}, separators=(",", ":")).encode()
            answer = self._transport("POST", f"/v1/tasks/{task}/erasures", body)
            if self._provider.postpones(answer, now, self._jitter) or answer is None:
                return
            if answer.status == 200:
                self._forget(key)
            else:
                reason = WRONG.get(answer.status, "the collector cannot parse this request")
                self.notes.append(
                    f"An erasure is still pending: {reason} (status {answer.status})."
                )

    def _forget(self, key: bytes) -> None:
        with self._provider.store.transaction():
            self._db.execute("DELETE FROM erasure WHERE key = ?", (key,))
        self.erased += 1
