"""ISO dates and times as Unix seconds."""

import re
from datetime import datetime

import polars as pl

ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d.*)?")
EXAMPLES = "2024-05-31 or 2024-05-31T12:00:00Z"
_FULL = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?")
_ZONE = r"(Z|[+-]\d\d:?\d\d)$"


def unix_seconds(column: str) -> pl.Expr:
    """Convert texts in a column to integer Unix seconds, null unless they are ISO dates or times.

    A date is its midnight. Without a time zone, times are in UTC.

    >>> pl.DataFrame({"at": ["1970-01-02", "1970-01-01 01:00:00+01:00"]}).select(
    ...     unix_seconds("at")
    ... )["at"].to_list()
    [86400, 0]
    """
    text = pl.col(column).str.strip_chars().str.replace(" ", "T", literal=True)
    timed = pl.when(text.str.contains("T", literal=True)).then(text).otherwise(text + "T00:00:00")
    zoned = pl.when(timed.str.contains(_ZONE)).then(timed).otherwise(timed + "Z")
    checked = pl.when(text.str.contains(f"^{_FULL.pattern}$")).then(zoned)
    return checked.str.to_datetime("%+", time_zone="UTC", strict=False).dt.epoch("s").alias(column)


def is_iso(text: str) -> bool:
    """Return whether the text is a date or time that `unix_seconds` accepts."""
    if not _FULL.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
