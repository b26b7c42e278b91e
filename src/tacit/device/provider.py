"""What a store knows of one provider: its tasks, its newest model, and when not to call it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tacit.device.store import Store
from tacit.device.transport import Answer
from tacit.errors import CertificateError, RequestError
from tacit.wire.origin import origin_of, place_of
from tacit.wire.task import Task, loads

Chance = Callable[[], float]
"""A share from 0 to 1, drawn anew each time: it spreads waits and touches no answer."""
FIRST_WAIT, LONGEST_WAIT = 60.0, 7200.0
"""Seconds to wait after a failure: at most so long at first, and in the end."""
LATER = (408, 429, 431)
"""Statuses that mean "not now", as does any from 500 on, and no answer at all."""
FORGIVEN = 100_000.0
"""Seconds: a longer wait than any that was ever set comes from a clock that was wrong."""


ADOPT = """
INSERT INTO task (question, origin, named, address, provider, document)
VALUES (?1, ?2, ?3, ?3, ?4, ?5)
ON CONFLICT (question, origin) DO UPDATE SET address = ?3, provider = ?4, document = ?5,
    named = CASE WHEN EXISTS (SELECT 1 FROM report WHERE report.task = number)
            THEN named ELSE ?3 END
"""
"""What was reported under a name stays under it; until then names are those of the last task."""


class Named(NamedTuple):
    """What names are made for: a task's address, and its provider where the names are its own."""

    task: str
    provider: str | None


class Provider:
    """The provider at a URL, in one person's store; raises `RequestError` for what is no URL.

    `origin`: who it is. Where it is called is a place, an origin and a path: two collectors of one
    provider may lie under different paths.
    """

    def __init__(self, store: Store, url: str) -> None:
        self.store, self.origin, self._url = store, origin_of(url), place_of(url)

    def tasks(self) -> list[tuple[int, str, bytes]]:
        """Number, address and document of every task it ever asked: the current one first, then by
        the address of the question."""
        return self.store.db.execute(
            "SELECT number, address, document FROM task WHERE provider = ?"
            " ORDER BY number IS NOT ?, question",
            (self._url, self._get("task")),
        ).fetchall()

    def adopt(self, task: Task) -> int:
        """Make a verified task the current one; gives its number in the store.

        The same question of the same provider keeps its number, and with it ratings, answers and
        names, whichever format it comes in: nothing is drawn twice because of a format. A model for
        another question is dropped: its ids may mean other things.

        Raises `CertificateError` for a task that names another provider, `RequestError` for one
        that names none and was met at another one before.
        """
        with self.store.transaction():
            self._refuse_another_s(task)
            values = (task.question, self.origin, task.address, self._url, task.document)
            self.store.db.execute(ADOPT, values)
            number = self._one(
                "SELECT number FROM task WHERE question = ? AND origin = ?", *values[:2]
            )
            if number != self._get("task"):
                self._set("model", None)
                self._set("task", number)
        return number

    def named(self, number: int) -> Named:
        """What the names for the task of that number are made for."""
        named, question, origin = self.store.db.execute(
            "SELECT named, question, origin FROM task WHERE number = ?", (number,)
        ).fetchone()
        return Named(named, None if named == question else origin)

    def other_format(self, number: int) -> str:
        """The address of the same question of this provider in the other of its two formats."""
        query = "SELECT question, address, document FROM task WHERE number = ?"
        question, address, document = self.store.db.execute(query, (number,)).fetchone()
        if address != question:
            return question
        return replace(loads(document), provider=self.origin).address

    def document(self, address: str) -> bytes | None:
        """The document of that address, where it, or the task that goes on with it, was met."""
        if found := self._one("SELECT document FROM task WHERE address = ?", address):
            return found
        later = self._one("SELECT document FROM task WHERE question = ?", address)
        before = loads(later).predecessor if later else None
        return before and before.document

    def _refuse_another_s(self, task: Task) -> None:
        if task.provider not in (None, self.origin):
            raise CertificateError(
                f"This task is asked by {task.provider}, and it came from {self.origin}: "
                "it is not answered."
            )
        elsewhere = "SELECT 1 FROM task WHERE named = ? AND origin <> ?"
        if self._one(elsewhere, task.address, self.origin):
            raise RequestError(
                "This task names no provider, and another provider has sent it before, so both "
                "would receive the same pseudonym. Use another store, or have the task sent as "
                "tacit-task-2."
            )

    @property
    def current(self) -> str | None:
        """The address of the task answered last."""
        query = "SELECT address FROM task JOIN provider ON task = number WHERE url = ?"
        return self._one(query, self._url)

    @property
    def model(self) -> tuple[str, bytes] | None:
        """Address and bytes of the item model fetched last."""
        address, document = self._get("model"), self._get("model_document")
        return None if None in (address, document) else (address, document)

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
        failures = min(max(self._get("failures") or 0, 0), 16)
        longest = min(FIRST_WAIT * 2**failures, LONGEST_WAIT)
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

    def _one(self, query: str, *keys: str) -> Any:
        found = self.store.db.execute(query, keys).fetchone()
        return found and found[0]
