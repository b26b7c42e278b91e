"""Parquet and Arrow files, scanned after a trial decoding in another process.

A damaged page may request more memory than available. polars then aborts the process, which
`except` cannot catch, or panics in one of its threads, prints a long trace, and silently drops
rows. A disposable process therefore decodes the file first, and counts the rows.
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
"""Exceptions of polars for a damaged file."""
SCANS = {PARQUET: pl.scan_parquet, ARROW: pl.scan_ipc}


def decodable(stored: Path | bytes, magic: bytes, where: object) -> pl.LazyFrame:
    """Scan a file after a trial decoding. Raises `DataError` if it would lose rows or abort."""
    if not _trial.survives(SCANS[magic].__name__, stored):
        raise DataError(f"{where} is damaged: rows are lost when it is decoded; write it again.")
    return scan(stored, magic)


def scan(stored: Path | bytes, magic: bytes) -> pl.LazyFrame:
    """Scan a file with the magic bytes `PARQUET` or `ARROW`. Collecting may raise `BROKEN`."""
    return SCANS[magic](stored if isinstance(stored, Path) else io.BytesIO(stored))


class _Trial:
    """One worker for all files, started on first use, and again after a crash."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._worker: subprocess.Popen[bytes] | None = None

    def survives(self, name: str, stored: Path | bytes) -> bool:
        """Return whether the worker decodes the file completely. True if none can be started."""
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
        # Without a second Python interpreter, files are read without a trial.
        if not sys.executable:
            return False
        self._worker = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],  # -P: no imports from its folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"RUST_BACKTRACE": "0"},  # a backtrace would take seconds
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
        """Terminate the worker, which would otherwise outlive this process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.communicate()

    def forget(self) -> None:
        """Drop the worker in a forked process. It belongs to the parent."""
        self._lock, self._worker = Lock(), None


_trial = _Trial()
atexit.register(_trial.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_trial.forget)
