"""Parquet and Arrow files, scanned once another process has decoded them to their end.

A damaged page may ask for more memory than there is. polars then aborts the process, which no
`except` can catch; or it panics in a thread of its own, prints pages, and leaves out rows without a
word. So a process that may be lost goes first, and counts.
"""

import atexit
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Lock

import polars as pl

from tacit.errors import DataError

PARQUET, ARROW = b"PAR1", b"ARROW1"
WORKER = Path(__file__).with_name("decoding_worker.py")
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What a damaged file is to polars, where it survives."""
SCANS = {PARQUET: pl.scan_parquet, ARROW: pl.scan_ipc}


def decodable(stored: Path | bytes, magic: bytes, where: object) -> pl.LazyFrame:
    """As `scan`, tried before; raises `DataError` where rows would be lost, or the process."""
    if not _trial.survives(SCANS[magic].__name__, stored):
        raise DataError(f"{where} is damaged: decoding it loses rows; write it again.")
    return scan(stored, magic)


def scan(stored: Path | bytes, magic: bytes) -> pl.LazyFrame:
    """A file that begins with `PARQUET` or `ARROW`; collecting it may raise one of `BROKEN`."""
    return SCANS[magic](stored if isinstance(stored, Path) else io.BytesIO(stored))


class _Trial:
    """One worker for all files, started for the first of them and again after one that ends it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._worker: subprocess.Popen[bytes] | None = None

    def survives(self, name: str, stored: Path | bytes) -> bool:
        """Whether decoding leaves the worker alive and well; True where none can be started."""
        in_memory = isinstance(stored, bytes)
        path, data = ("", stored) if in_memory else (str(stored.absolute()), b"")
        with self._lock:
            if self._worker is None and not self._start():
                return True
            answer = self._ask(json.dumps([name, path, len(data)]).encode() + b"\n" + data)
            if not answer:
                self.close()
            return answer == b"sound\n"

    def _start(self) -> bool:
        # Where no second Python can be started, files are read untried, as all of them once were.
        if not sys.executable:
            return False
        self._worker = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],  # -P: its folder is not for imports
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"RUST_BACKTRACE": "0"},  # which nobody would read, and takes seconds
        )
        if self._ask(b""):
            return True
        self.close()
        return False

    def _ask(self, request: bytes) -> bytes:
        worker = self._worker
        assert worker is not None
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(request)
            worker.stdin.flush()
        except BrokenPipeError:
            return b""
        return worker.stdout.readline()

    def close(self) -> None:
        """End the worker: it would outlive whoever asked."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.communicate()

    def forget(self) -> None:
        """In a forked process: the worker belongs to the one that started it."""
        self._lock, self._worker = Lock(), None


_trial = _Trial()
atexit.register(_trial.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_trial.forget)
