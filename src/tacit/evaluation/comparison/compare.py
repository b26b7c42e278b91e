"""`tacit.compare`: accuracy of channels and models against a non-private baseline, in Python."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tacit.engines.engine import Engine
from tacit.evaluation import experiment_file
from tacit.evaluation.comparison import tools
from tacit.evaluation.comparison.asked import CheckedRequest, asked, known_options, protocol
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.result import ComparisonResult
from tacit.evaluation.journal import Journal, journal_path
from tacit.evaluation.outputs import ROWS, writable
from tacit.evaluation.progress import bar
from tacit.evaluation.results import ResultRow, save
from tacit.given import path as given_path
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.scale import RatingScale


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
    factors: int | None = None,
    items: pl.DataFrame | None = None,
    scale: RatingScale | str | None = None,
    columns: Mapping[str, str] | None = None,
    path: str | Path | None = None,
    engine: Engine | None = None,
    **reading: Any,
) -> ComparisonResult:
    """Compare channels and models at several privacy levels against a non-private baseline.

    `data`: input of `as_ratings`, with `scale`, `columns` and its other options. `channels` and
    `models`: one or several names or objects. A `Channel` runs at its own epsilon only. `epsilons`:
    nats per value, per slot if the plan hides presence, per user for trainers with that unit;
    numbers or decimal strings. `plan`: "rated", "catalogue" or "sample:K". Other arguments are
    those of `tacit compare`. `path`: write the rows to this file (JSON), and Parquet and an
    experiment file (TOML) next to it. `tacit compare` repeats the experiment file if the data are
    in a file and everything compared has a name. The same call resumes an interrupted one.
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
        factors=factors,
        items=items,
    )
    target = None if path is None else given_path(path)
    files: dict[str, Any] = {name: reading.get(name) for name in ("catalogue", "people")}
    writable(target, read=(data, *files.values()), beside=(*ROWS, experiment_file.SUFFIX))
    held_out = request.comparison.protocol.column
    ratings = as_ratings(data, scale=scale, columns=columns, held_out=held_out, **reading)
    comparison = request.of(ratings)
    real = tools.with_devices_on(engine, request.tools(), comparison.models)
    journal = Journal(journal_path(target), ResultRow)
    with bar("comparing") as progress:
        rows = comparison.run(ratings, real, journal, progress)
    if target is not None:
        save(rows, target)
        journal.remove()
        source = {**reading, "data": data, "scale": scale, "columns": columns}
        _write_experiment(target, ratings, request, comparison, source)
    return ComparisonResult(tuple(rows), comparison, ratings, real)


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
    slots = [(comparison.plan, epsilon) for epsilon in comparison.epsilons]
    auto = tools.auto_names(slots, ratings.scale) if tools.AUTO in comparison.channels else {}
    settings = experiment_file.options(comparison) | _reading(source, ratings.scale)
    experiment_file.write(target, ratings, settings, auto, by="tacit.compare", unnamed=unnamed)


def _reading(source: Mapping[str, Any], scale: RatingScale) -> dict[str, Any]:
    """Return the reader options by name. Data in memory have a `scale`, and no path."""
    files = {name: source.get(name) for name in ("data", "catalogue", "people")}
    settings: dict[str, Any] = {name: source.get(name) for name in ("format", "rounding", "scale")}
    settings |= {
        name: Path(value) for name, value in files.items() if isinstance(value, str | Path)
    }
    if "data" not in settings or settings["scale"] is not None:
        settings["scale"] = str(settings["scale"] or scale)
    if source["columns"]:
        settings["columns"] = ",".join("=".join(pair) for pair in source["columns"].items())
    return settings
