"""`tacit.compare`: accuracy of channels and models against a non-private baseline, in Python."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from tacit.atomic_files import write_atomically
from tacit.collection.named_plans import AUTO, IDENTITY, resolve_auto
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.errors import path as given_path
from tacit.experiments.attacks import quick_attacks
from tacit.experiments.comparison import experiment_file
from tacit.experiments.comparison.comparison import Comparison, ComparisonCell
from tacit.experiments.comparison.measurement import Measurement, with_baseline_columns
from tacit.experiments.comparison.request import CheckedRequest, asked, known_options, protocol
from tacit.experiments.experiment import Experiment, Notify
from tacit.notebook import card
from tacit.progress import bar
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.readers.format import ColumnNames
from tacit.reporting.page import Provenance
from tacit.reporting.plot import in_a_notebook
from tacit.results.attacks.rows import AttackRow
from tacit.results.comparison.chart import TITLES, Chart
from tacit.results.comparison.device_sample import DeviceSample, synthetic_sample
from tacit.results.comparison.report import report
from tacit.results.comparison.row import ResultRow
from tacit.results.comparison.tables import accuracy, as_text, deciding
from tacit.results.guarantee_text import sentences
from tacit.results.records import ROWS, to_frame, writable
from tacit.scale import RatingScale


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """Rows of a comparison, and the request and the ratings behind them.

    Each of `rows` is one model at one epsilon (nats per the row's `unit`) on one split, at one
    location. `str` returns the tables of `tacit compare`.
    """

    rows: tuple[ResultRow, ...]
    request: Comparison
    ratings: Ratings = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return (
            f"<ComparisonResult {self.ratings.name}: {len(self.rows)} rows of "
            f"{len({row.method for row in self.rows})} models>"
        )

    def __str__(self) -> str:
        return as_text(self.rows)

    def _repr_html_(self) -> str:
        """Return the table and the figure of the main metric, for notebooks."""
        metric = deciding(self.rows)
        table = accuracy(self.rows, metric, TITLES[metric])
        picture = in_a_notebook(self.figure(metric), Chart(self.rows, metric).describe())
        caption = f"{self.ratings.name}: {table.caption}"
        return card(caption, table.lines, heading=table.heading, picture=picture)

    @property
    def frame(self) -> pl.DataFrame:
        """A frame of `rows`, one column per field. Epsilon in nats per `unit`."""
        return to_frame(self.rows, ResultRow)

    @property
    def promises(self) -> tuple[str, ...]:
        """The guarantees in sentences, one per kind."""
        return tuple(sentences(self.rows))

    def to_pandas(self) -> Any:
        """Convert the frame to pandas. Raises `RequestError` if pandas is not installed."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise RequestError("to_pandas requires pandas; install it, or use .frame.") from None
        return pandas.DataFrame(self.frame.to_dict(as_series=False))

    def figure(self, metric: str = "rmse") -> Figure:
        """Plot the metric against epsilon (nats), a panel per model and a colour per channel.

        Raises `RequestError` for a metric without a figure, and for one that no row has.
        """
        if metric not in TITLES:
            known = ", ".join(TITLES)
            raise RequestError(f"metric must be one of {known}, got '{metric}'.")
        chart = Chart([row for row in self.rows if not math.isnan(getattr(row, metric))], metric)
        if not chart.rows:
            raise RequestError(f"No row has a value for {metric}; choose another metric.")
        return chart.figure()

    def report(
        self,
        path: str | Path,
        notify: Notify = lambda sentence: None,
        *,
        command: str = "tacit.compare",
    ) -> Path:
        """Write the report of `tacit compare --report`, one self-contained file. Returns its path.

        Attacks on the same ratings are run for it, except for a comparison with a cap. `command`:
        the command shown in the report.

        Raises `RequestError` for a path that cannot be written.
        """
        target = given_path(path)
        writable(target)
        page = page_of(self.request, self.ratings, command, notify)
        write_atomically(target, page(self.rows).encode())
        return target


def experiment(
    comparison: Comparison,
    ratings: Ratings,
    *,
    command: str = "tacit.compare",
    notify: Notify = lambda sentence: None,
) -> Experiment[ComparisonCell, ResultRow]:
    """Declare the experiment of a comparison on these ratings. `command`: shown in its report."""
    return Experiment(
        title="comparing",
        row=ResultRow,
        cells=comparison.cells(ratings),
        measure=Measurement(comparison, ratings),
        derive=with_baseline_columns,
        text=as_text,
        page=page_of(comparison, ratings, command, notify),
    )


def page_of(
    comparison: Comparison, ratings: Ratings, command: str, notify: Notify
) -> Callable[[Sequence[ResultRow]], str]:
    """Return the report of rows as HTML. Attacks on the same ratings are run for it, except for a
    comparison with a cap, which `notify` reports."""

    def page(rows: Sequence[ResultRow]) -> str:
        return report(
            rows,
            sample=_sample(comparison, ratings),
            split=comparison.protocol.words,
            attacked=_attacked(comparison, ratings, notify),
            run=Provenance.of(ratings, command, auto_channels(comparison, ratings)),
        )

    return page


def auto_channels(comparison: Comparison, ratings: Ratings) -> Mapping[str, str]:
    """Return the channel that "auto" means at each epsilon. Empty without "auto"."""
    if AUTO not in comparison.channels:
        return {}
    slots = [(comparison.plan, epsilon) for epsilon in comparison.epsilons]
    return resolve_auto(slots, ratings.scale)


def _named_channels(comparison: Comparison) -> list[str]:
    """Return the channels without the identity and without channel objects."""
    return [
        name for name in comparison.channels if name != IDENTITY and name not in comparison.only
    ]


def _sample(comparison: Comparison, ratings: Ratings) -> DeviceSample | None:
    near_one = min(comparison.epsilons, key=lambda epsilon: abs(float(epsilon) - 1))
    channels = _named_channels(comparison)
    if not channels:
        return None
    plan = comparison.make_plan(comparison.plan, channels[0], near_one, ratings.scale, None)
    return synthetic_sample(plan, channels[0], near_one, ratings.scale)


def _attacked(comparison: Comparison, ratings: Ratings, notify: Notify) -> Sequence[AttackRow]:
    """Return rows of attacks on the reports, which support no cap."""
    if comparison.cap is not None:
        notify("The report contains no attacks, which require a comparison without --cap.")
        return ()
    with bar("attacking") as progress:
        return quick_attacks(
            ratings,
            plan=comparison.plan,
            channels=_named_channels(comparison),
            epsilons=comparison.epsilons,
            progress=progress,
        )


def compare(
    data: object,
    *,
    channels: object = "auto",
    models: object = None,
    epsilons: object = (0.5, 1, 3),
    plan: str | None = None,
    cap: int | None = None,
    folds: int | None = None,
    test_share: float | None = None,
    seeds: int = 1,
    split: str = "random",
    mode: str = "strict",
    delta: float | str = 1e-6,
    relevant: float | None = None,
    slices: bool = False,
    lists: bool = True,
    rank_by: str | None = None,
    factors: int | None = None,
    items: pl.DataFrame | None = None,
    scale: RatingScale | str | None = None,
    columns: ColumnNames | None = None,
    path: str | Path | None = None,
    engine: Engine | None = None,
    **reading: Any,
) -> ComparisonResult:
    """Compare channels and models at several privacy levels against a non-private baseline.

    `data`: input of `as_ratings`, with `scale`, `columns` and its other options. `channels` and
    `models`: one or several names or objects. A `Channel` runs at its own epsilon only. `epsilons`:
    nats per value, per slot if the plan hides presence, per user for trainers with that unit;
    numbers or decimal strings. `plan`: "rated", "catalogue" or "sample:K". `lists`: whether to
    compute top-N metrics. `rank_by`: order of a rating model's lists, "gain" (the default) or
    "rating". Other arguments are those of `tacit compare`. `path`: write the rows to
    this file (JSON), and Parquet and an experiment file (TOML) next to it. `tacit compare` repeats
    the experiment file if the data are in a file and everything compared has a name. The same call
    resumes an interrupted one.
    `engine`: where devices are simulated, such as `Spark("local[2]")`. Results do not depend on it.

    Raises `RequestError` for an invalid request, and `DataError` for invalid data.

    >>> from tacit import synthetic
    >>> result = compare(synthetic(60, 50, 1200), models="bias", epsilons=1)
    >>> result.frame.filter(model="bias", where="device")["epsilon"].to_list()
    [None, 1.0]
    """
    known_options(reading, compare, as_ratings)
    request = asked(
        channels=channels,
        models=models,
        epsilons=epsilons,
        protocol=protocol(split, test_share, folds, seeds),
        plan=plan,
        cap=cap,
        mode=mode,
        delta=delta,
        relevant=relevant,
        slices=slices,
        lists=lists,
        rank_by=rank_by,
        factors=factors,
        items=items,
    )
    target = None if path is None else given_path(path)
    files: dict[str, Any] = {name: reading.get(name) for name in ("catalogue", "people")}
    writable(target, read=(data, *files.values()), beside=(*ROWS, experiment_file.SUFFIX))
    held_out = request.comparison.protocol.column
    ratings = as_ratings(data, scale=scale, columns=columns, held_out=held_out, **reading)
    comparison = request.of(ratings, engine)
    rows = experiment(comparison, ratings).execute(json=target, bar=bar)
    if target is not None:
        source = {**reading, "data": data, "scale": scale, "columns": columns}
        _write_experiment(target, ratings, request, comparison, source)
    return ComparisonResult(tuple(rows), comparison, ratings)


def _write_experiment(
    target: Path,
    ratings: Ratings,
    request: CheckedRequest,
    comparison: Comparison,
    source: Mapping[str, Any],
) -> None:
    """Write the experiment file next to the rows. `source`: the data and their reader options."""
    unnamed = [*request.via.objects, *request.learnt.objects]
    unnamed += [] if comparison.items is None else ["a table of items"]
    for name in ("catalogue", "people"):
        if not isinstance(source.get(name), str | Path | None):
            unnamed.append(f"the {name} as a list")
    auto = auto_channels(comparison, ratings)
    settings = experiment_file.options(comparison) | _reading(source, ratings.scale)
    experiment_file.write(target, ratings, settings, auto, by="tacit.compare", unnamed=unnamed)


def _reading(source: Mapping[str, Any], scale: RatingScale) -> dict[str, Any]:
    """Return the reader options as on the command line. Data in memory have a `scale`, and no
    path."""
    files = {name: source.get(name) for name in ("data", "catalogue", "people")}
    settings: dict[str, Any] = {name: source.get(name) for name in ("format", "rounding", "scale")}
    settings |= {
        name: Path(value) for name, value in files.items() if isinstance(value, str | Path)
    }
    if "data" not in settings or settings["scale"] is not None:
        settings["scale"] = str(settings["scale"] or scale)
    settings["positive-only"] = bool(source.get("positive_only"))
    settings["columns"] = _columns_text(source["columns"])
    return settings


def _columns_text(columns: ColumnNames | None) -> str | None:
    """Return names or positions of columns as on the command line."""
    if not columns:
        return None
    named = isinstance(columns, Mapping)
    return ",".join(map("=".join, columns.items()) if named else map(str, columns))
