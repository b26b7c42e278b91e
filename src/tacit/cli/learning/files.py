"""Files of `tacit fit`: reports that it reads, and models that it writes."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.models import Fitted, FittedLists
    from tacit.reports import Reports


def only(paths: Sequence[Path], what: str) -> Path | None:
    """Return the path, if any. Raises `RequestError` for several."""
    if len(paths) > 1:
        raise RequestError(f"{what} must be one file, got {len(paths)}.")
    return next(iter(paths), None)


def is_reports(path: Path) -> bool:
    """Return whether the file holds reports: Parquet with their metadata."""
    import polars as pl

    from tacit.collection.report_file import KEY

    try:
        return path.is_file() and KEY in pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError):
        return False


def reports_of(file: Path | None, db: str | None, task: str | None) -> "Reports":
    """Read reports from a file, or those of a task from a store.

    Raises `DataError` for a damaged file, and `RequestError` for a store that does not exist or
    has no such task.
    """
    from tacit.collection.report_file import read_reports
    from tacit.collector.storage import stored_reports
    from tacit.collector.storage.addresses import open_reader
    from tacit.collector.storage.store import at_once

    if file is not None:
        return read_reports(file)
    with closing(open_reader(str(db), at_once())) as reader:
        return stored_reports.reports(reader, task)


def write_model(fitted: "Fitted | FittedLists", output: Path) -> None:
    """Write a rating model, or the downloadable form of a list model, atomically."""
    from tacit.atomic_files import atomic
    from tacit.models import Fitted, list_model

    with atomic(output) as partial:
        if isinstance(fitted, Fitted):
            fitted.save(partial)
        else:
            partial.write_bytes(list_model(fitted).to_bytes())
