"""State of one provider in a store: its tasks, its newest model, and when to retry."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tacit.device.storage.store import Store
from tacit.device.transport import Answer
from tacit.errors import CertificateError, MovedError, RequestError
from tacit.wire.origin import origin_of, place_of
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task

Chance = Callable[[], float]
"""Return a number from 0 to 1, drawn anew each time, for jitter of waits. It affects no report."""
FIRST_WAIT, LONGEST_WAIT = 60.0, 7200.0
"""Upper bounds of the wait after a failure, in seconds: the first one, and the largest."""
LATER = (408, 429, 431)
"""Statuses that mean "retry later", as do all from 500 on, and a missing response."""
FORGIVEN = 100_000.0
"""Seconds. A longer wait than any that can be set results from a wrong clock, and is ignored."""


ADOPT = """
INSERT INTO task (question, origin, named, address, provider, document)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (question, origin) DO UPDATE SET address = ?4, provider = ?5, document = ?6,
    named = CASE WHEN EXISTS (SELECT 1 FROM report WHERE report.task = number)
            THEN named ELSE ?3 END
"""
"""A name with reports is kept; until then names are those of the last first task."""


class Named(NamedTuple):
    """Inputs of pseudonyms: a task's address, and its provider if they depend on it."""

    task: str
    provider: str | None


class Provider:
    """The provider at a URL, in one user's store. Raises `RequestError` for an invalid URL.

    `origin`: of requests, which go to its place, an origin and a path: collectors of one provider
    may have different paths. It is the identity of the provider, unless a task has moved there:
    names are then still those for the first origin of the task.
    """

    def __init__(self, store: Store, url: str) -> None:
        self.store, self.origin, self._url = store, origin_of(url), place_of(url)

    def tasks(self) -> list[tuple[int, str, bytes]]:
        """Return number, address and document of all its tasks.

        The current one is first, the others are ordered by the address of the question.
        """
        return self.store.db.execute(
            "SELECT number, address, document FROM task WHERE provider = ?"
            " ORDER BY number IS NOT ?, question",
            (self._url, self._get("task")),
        ).fetchall()

    def earlier(self, address: str) -> tuple[int, Task]:
        """Return number and task of an address that is not the current one's.

        Raises `RequestError` if this provider has no such task in the store.
        """
        _, *others = self.tasks()
        for number, known, document in others:
            if known == address:
                return number, loads(document, address)
        raise RequestError(
            "earlier must be the address of an earlier task of this provider; export() lists them."
        )

    def adopt(self, task: Task) -> tuple[int, Task]:
        """Make a verified task the current one. Returns its number in the store, and the task.

        The same question of the same provider keeps its number, and with it ratings, answers and
        names, in either format: nothing is drawn twice because of a format. So does a task that
        extends or moves the stored one, in which an item has the same index. If the stored task
        extends or moves `task`, it stays the current one. A model of another question is dropped:
        its ids may have another meaning.

        Raises `CertificateError` for a task that names another provider, and for one that extends
        an ancestor of the stored task in another way. Raises `MovedError` for a task that moved
        away from this origin, and `RequestError` for one that names no provider and was received
        from another one before.
        """
        with self.store.transaction():
            task = self._latest(task)
            self._refuse_another_s(task)
            identity = self._identity(task)
            values = (task.question, identity, task.root, task.address, self._url, task.document)
            self.store.db.execute(ADOPT, values)
            number = self._one(
                "SELECT number FROM task WHERE question = ? AND origin = ?", *values[:2]
            )
            if number != self._get("task"):
                self._set("model", None)
                self._set("task", number)
        return number, task

    def named(self, number: int) -> Named:
        """Return the pseudonym inputs of the task with this number."""
        named, question, origin = self.store.db.execute(
            "SELECT named, question, origin FROM task WHERE number = ?", (number,)
        ).fetchone()
        return Named(named, None if named == question else origin)

    def other_format(self, number: int) -> str:
        """Return the address of this provider's same question in the other of its two formats."""
        query = "SELECT question, address, document FROM task WHERE number = ?"
        question, address, document = self.store.db.execute(query, (number,)).fetchone()
        if address != question:
            return question
        return replace(loads(document), provider=self.origin).address

    def document(self, address: str) -> bytes | None:
        """Return the document of an address, if it or its continuation is stored."""
        if document := self._one("SELECT document FROM task WHERE address = ?", address):
            return document
        later = self._one("SELECT document FROM task WHERE question = ?", address)
        before = loads(later).predecessor if later else None
        return before and before.document

    def _latest(self, task: Task) -> Task:
        """Return the stored task of the same question if it extends or moves `task`, else `task`.

        With two extensions of one task, an index could mean two items: the device would report
        ratings of one item as those of the other.
        """
        query = "SELECT document FROM task WHERE question = ? AND origin = ?"
        document = self._one(query, task.question, self._identity(task))
        stored = task if document is None else loads(document)
        if stored.lineage is not None and task.address in stored.ancestors:
            return stored
        is_extension = stored.address in (*task.ancestors, task.address)
        if not is_extension and (stored.lineage is not None or task.lineage is not None):
            raise CertificateError(
                f"The provider extended the task {task.root} in two ways, so the device sends "
                "nothing. Ask the provider to extend the task that devices have."
            )
        return task

    def _identity(self, task: Task) -> str:
        return task.provider or self.origin

    def _refuse_another_s(self, task: Task) -> None:
        if task.origin not in (None, self.origin):
            if self.origin in task.origins:
                raise MovedError(self.origin, task.origins[-1])
            raise CertificateError(
                f"The provider of this task is {task.provider}, but the task was received from "
                f"{self.origin}, so the device sends nothing."
            )
        elsewhere = "SELECT 1 FROM task WHERE named = ? AND origin <> ?"
        if self._one(elsewhere, task.root, self._identity(task)):
            raise RequestError(
                "This task names no provider, and another provider has sent it before, so both "
                "would receive the same pseudonym. Use another store, or request the task in the "
                "format tacit-task-2."
            )

    @property
    def current(self) -> str | None:
        """Address of the current task."""
        query = "SELECT address FROM task JOIN provider ON task = number WHERE url = ?"
        return self._one(query, self._url)

    @property
    def model(self) -> tuple[str, bytes] | None:
        """Address and bytes of the last fetched item model."""
        address, document = self._get("model"), self._get("model_document")
        return None if None in (address, document) else (address, document)

    def keep_model(self, address: str, document: bytes) -> None:
        """Store an item model for when the provider cannot be reached."""
        with self.store.transaction():
            self._set("model", address)
            self._set("model_document", document)

    def again(self, now: float) -> float | None:
        """Return the Unix seconds before which not to send requests; None for no delay."""
        moment = self._get("not_before") or 0.0
        return moment if now < moment < now + FORGIVEN else None

    def postpones(self, answer: Answer | None, now: float, jitter: Chance) -> bool:
        """Return whether this answer, or a missing one, means "retry later".

        If so, requests are delayed for its Retry-After, plus a random part of a time that doubles
        with every failure, until `relieve`.
        """
        if answer is not None and answer.status not in LATER and answer.status < 500:
            return False
        failures = min(max(self._get("failures") or 0, 0), 16)
        longest = min(FIRST_WAIT * 2**failures, LONGEST_WAIT)
        retry_after = answer.retry_after if answer is not None else 0
        self._wait(failures + 1, now + retry_after + jitter() * longest)
        return True

    def relieve(self) -> None:
        """Reset the failures after all pending reports were accepted."""
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
        row = self.store.db.execute(query, keys).fetchone()
        return row and row[0]
