"""Rows of frames and of files that polars scans, in order, in batches of a million.

Parquet and Arrow files, scanned after a trial decoding in another process.

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
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from tacit.errors import DataError, RequestError
from tacit.readers.declared_scale import DeclaredScale
from tacit.readers.format import TIME_EXAMPLES, Request, unix_seconds
from tacit.readers.gather import ROWS
from tacit.readers.text import missing, rating_fault, shown
from tacit.scale import THERE

PARQUET, ARROW = b"PAR1", b"ARROW1"
WORKER = Path(__file__).with_name("decoding_worker.py")
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""Exceptions of polars for a damaged file."""
SCANS = {PARQUET: pl.scan_parquet, ARROW: pl.scan_ipc}


def decodable(stored: Path | bytes, magic: bytes, where: object) -> pl.LazyFrame:
    """Scan a file after a trial decoding. Raises `DataError` if it would lose rows or abort."""
    if not _trial.survives(SCANS[magic].__name__, stored):
        raise DataError(f"{where} is damaged: decoding it loses rows; write it again.")
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


def read_lazy(lazy: pl.LazyFrame, where: str, request: Request) -> Iterator[pl.DataFrame]:
    """Yield the rows of a polars table in batches of a million. Raises `DataError` with the row."""
    schema = lazy.collect_schema()
    require(where, schema.names(), request)
    renaming = request.renaming(schema.names())
    wanted = [
        _read_as(schema[theirs], ours, theirs, where).alias(ours)
        for theirs, ours in renaming.items()
        if ours != "rating" or theirs == request.columns.rating or schema[theirs] != pl.Boolean
    ]
    row = 1
    for frame in lazy.select(wanted).collect_batches(chunk_size=ROWS, maintain_order=True):
        _check(frame, row, where, request.grid)
        row += len(frame)
        yield frame.cast({"held_out": pl.Boolean()}) if "held_out" in frame.columns else frame


def _read_as(dtype: pl.DataType, ours: str, theirs: str, where: str) -> pl.Expr:
    """Return the expression of a column, with times converted to Unix seconds."""
    if ours == "timestamp" and isinstance(dtype, pl.Datetime | pl.Date):
        return pl.col(theirs).dt.epoch("s")
    if ours == "timestamp" and isinstance(dtype, pl.String):
        return unix_seconds(theirs)
    if ours == "timestamp" and dtype.is_float():
        return pl.col(theirs).floor().cast(pl.Int64(), strict=False)
    return pl.col(theirs).cast(_kind(dtype, ours, theirs, where))


def _kind(dtype: pl.DataType, ours: str, theirs: str, where: str) -> pl.DataType:
    """Return the type to cast a column to. Raises `DataError` for an unsuitable type.

    A column without values has no type.
    """
    if dtype == pl.Null:
        return {"rating": pl.Float64(), "user": pl.String(), "item": pl.String()}.get(
            ours, pl.Int64()
        )
    if ours == "rating" and dtype.is_numeric():
        return pl.Float64()
    if ours == "held_out" and (dtype.is_integer() or dtype == pl.Boolean):
        return pl.Int64()
    if ours in ("user", "item") and dtype.is_integer():
        return dtype
    if ours == "timestamp" and dtype.is_integer():
        return pl.Int64()
    if ours in ("user", "item") and isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return pl.String()
    needs = {
        "rating": "numbers",
        "timestamp": "integer Unix seconds, dates or times",
        "held_out": "0 and 1, or true and false",
    }.get(ours, "integers or text")
    raise DataError(f"{where}: column '{theirs}' must contain {needs}, got {dtype}.")


def _check(frame: pl.DataFrame, row: int, where: str, grid: DeclaredScale | None) -> None:
    for name in frame.columns:
        if (absent := missing(frame[name])).any():
            first = row + int(absent.arg_max() or 0)
            fault = (
                f"missing, or not a date such as {TIME_EXAMPLES}"
                if name == "timestamp"
                else "missing"
            )
            raise DataError(f"{where}, row {first}: the {name} is {fault}; fill or drop the row.")
    if "held_out" in frame.columns and not (held := frame["held_out"].is_between(0, 1)).all():
        raise DataError(
            f"{where}, row {row + int(held.arg_min() or 0)}: the held-out column must contain 0 "
            "or 1; correct the row."
        )
    if "rating" not in frame.columns:
        return
    ratings = frame["rating"].to_numpy()
    admitted = np.isfinite(ratings) if grid is None else grid.admits(ratings)
    if not admitted.all():
        at = int(np.argmin(admitted))
        value = f"{ratings[at]:g}"
        fault = rating_fault(value, grid) or f"rating {shown(value)} is off the scale"
        raise DataError(f"{where}, row {row + at}: {fault}.")


def require(where: object, names: list[str], request: Request) -> None:
    """Raise `DataError` unless a table with these names has the required columns, each once."""
    if twice := [name for name in request.renaming(names) if names.count(name) > 1]:
        raise DataError(
            f"{where}, line 1: column {shown(twice[0])} occurs {names.count(twice[0])} times; "
            "rename the duplicates."
        )
    if missing := request.missing(names):
        absent = ", ".join(map(shown, missing))
        raise DataError(
            f"{where}, line 1: {'column' if len(missing) == 1 else 'columns'} {absent} must be "
            f"among {shown(', '.join(names))}; {_remedy(missing, request)}."
        )


def _remedy(missing: Sequence[str], request: Request) -> str:
    """Return the remedy for all missing columns at once."""
    ours = request.columns.renaming(missing).values()
    parts = ["name the held-out column"] if request.held_out in missing else []
    if ours:
        names = ", ".join(f"'{name}': 'NAME'" for name in ours)
        options = ",".join(f"{name}=NAME" for name in ours)
        parts.append(
            f"name the columns, as in columns={{{names}}} of as_ratings (--columns {options})"
        )
    if "rating" in ours:
        parts.append(f"or pass scale='{THERE}' (--implicit) if each row is an interaction")
    return ", ".join(parts)


def as_lazy(frame: Any) -> pl.LazyFrame:
    """Convert a polars or pandas frame, or another object with named columns, to a lazy frame.

    Raises `RequestError` for an object without columns.
    """
    if isinstance(frame, pl.LazyFrame):
        return frame
    if not hasattr(frame, "columns"):
        raise RequestError(
            f"Expected a polars or pandas frame, got {type(frame).__name__}; `tacit.as_ratings` "
            "also takes paths and arrays."
        )
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    columns = {str(name): np.asarray(frame[name]) for name in frame.columns}
    return pl.DataFrame({name: _series(name, values) for name, values in columns.items()}).lazy()


def _series(name: str, values: Any) -> pl.Series:
    """Convert a column. Raises `DataError` if its values have several types."""
    # pandas stores text as an object column. From a list, polars infers the actual type.
    data = values.tolist() if values.dtype == object else values
    try:
        return pl.Series(name, data)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        kinds = ", ".join(sorted({type(one).__name__ for one in data}))
        raise DataError(
            f"frame: column {name!r} has mixed types ({kinds}); convert it to one type."
        ) from error
