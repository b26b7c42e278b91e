"""The keys under which tokens are counted: a file outside the database that cannot be turned back.

It holds a state s and the keys of epochs that run. An epoch's key is HMAC(s, task, epoch) under the
state of the UTC day on which the epoch began. Once a day s becomes SHA-256(s), and a key goes when
its epoch ends: from a later file no earlier key follows. From an earlier one every later key does,
so a copy is as secret as the file, and so is the memory of the process.
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

from tacit.collector.limits.epoch import Epoch
from tacit.errors import DataError, RequestError
from tacit.wire import strict
from tacit.wire.task import DAY

FORMAT = "tacit-token-keys-1"
FIELDS = ("format", "day", "state", "keys")
KEY_FIELDS = ("task", "epoch", "ends", "key")
LONGEST = 1 << 24
WHAT = "The file of keys"


class _Key(NamedTuple):
    ends: int
    key: bytes


class EpochKeys:
    """The file at `path`, made where there is none. Several processes may share it.

    `now`: Unix seconds. Raises `RequestError` for a file that others may read, or that is none.
    """

    def __init__(self, path: Path, now: float) -> None:
        self._path = path.resolve()  # a link would keep the state that is to be replaced
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
        """The key of an epoch, 32 bytes: on disk when it is returned, so that it is the same one
        after a crash. Raises `OSError` and `RequestError` as the file does."""
        if (epoch.task, epoch.number) not in self._keys:
            with self._locked() as folder:
                self._read()
                self._make(epoch)
                self._write(folder)
        return self._keys[epoch.task, epoch.number].key

    def turn(self, running: Iterable[Epoch], now: float) -> None:
        """Go on to the day of `now`: make the keys of every epoch that runs, replace the state once
        for each day that began, and let go of keys whose epochs ended."""
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
        """Of an epoch that began before the state's day, the state of that day is gone, and the key
        is made under this one: a collector begins with it, and others copy it."""
        if (epoch.task, epoch.number) not in self._keys:
            state = _later(self._state, epoch.begins // DAY - self._day)
            text = f"tacit-tokens-1\n{epoch.task.hex()}\n{epoch.number}"
            key = hmac.digest(state, text.encode(), "sha256")
            self._keys[epoch.task, epoch.number] = _Key(epoch.ends, key)

    @contextmanager
    def _locked(self) -> Generator[int]:
        """The folder, to nobody else while the file in it is replaced."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(folder)

    def _read(self) -> bool:
        """Take what the file says; False where there is none."""
        try:
            file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        with open(file, "rb") as opened:
            if stat.S_IMODE(os.fstat(file).st_mode) & 0o077:
                raise RequestError(
                    f"{self._path} is accessible to others, who could use it to link tokens to "
                    "people. Run chmod 600 on it."
                )
            content = opened.read(LONGEST + 1)
        try:
            self._day, self._state, self._keys = _loads(content)
        except (DataError, ValueError):  # whose sentences repeat what they found
            raise RequestError(
                f"{self._path} does not contain token keys. Copy the key file of a "
                "collector that uses this database; if none is left, remove this file "
                "and the counts."
            ) from None
        return True

    def _write(self, folder: int) -> None:
        """All or nothing, on disk on return; then what the file held before is overwritten."""
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
    """Raises `DataError` and `ValueError` for anything but what `_dumps` wrote."""
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
