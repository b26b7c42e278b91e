"""The tombstone file: deletions that outlive the store, so that no backup brings reports back.

A store forgets an erasure once no report from before it can arrive. A backup may be older. The file
keeps each erasure until the retention period of the erased reports has ended, after which the
collector deletes them from a restored store in any case.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.atomic_files import atomic
from tacit.collector.administration.summary import questions
from tacit.collector.ingest.retention import LATE, due
from tacit.collector.storage.store import Inspector
from tacit.errors import DataError, RequestError
from tacit.wire import strict
from tacit.wire.tasks.task import Task

FORMAT = "tacit-tombstones-1"
LONGEST = 1 << 28
WHAT = "The tombstone file"

Tombstones = dict[tuple[str, bytes], int]
"""Epoch of the last erasure by a task's question and the pseudonym."""


def of_store(inspector: Inspector) -> Tombstones:
    """Return the tombstones that a store still has."""
    by_number = questions(inspector.tasks())
    tombstones: Tombstones = {}
    for task, person, epoch in inspector.tombstones():
        if task in by_number:
            key = by_number[task][0].question, person
            tombstones[key] = max(epoch, tombstones.get(key, epoch))
    return tombstones


def read(path: Path) -> Tombstones:
    """Read a tombstone file. Raises `RequestError` for another file, and `OSError`."""
    content = path.read_bytes()
    with suppress(DataError, ValueError):
        fields = strict.fields(strict.parse(content, WHAT, LONGEST), WHAT, ("format", "erased"))
        if fields["format"] == FORMAT:
            return dict(strict.listed(fields["erased"], "erased", _entry, WHAT))
    raise RequestError(f"{path} is not a tombstone file; write one with tacit admin tombstones.")


def record(path: Path, inspector: Inspector, now: float) -> int:
    """Add the tombstones of a store to a file, created if missing. Returns their number in it.

    Those whose reports have expired by `now` (Unix seconds) are left out. The file has owner-only
    permissions. Raises `RequestError` for another file.
    """
    tombstones = merged([read(path) if path.exists() else {}, of_store(inspector)])
    tasks = {task.question: task for task, *_ in questions(inspector.tasks()).values()}
    unexpired = {
        key: epoch for key, epoch in tombstones.items() if _matters(tasks, key, epoch, now)
    }
    listed = [
        {"question": question, "person": person.hex(), "epoch": epoch}
        for (question, person), epoch in sorted(unexpired.items())
    ]
    with atomic(path, private=True) as partial:
        partial.write_text(json.dumps({"format": FORMAT, "erased": listed}) + "\n")
    return len(unexpired)


def merged(several: Iterable[Tombstones]) -> Tombstones:
    """Return all tombstones, the latest epoch of each."""
    together: Tombstones = {}
    for tombstones in several:
        for key, epoch in tombstones.items():
            together[key] = max(epoch, together.get(key, epoch))
    return together


def _matters(tasks: Mapping[str, Task], key: tuple[str, bytes], epoch: int, now: float) -> bool:
    task = tasks.get(key[0])
    return task is None or due(task, now) < epoch + LATE


def _entry(value: Any) -> tuple[tuple[str, bytes], int]:
    fields = strict.fields(value, WHAT, ("question", "person", "epoch"))
    question, person = (strict.typed(fields, name, str, WHAT) for name in ("question", "person"))
    raw = bytes.fromhex(person)
    if len(raw) != 16:
        raise ValueError("16 bytes")
    return (question, raw), strict.typed(fields, "epoch", int, WHAT)
