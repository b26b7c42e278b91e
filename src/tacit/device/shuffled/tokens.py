"""One-time tokens of a device: signed blindly by the provider, long before a bundle is sent.

A token is requested at the first sync that finds its task, whatever the user's items. The bundle is
sent at the first sync after a random moment of the second quarter of the time that is then left.
The provider learns who requests a token, and when. It sees the token again in a batch, without a
sender and without a time, and cannot recognize it.
"""

from collections.abc import Callable
from typing import Any

from tacit.device.provider import Chance, Provider
from tacit.device.storage.store import Store
from tacit.device.transport import Transport
from tacit.wire.shuffled.blind_tokens import blinded, new_token, unblinded
from tacit.wire.shuffled.task import ShuffledTask

REFUSALS = {
    401: "the provider requires another token of its customers",
    404: "the provider signs no tokens for this task",
    409: "the provider has signed another token of this customer",
    410: "the task is closed",
}
"""Reasons for statuses of a signing request."""


class OneTimeTokens:
    """Tokens of one user, in a store.

    `provider`: waits between requests. `transport`: sends requests to the provider, with the user's
    enrolment token there. `clock`: Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        provider: Provider,
        transport: Transport,
        clock: Callable[[], float],
        jitter: Chance,
    ) -> None:
        self._store, self._waits, self._transport = store, provider, transport
        self._clock, self._jitter = clock, jitter

    def obtain(self, task: ShuffledTask, notes: list[str]) -> bytes | None:
        """Return the signed token of a task if its bundle may be sent now, None if not yet.

        For a task that requires no token, it is empty. A token without a signature is requested,
        with the same bytes every time. `notes`: gets a sentence on a refusal. Raises
        `CertificateError` for a response that is not a signature with the key of the task.
        """
        if task.signer is None:
            return b""
        if self._one("signature", task) is None:
            self._request(task, task.signer, notes)
        signature, due = self._one("signature", task), self._one("due", task)
        if signature is None or self._clock() < due:
            return None
        return self._one("token", task) + signature

    def delete(self, task: ShuffledTask) -> None:
        """Delete the token of a task, inside the transaction that stores its bundle."""
        self._store.db.execute("DELETE FROM token WHERE address = ?", (task.address,))

    def _request(self, task: ShuffledTask, signer: bytes, notes: list[str]) -> None:
        now = self._clock()
        if self._waits.again(now) is not None:
            return
        if self._one("token", task) is None:
            token = new_token()
            message, inverse = blinded(token, signer)
            # On disk before it is sent: the provider signs one message per customer.
            with self._store.transaction():
                row = (task.address, token, message, inverse)
                self._store.db.execute("INSERT INTO token VALUES (?, ?, ?, ?, NULL, NULL)", row)
        path = f"/v1/shuffled/{task.address}/signature"
        answer = self._transport("POST", path, self._one("message", task))
        if self._waits.postpones(answer, now, self._jitter) or answer is None:
            return
        if answer.status != 200:
            reason = REFUSALS.get(answer.status, "the provider cannot parse the request")
            notes.append(f"No token was signed: {reason} (status {answer.status}).")
            return
        token, inverse = self._one("token", task), self._one("inverse", task)
        signature = unblinded(token, signer, answer.body, inverse)
        due = now + (task.closes - now) * (1 + self._jitter()) / 4
        with self._store.transaction():
            # What would link the token to the request is deleted.
            self._store.db.execute(
                "UPDATE token SET message = x'', inverse = x'', signature = ?, due = ?"
                " WHERE address = ?",
                (signature, due, task.address),
            )

    def _one(self, column: str, task: ShuffledTask) -> Any:
        query = f"SELECT {column} FROM token WHERE address = ?"
        row = self._store.db.execute(query, (task.address,)).fetchone()
        return row and row[0]
