"""Atomic file writes, which survive a crash and a power cut."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Where a `with` block is to write what will be at `path`: on disk and in place at its end.

    What was at `path` stays until then, and for good where the block raises. Two processes that
    write one file do not mix. Raises `OSError` where it cannot be written.
    """
    partial = path.with_name(f"part-{os.getpid()}-{path.name}")  # with the ending, which NumPy adds
    try:
        yield partial
        _on_disk(partial)
        partial.replace(path)
        _on_disk(path.parent)
    finally:
        try:
            partial.unlink(missing_ok=True)
        except KeyboardInterrupt:  # one interrupt may come twice, from an engine and from Python
            partial.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write these bytes to a file, as `whole` does."""
    with whole(path) as partial:
        partial.write_bytes(content)


def _on_disk(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
