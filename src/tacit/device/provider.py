"""What a store knows of one provider: its tasks, its newest model, and when not to call it."""

from collections.abc import Callable
from typing import Any

from tacit.device.store import Store
from tacit.device.transport import Answer
from tacit.wire.task import Task

Chance = Callable[[], float]
"""A share from 0 to 1, drawn anew each time: it spreads waits and touches no answer."""
FIRST_WAIT, LONGEST_WAIT = 60.0, 7200.0
"""Seconds to wait after a failure: at most so long at first, and in the end."""
LATER = (408, 429, 431)
"""Statuses that mean "not now", as does any from 500 on, and no answer at all."""
FORGIVEN = 100_000.0
"""Seconds: a longer wait than any that was ever set comes from a clock that was wrong."""


class Provider:
    """The provider at a URL, in one person's store."""

    def __init__(self, store: Store, url: str) -> None:
        self.store, self._url = store, url.rstrip("/")

    def tasks(self) -> list[tuple[int, str, bytes]]:
        """Number, address and document of every task it ever asked, the latest met first."""
        return self.store.db.execute(
            "SELECT number, address, document FROM task WHERE provider = ? ORDER BY number DESC",
            (self._url,),
        ).fetchall()

    def adopt(self, task: Task) -> int:
        """Make a verified task the current one; gives its number in the store.

        A model for another task is dropped: its ids may mean other things.
        """
        with self.store.transaction():
            self.store.db.execute(
                "INSERT INTO task (address, provider, document) VALUES (?1, ?2, ?3) "
                "ON CONFLICT (address) DO UPDATE SET provider = ?2",
                (task.address, self._url, task.document),
            )
            number = self._one("SELECT number FROM task WHERE address = ?", task.address)
            if number != self._get("task"):
                self._set("model", None)
                self._set("task", number)
        return number

    def document(self, address: str) -> bytes | None:
        """The document of that address, where it has been met before."""
        return self._one("SELECT document FROM task WHERE address = ?", address)

    @property
    def current(self) -> str | None:
        """The address of the task answered last."""
        query = "SELECT address FROM task JOIN provider ON task = number WHERE url = ?"
        return self._one(query, self._url)

    @property
    def model(self) -> tuple[str, bytes] | None:
        """Address and bytes of the item model fetched last."""
        address, document = self._get("model"), self._get("model_document")
        return None if address is None else (address, document)

    def keep_model(self, address: str, document: bytes) -> None:
        """Keep an item model for when the provider cannot be reached."""
        with self.store.transaction():
            self._set("model", address)
            self._set("model_document", document)

    def again(self, now: float) -> float | None:
        """Unix seconds before which not to call; None when it may be called."""
        moment = self._get("not_before") or 0.0
        return moment if now < moment < now + FORGIVEN else None

    def postpones(self, answer: Answer | None, now: float, chance: Chance) -> bool:
        """Whether this answer, or none, means "not now".

        If so, it is not called for as long as it says, and after that for a random part of a time
        that doubles with every failure, until `relieve`.
        """
        if answer is not None and answer.status not in LATER and answer.status < 500:
            return False
        failures = self._get("failures") or 0
        longest = min(FIRST_WAIT * 2 ** min(failures, 16), LONGEST_WAIT)
        asked = answer.retry_after if answer is not None else 0
        self._wait(failures + 1, now + asked + chance() * longest)
        return True

    def relieve(self) -> None:
        """It took all that waited: the next failure is a first one."""
        if self._get("failures"):
            self._wait(0, 0.0)

    def _wait(self, failures: int, until: float) -> None:
        with self.store.transaction():
            self._set("failures", failures)
            self._set("not_before", until)

    def _get(self, column: str) -> Any:
        return self._one(f"SELECT {column} FROM provider WHERE url = ?", self._url)

    def _set(self, column: str, value: object) -> None:
        upsert = f"ON CONFLICT (url) DO UPDATE SET {column} = excluded.{column}"
        insert = f"INSERT INTO provider (url, {column}) VALUES (?, ?) {upsert}"
        self.store.db.execute(insert, (self._url, value))

    def _one(self, query: str, key: str) -> Any:
        found = self.store.db.execute(query, (key,)).fetchone()
        return found and found[0]
