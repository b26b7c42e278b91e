"""Keys of token counts, in a file outside the database, with forward secrecy.

The file holds a state s and the keys of running epochs. An epoch's key is HMAC(s, task, epoch)
under the state of the UTC day on which the epoch began. Once a day s becomes SHA-256(s), and a key
is deleted when its epoch ends: earlier keys cannot be computed from a later file. Later keys can be
computed from an earlier one, so a copy is as secret as the file, and so is the memory of the
process.
"""

import fcntl
import hmac
import json
import os
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tacit.errors import DataError, RequestError
from tacit.wire import strict
from tacit.wire.tasks.task import Task
from tacit.wire.tasks.terms import DAY

# Epochs of tasks, as used by limits.


class Epoch(NamedTuple):
    """`task`: the address it is counted under, 32 bytes. `begins`, `ends`: Unix seconds."""

    task: bytes
    number: int
    begins: int
    ends: int


def counted(task: Task) -> bytes:
    """Return the address under which reports to a task are counted, 32 bytes.

    It is that of the question, so a task and its continuation are counted together.
    """
    return bytes.fromhex(task.question)


def epoch_of(task: Task, number: int) -> Epoch:
    """Return the epoch with this number."""
    begins = task.start + number * task.epoch_seconds
    return Epoch(counted(task), number, begins, begins + task.epoch_seconds)


FORMAT = "tacit-token-keys-1"
FIELDS = ("format", "day", "state", "keys")
KEY_FIELDS = ("task", "epoch", "ends", "key")
LONGEST = 1 << 24
WHAT = "The key file"


class _Key(NamedTuple):
    ends: int
    key: bytes


OTHER_KEYS = (
    "The stored token counts were made with keys other than those in the file. Copy the key file "
    "from a collector that uses this database; if none is left, remove the counts, as described on "
    "the page on operating a collector."
)


class EpochKeys:
    """The key file at `path`, created if missing. Several processes may share it.

    `now`: Unix seconds. Raises `RequestError` for a file that others may read, or that is not a key
    file.
    """

    def __init__(self, path: Path, now: float) -> None:
        self._path = path.resolve()  # replacing a link would leave the old state
        self._partial = self._path.with_name(f".{self._path.name}.new")
        self._day, self._state = int(now // DAY), secrets.token_bytes(32)
        self._keys: dict[tuple[bytes, int], _Key] = {}
        try:
            with self._locked() as folder:
                self._partial.unlink(missing_ok=True)
                if not self._read():
                    self._write(folder)
        except OSError as error:
            raise RequestError(f"{path} cannot store token keys: {error}.") from None

    def key(self, epoch: Epoch) -> bytes:
        """Return the key of an epoch, 32 bytes, after storing it, so that it survives a crash.

        Raises `OSError` and `RequestError` as the file does.
        """
        if (epoch.task, epoch.number) not in self._keys:
            with self._locked() as folder:
                self._read()
                self._make(epoch)
                self._write(folder)
        return self._keys[epoch.task, epoch.number].key

    def stored(self, epoch: Epoch) -> bytes | None:
        """Return the key of an epoch; None if the file has none. Changes nothing."""
        with self._locked():
            self._read()
        known = self._keys.get((epoch.task, epoch.number))
        return None if known is None else known.key

    def turn(self, running: Iterable[Epoch], now: float) -> None:
        """Advance to the day of `now`.

        Makes the keys of every running epoch, replaces the state once per day, and deletes keys of
        ended epochs.
        """
        today, wanted = int(now // DAY), list(running)
        if (
            today <= self._day
            and all((epoch.task, epoch.number) in self._keys for epoch in wanted)
            and all(key.ends > now for key in self._keys.values())
        ):
            return
        with self._locked() as folder:
            self._read()
            for epoch in wanted:
                self._make(epoch)
            if today > self._day:
                self._day, self._state = today, _later(self._state, today - self._day)
            self._keys = {name: key for name, key in self._keys.items() if key.ends > now}
            self._write(folder)

    def _make(self, epoch: Epoch) -> None:
        """Make the key of an epoch.

        For an epoch that began before the state's day, the state of that day is gone, and the key
        is made from the current one: one collector starts with it, and others copy the file.
        """
        if (epoch.task, epoch.number) not in self._keys:
            state = _later(self._state, epoch.begins // DAY - self._day)
            text = f"tacit-tokens-1\n{epoch.task.hex()}\n{epoch.number}"
            key = hmac.digest(state, text.encode(), "sha256")
            self._keys[epoch.task, epoch.number] = _Key(epoch.ends, key)

    @contextmanager
    def _locked(self) -> Generator[int]:
        """Lock the folder while the file in it is replaced."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(folder)

    def _read(self) -> bool:
        """Read the file; False if it does not exist."""
        try:
            file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        with open(file, "rb") as opened:
            if stat.S_IMODE(os.fstat(file).st_mode) & 0o077:
                raise RequestError(
                    f"{self._path} is accessible to other accounts, which could use it to link "
                    "tokens to people. Run chmod 600 on it."
                )
            content = opened.read(LONGEST + 1)
        try:
            self._day, self._state, self._keys = _loads(content)
        except (DataError, ValueError):  # their messages repeat the content
            raise RequestError(
                f"{self._path} does not contain token keys. Copy the key file from a collector "
                "that uses this database; if none is left, remove this file and the counts."
            ) from None
        return True

    def _write(self, folder: int) -> None:
        """Write the file atomically and durably, then overwrite its previous content."""
        with open(
            os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as new:
            new.write(_dumps(self._day, self._state, self._keys))
            new.flush()
            os.fsync(new.fileno())
        before: int | None = None
        with suppress(FileNotFoundError):
            before = os.open(self._path, os.O_WRONLY)
        self._partial.replace(self._path)
        os.fsync(folder)
        if before is not None:
            with open(before, "wb") as old:
                old.write(bytes(os.fstat(before).st_size))
                old.flush()
                os.fsync(before)


def mark_of(key: bytes) -> bytes:
    """Return what identifies a key in the counts, 16 bytes."""
    return hmac.digest(key, b"mark", "sha256")[:16]


def _later(state: bytes, days: int) -> bytes:
    for _ in range(days):
        state = sha256(state).digest()
    return state


def _dumps(day: int, state: bytes, keys: dict[tuple[bytes, int], _Key]) -> bytes:
    listed = [
        {"task": task.hex(), "epoch": epoch, "ends": key.ends, "key": key.key.hex()}
        for (task, epoch), key in sorted(keys.items())
    ]
    fields = {"format": FORMAT, "day": day, "state": state.hex(), "keys": listed}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _loads(content: bytes) -> tuple[int, bytes, dict[tuple[bytes, int], _Key]]:
    """Parse the content from `_dumps`. Raises `DataError` and `ValueError` for any other."""
    fields = strict.fields(strict.parse(content, WHAT, LONGEST), WHAT, FIELDS)
    if fields["format"] != FORMAT:
        raise ValueError(FORMAT)
    keys = dict(strict.listed(fields["keys"], "keys", _key, WHAT))
    return strict.typed(fields, "day", int, WHAT), _secret(fields["state"]), keys


def _key(value: Any) -> tuple[tuple[bytes, int], _Key]:
    fields = strict.fields(value, WHAT, KEY_FIELDS)
    epoch, ends = (strict.typed(fields, name, int, WHAT) for name in ("epoch", "ends"))
    return (_secret(fields["task"]), epoch), _Key(ends, _secret(fields["key"]))


def _secret(value: Any) -> bytes:
    raw = bytes.fromhex(value) if isinstance(value, str) else b""
    if len(raw) != 32 or raw.hex() != value:
        raise ValueError("32 bytes")
    return raw
