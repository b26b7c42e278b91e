"""Atomic file writes, which survive a crash and a power cut."""

import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex

from tacit.errors import RequestError

ABANDONED = 86_400
"""Age in seconds of the last write, from which a partial file is one that a killed process left."""


@contextmanager
def atomic(path: Path, *, private: bool = False) -> Generator[Path]:
    """Yield a temporary path, which replaces `path` at the end of the block, durably.

    Until then, and if the block raises, `path` is unchanged. Processes that write the same file do
    not interfere. `private`: for a file with personal data, which only its owner can read from the
    beginning. Partial files of it that a killed process left a day ago are deleted.

    Raises `OSError` if it cannot be written.
    """
    if private:
        _delete_abandoned(path)
    # A random name: two containers may have the same process numbers. NumPy requires the suffix.
    partial = path.with_name(f"part-{token_hex(8)}-{path.name}")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
    try:
        yield partial
        _on_disk(partial)
        partial.replace(path)
        _on_disk(path.parent)
    finally:
        try:
            partial.unlink(missing_ok=True)
        except KeyboardInterrupt:  # an interrupt may arrive twice, from an engine and from Python
            partial.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write bytes to a file atomically and durably, as `atomic` does."""
    with atomic(path, private=private) as partial:
        partial.write_bytes(content)


def require_distinct(outputs: Sequence[Path], inputs: Sequence[object]) -> None:
    """Raise `RequestError` for an output that would replace an input or another output.

    `inputs`: those that are not paths are ignored.
    """
    sources = {Path(source).resolve() for source in inputs if isinstance(source, str | Path)}
    known = set[Path]()
    for path in outputs:
        target = path.resolve()
        if target in sources:
            raise RequestError(
                f"{path} is an input and would be overwritten; choose another name for the result."
            )
        if target in known:
            raise RequestError(
                f"{path} is the name of two results, one of which would be overwritten; choose "
                "another name for one of them."
            )
        known.add(target)


def _delete_abandoned(path: Path) -> None:
    for partial in path.parent.glob(f"part-*-{escape(path.name)}*"):
        with suppress(FileNotFoundError):
            if time.time() - partial.stat().st_mtime > ABANDONED:
                partial.unlink()


def _on_disk(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
