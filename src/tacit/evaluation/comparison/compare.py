"""`tacit.compare`: what recommending costs when nobody may see a rating, from Python."""

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
from tacit.evaluation.journal import Journal, beside
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
    """Compare channels and models at several epsilons, beside no privacy at all.

    `data`: whatever `as_ratings` takes, with `scale`, `columns` and its other options. `channels`
    and `models`: names, one or several, or objects; a `Channel` runs at its own epsilon alone.
    `epsilons`: nats per value, per slot where presence is hidden, and per person of trainings that
    say so; numbers or decimal strings. `plan`: "rated", "catalogue" or "sample:K". The rest is as
    in `tacit compare`. With a `path` the rows are written there: JSON, Parquet beside it, and a
    TOML file from which `tacit compare` runs them again, where the data are in a file and all that
    was compared has a name. The same call goes on where an interrupted one stopped. `engine`: where
    devices are simulated, as `Spark("local[2]")`; digits are the same on any.

    Raises `RequestError` for what is no such request, and `DataError` for data that are wrong.

    >>> from tacit import synthetic
    >>> found = compare(synthetic(60, 50, 1200), models="bias", epsilons=1)
    >>> found.frame.filter(model="bias", where="device")["epsilon"].to_list()
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
    place = None if path is None else given_path(path)
    files: dict[str, Any] = {name: reading.get(name) for name in ("catalogue", "people")}
    writable(place, read=(data, *files.values()), beside=(*ROWS, experiment_file.SUFFIX))
    held_out = request.comparison.protocol.column
    ratings = as_ratings(data, scale=scale, columns=columns, held_out=held_out, **reading)
    comparison = request.of(ratings)
    real = tools.with_devices_on(engine, request.tools(), comparison.models)
    journal = Journal(beside(place), ResultRow)
    with bar("comparing") as progress:
        rows = comparison.run(ratings, real, journal, progress)
    if place is not None:
        save(rows, place)
        journal.remove()
        given = {**reading, "data": data, "scale": scale, "columns": columns}
        _write_experiment(place, ratings, request, comparison, given)
    return ComparisonResult(tuple(rows), comparison, ratings, real)


def _write_experiment(
    place: Path,
    ratings: Ratings,
    request: CheckedRequest,
    comparison: Comparison,
    given: Mapping[str, Any],
) -> None:
    """The file that runs it again, beside the rows; `given`: the data, and how they were read."""
    unnamed = [*request.via.objects, *request.learnt.objects]
    unnamed += [] if comparison.items is None else ["a table of items"]
    for name in ("catalogue", "people"):
        if not isinstance(given.get(name), str | Path | None):
            unnamed.append(f"the {name} as a list")
    slots = [(comparison.plan, epsilon) for epsilon in comparison.epsilons]
    auto = tools.auto_names(slots, ratings.scale) if tools.AUTO in comparison.channels else {}
    said = experiment_file.options(comparison) | _reading(given, ratings.scale)
    experiment_file.write(place, ratings, said, auto, by="tacit.compare", unnamed=unnamed)


def _reading(given: Mapping[str, Any], scale: RatingScale) -> dict[str, Any]:
    """Where the data are and how they are read, as options; in memory they have their `scale`."""
    files = {name: given.get(name) for name in ("data", "catalogue", "people")}
    said: dict[str, Any] = {name: given.get(name) for name in ("format", "rounding", "scale")}
    said |= {name: Path(value) for name, value in files.items() if isinstance(value, str | Path)}
    if "data" not in said or said["scale"] is not None:
        said["scale"] = str(said["scale"] or scale)
    if given["columns"]:
        said["columns"] = ",".join("=".join(pair) for pair in given["columns"].items())
    return said
