"""Result files: one row per experiment. Figures and tables are computed from rows only."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, cast, get_args, get_origin

import polars as pl

from tacit.errors import DataError, RequestError
from tacit.metrics.accuracy import Slice
from tacit.privacy.guarantee import Trust, Unit
from tacit.whole_files import whole, write_whole
from tacit.wire.strict import brief


class Record(Protocol):
    """A row of a result file: a frozen dataclass of numbers, strings and nulls."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. Missing figures are null."""
        ...

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        ...


AnyRow = TypeVar("AnyRow", bound=Record)


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """One model with one channel at one epsilon on one split, evaluated at one location.

    Epsilons are in nats. `where`: "provider" predicts from reports only, "device" from the user's
    true ratings and the published item model, "curator" from true ratings. `unit`: what `epsilon`
    protects. `claim_valid`: False if the guarantee is known to fail, None without a guarantee.
    `uncovered`: undeclared parts that the guarantee does not cover ("the catalogue, the set of
    people"), or None. `empty_epsilon`: `epsilon` where one of two profiles is empty, for shuffled
    messages, else None. `items`: columns of the public item table that the model used ("title,
    genres"), or None. `plugins`: the channel or model that comes from a plug-in, and the plug-in
    ("halfway of my-package 1.0"), or None. `cold_users`: number of users with a test rating and no
    training rating, whom top-N metrics exclude for every model. None for none. `ranked_by`: "gain"
    for lists of a rating model by expected gain, else None. `niche_ndcg_at_20`:
    NDCG@20 of the quarter of users whose items are least popular, NaN in rows of earlier versions.
    `rmse_of_mean`: RMSE of the mean of the true training ratings. `information_efficiency`: on the
    device, if the model also ran without privacy, as `tacit.experiments.comparison.comparison`
    defines it. `slices`: the error by decile of users and items, None unless requested. Seconds are
    wall seconds; `predict_seconds` covers rating prediction. Metrics that a model or a scale does
    not have are NaN.
    """

    dataset: str
    plan: str
    cap: int | None
    channel: str | None
    channel_id: str | None
    model: str
    mode: str
    where: str
    trust: Trust
    epsilon: float | None
    delta: float
    unit: Unit
    values_epsilon: float | None
    user_epsilon: float | None
    tight_epsilon: float | None
    claim_valid: bool | None
    uncovered: str | None = None
    empty_epsilon: float | None = None
    items: str | None = None
    plugins: str | None = None
    cold_users: int | None = None
    ranked_by: str | None = None
    seed: int
    fold: int | None
    n_train: int
    n_test: int
    rmse: float
    mae: float
    rmse_of_mean: float
    information_efficiency: float
    precision_at_10: float
    recall_at_10: float
    f_score_at_10: float
    ndcg_at_20: float
    recall_at_20: float
    mrr: float
    hit_rate_at_20: float
    coverage_at_20: float
    popularity_at_20: float
    niche_ndcg_at_20: float = math.nan
    fit_seconds: float
    predict_seconds: float
    slices: tuple[Slice, ...] | None = None

    @property
    def method(self) -> str:
        """Name of the model in tables, with the item features used and a mark if its guarantee is
        known to fail."""
        known = self.model if self.items is None else f"{self.model} knowing {self.items}"
        return known if self.claim_valid is not False else f"{known}, claim fails"

    @property
    def via(self) -> str:
        """The channel, or the plan of a trainer with its unit, which usually differs from that of
        channels."""
        who = "curator" if self.trust == "curator" else self.plan
        return self.channel or f"{who} per {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. Missing figures are null.

        The keys in `OPTIONAL` are omitted if None.
        """
        values = plain(self)
        absent = [key for key in OPTIONAL if values[key] is None]
        return {key: value for key, value in values.items() if key not in absent}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        known = checked(cls, {**dict.fromkeys((*OPTIONAL, *ADDED)), **values}, METRICS)
        if known["slices"] is not None:
            parts = (checked(Slice, part, ("slice_rmse",)) for part in known["slices"])
            known["slices"] = tuple(Slice(**part) for part in parts)
        return cls(**known)


def plain(row: Record) -> dict[str, Any]:
    """Return the values of a row. Missing figures are null."""
    values = asdict(row)
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}


def checked(kind: type[Any], values: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """Validate the values of a row of `kind`. Nulls of `metrics` become NaN.

    Raises `DataError` for unknown or missing keys, and for a value of another type.
    """
    odd = sorted(set(values) ^ {field.name for field in fields(kind)})
    if odd:
        raise DataError(
            f"The key '{odd[0]}' of a result row is missing or unknown; run the comparison again."
        )
    for field in fields(kind):
        if not _is_of(field.type, values[field.name]):
            raise DataError(
                f"The value {brief(values[field.name])!r} of '{field.name}' in a result row has "
                "the wrong type; run the comparison again."
            )
    absent = {key: float("nan") for key in metrics if values[key] is None}
    return {**values, **absent}


def _is_of(kind: Any, value: Any) -> bool:
    """Return whether a JSON value has the type of a field. Missing figures are null."""
    if options := get_args(kind):
        if get_origin(kind) is Literal:
            return value in options
        if get_origin(kind) is tuple:
            return isinstance(value, list)
        return any(_is_of(each, value) for each in options)
    if kind is float and (value is None or isinstance(value, float)):
        return True
    if kind in (int, float):
        return type(value) is int and abs(value) < MOST
    return isinstance(value, kind) and (kind is not str or _is_encodable(value))


def _is_encodable(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


MOST = 1 << 63
"""Upper bound of 64-bit integers, exclusive."""
OPTIONAL = ("empty_epsilon", "items", "plugins", "cold_users", "ranked_by", "slices")
ADDED = ("niche_ndcg_at_20",)
"""Keys that rows of earlier versions do not have."""
KEYS = tuple(field.name for field in fields(ResultRow) if field.name not in OPTIONAL)
"""Keys that every row has."""
STARS = ("rmse", "mae", "rmse_of_mean", "information_efficiency", "precision_at_10",
         "recall_at_10", "f_score_at_10")  # fmt: skip
"""Metrics of predicted ratings. The last three rank test items, as the papers do."""
LISTS = ("ndcg_at_20", "recall_at_20", "mrr", "hit_rate_at_20", "coverage_at_20",
         "popularity_at_20")  # fmt: skip
"""Metrics of top-20 lists over the complete catalogue, as `tacit.metrics.lists` defines them."""
METRICS = (*STARS, *LISTS, "niche_ndcg_at_20")
TYPES: dict[Any, pl.DataType] = {
    float: pl.Float64(),
    float | None: pl.Float64(),
    int: pl.Int64(),
    int | None: pl.Int64(),
    bool | None: pl.Boolean(),
}
TYPES[tuple[Slice, ...] | None] = pl.List(
    pl.Struct({field.name: TYPES.get(field.type, pl.String()) for field in fields(Slice)})
)


def to_frame(rows: Sequence[Record], kind: type[Record] = ResultRow) -> pl.DataFrame:
    """Return rows as a polars frame, one column per field, without empty optional columns."""
    schema = {field.name: TYPES.get(field.type, pl.String()) for field in fields(kind)}
    frame = pl.DataFrame([row.to_dict() for row in rows], schema=schema)
    absent = [key for key in OPTIONAL if key in schema and frame[key].null_count() == len(frame)]
    return frame.drop(absent)


def save(rows: Sequence[Record], path: Path, kind: type[Record] = ResultRow) -> None:
    """Write the rows as JSON to `path` and as Parquet next to it, each atomically."""
    text = ",\n".join(json.dumps(row.to_dict(), allow_nan=False) for row in rows)
    write_whole(path, f"[\n{text}\n]\n".encode())
    with whole(path.with_suffix(".parquet")) as partial:
        to_frame(rows, kind).write_parquet(partial)


def load(path: Path) -> list[ResultRow]:
    """Read the rows that `save` wrote. Raises `DataError` if the file is not a result file."""
    try:
        rows = json.loads(path.read_text())
        if not isinstance(rows, list):
            raise TypeError("it is not a list of rows")
        return [ResultRow.from_dict(values) for values in cast("list[Any]", rows)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path} is not a result file ({error}); run the comparison again."
        ) from error


ROWS = (".parquet",)
"""Suffixes of files that are written next to the JSON of rows."""


def writable(*paths: Path | None, read: Sequence[object] = (), beside: Sequence[str] = ()) -> None:
    """Raise `RequestError` for an output that cannot be written, or that would replace an input.

    `read`: the inputs. Those that are not paths are ignored. `beside`: suffixes of files that are
    written next to each of `paths`, and that must not replace a file that is not a result.
    """
    sources = {Path(source).resolve() for source in read if isinstance(source, str | Path)}
    for path in filter(None, paths):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise RequestError(f"{path} cannot be written; name a file in an existing folder.")
        for target in (path, *map(path.with_suffix, beside)):
            if target.resolve() in sources:
                raise RequestError(
                    f"{target} is an input and would be overwritten; choose another name for the "
                    "result."
                )
            if target != path and target.exists() and not _is_result(target):
                raise RequestError(
                    f"{target} is not a result and would be overwritten, as it is written next to "
                    f"{path}; choose another name for the result."
                )


MARKS = {
    ".toml": b"\n[compare]\n",
    ".json": b'"tacit-label-1"',
    ".html": b"<title>Label: ",
}
"""What identifies a result that is written next to another, by suffix."""


def _is_result(path: Path) -> bool:
    """Return whether a file was written next to a result. All tables of results have epsilons."""
    if not path.is_file():
        return False
    if path.suffix in MARKS:
        return MARKS[path.suffix] in path.read_bytes()
    try:
        return "epsilon" in pl.read_parquet_schema(path)
    except (OSError, pl.exceptions.PolarsError):
        return False
