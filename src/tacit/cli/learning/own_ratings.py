"""Profile input of `tacit recommend`: one user's ratings, from their file or a data set."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli import options
from tacit.errors import DataError
from tacit.scale import THERE

if TYPE_CHECKING:
    from tacit.ratings import Ratings

USER_COLUMNS = ("user", "userId", "user_id")
ITEM_COLUMNS = ("item", "movieId")
"""Names of id columns, in order of preference."""


def own_ratings(path: Path, user: str, scale: str) -> "Ratings":
    """Read the ratings of one user, on a scale such as 1:5:1.

    All rows of a csv file without a user column belong to the user. Other files are filtered by
    user id. Raises `DataError` if no row is left or a column is missing.
    """
    header = _header(path) if path.suffix == ".csv" else []
    user_columns = [name for name in USER_COLUMNS if name in header]
    if path.suffix == ".csv" and not user_columns:
        _require_columns(path, header, scale)
        return _all_of(path, header, user, scale)
    from tacit.readers import read

    columns = {"user": user_columns[0]} if user_columns else None
    everybody = read(path, scale=scale, columns=columns, notify=options.notice)
    ratings = everybody.where(everybody.users == everybody.user_ids.code(user))
    if not len(ratings):
        raise DataError(
            f"{path} contains no ratings by user '{user}'; name a user with ratings in the file."
        )
    return ratings


def source_ratings(paths: Sequence[Path], user: str, scale: str) -> "Ratings":
    """Read the ratings of one user from data sets of source domains, on a scale such as 1:5:1.

    With several domains, items that `tacit fit` prefixed are prefixed alike. Raises `DataError` if
    the user has no rating in them.
    """
    from tacit.crossdomain.domains import Domains

    parts = [options.load(path, scale=scale) for path in paths]
    ratings = parts[0] if len(parts) == 1 else Domains.join(parts).ratings
    mine = ratings.where(ratings.users == ratings.user_ids.code(user))
    if not len(mine):
        raise DataError(
            f"{ratings.name} contains no ratings by user '{user}'; name a user of the data, or use "
            "--profile."
        )
    return mine


def _all_of(path: Path, header: list[str], user: str, scale: str) -> "Ratings":
    import polars as pl

    from tacit.readers import from_frame

    as_written = {name: pl.String() for name in header if name in ITEM_COLUMNS}
    try:
        table = pl.read_csv(path, schema_overrides=as_written)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path} cannot be parsed as item,rating ({reason}); correct the file."
        ) from error
    if not len(table):
        raise DataError(f"{path} contains no ratings; write one line per rated item.")
    table = table.with_columns(user=pl.lit(user))
    return from_frame(table, scale=scale, name=str(path), notify=options.notice)


def _require_columns(path: Path, header: list[str], scale: str) -> None:
    """Raise `DataError` unless the header has the required columns of the scale."""
    wanted = ["item"] if scale == THERE else ["item", "rating"]
    lacking = [name for name in wanted if name not in header]
    if "movieId" in header and "item" in lacking:
        lacking.remove("item")
    if lacking:
        raise DataError(
            f"{path}, line 1: the columns must include '{lacking[0]}', got '{','.join(header)}'; "
            f"write comma-separated lines with the header {','.join(wanted)}."
        )


def _header(path: Path) -> list[str]:
    from tacit.readers.text import split

    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            first = file.readline().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} cannot be read ({error}); write a csv file with columns item,rating."
        ) from error
    if "\r" in first:
        raise DataError(f"{path}, line 1: lines end in CR only; save the file with LF or CRLF.")
    return split(first, ",")
