"""Atomic file writes, which survive a crash and a power cut."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Yield a temporary path, which replaces `path` at the end of the block, durably.

    Until then, and if the block raises, `path` is unchanged. Processes that write the same file do
    not interfere. Raises `OSError` if it cannot be written.
    """
    partial = path.with_name(f"part-{os.getpid()}-{path.name}")  # NumPy requires the suffix
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


def write_whole(path: Path, content: bytes) -> None:
    """Write bytes to a file atomically and durably, as `whole` does."""
    with whole(path) as partial:
        partial.write_bytes(content)


def _on_disk(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
