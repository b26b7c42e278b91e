"""`tacit fit SOURCE TARGET`: fit, save and publish a cross-domain map."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.cli.evaluating.crossdomain import domains
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.crossdomain.domains import Domains
    from tacit.crossdomain.x_map.released import ReleasedMap
    from tacit.wire.item_model import ItemModel
    from tacit.wire.tasks.task import Task

OPTIONS = (
    "data", "output", "model", "epsilon", "delta", "factors", "changed", "format", "scale",
    "columns", "rounding", "catalogue", "people", "engine", "master", "db", "task", "publish",
    "state",
)  # fmt: skip
"""Parameters of `tacit fit` that a map has."""
MAPS = ("x-map-strict", "x-map-factors", "x-map", "nx-map", "nx-map-everybody")
"""Names of `tacit.crossdomain.x_map.fitting.SYSTEMS`, whose import takes time."""


@dataclass(frozen=True, kw_only=True)
class MapRequest:
    """Options of `tacit fit` for a map, as typed. `load`: positional arguments of `options.load`
    after the path."""

    data: Sequence[Path]
    output: Path
    model: str | None
    epsilon: str | None
    delta: float
    factors: int | None
    changed: Sequence[str]
    load: tuple[str | None, ...]
    catalogue: Sequence[Path] | None
    people: Path | None
    spark: str | None
    db: str | None
    task: str | None
    publish: Path | None
    state: Path | None


def is_map_request(data: Sequence[Path], model: str | None) -> bool:
    """Return whether the options of `tacit fit` mean a map: several domains, or a map's name."""
    return len(data) > 1 or model in MAPS


def require_map_options(typed: Mapping[str, str]) -> None:
    """Raise `RequestError` for an option that a map does not have.

    `typed`: the options on the command line by parameter, as `options.typed_options` returns them.
    """
    if other := [option for name, option in typed.items() if name not in OPTIONS]:
        raise RequestError(f"{other[0]} is not an option of a cross-domain map; leave it out.")


def fit_map(request: MapRequest) -> None:
    """Fit a map, save it, and publish it if requested. Prints the guarantee of the saved file."""
    from tacit.cli.engines import on_spark
    from tacit.crossdomain.x_map import fitting
    from tacit.privacy.ledger import delta_text, epsilon_text
    from tacit.results.records import writable

    epsilon = None if request.epsilon is None else epsilon_text(request.epsilon)
    name, settings = _checked(request, epsilon)
    read = (*request.data, *(request.catalogue or ()), request.people, request.db)
    writable(request.output, read=read)
    tasks = _tasks(request) if request.publish else []
    # A guarantee does not cover the numbers of users and ratings, so they are not printed.
    known = domains(
        request.data, *request.load, catalogues=request.catalogue, people=request.people,
        counts=epsilon is None,
    )  # fmt: skip
    names = {task.address: _source_names(task, known) for task in tasks}
    with on_spark(request.spark) as engine:
        fitted = fitting.fit_map(
            name, known, epsilon=epsilon, delta=delta_text(request.delta), engine=engine,
            state=request.state, **settings,
        )  # fmt: skip
    fitted.save(request.output)
    counted = f" from {len(known.ratings):,} ratings" if fitted.guarantee.epsilon is None else ""
    options.notice(f"{request.output}: {name}{counted}. {fitted.guarantee.sentence}")
    if request.publish is not None:
        titles = _target_titles(request.catalogue, known)
        address = _publish(fitted, name, names, titles, request.publish)
        options.notice(f"Published in {request.publish} as {address}.")


def _checked(request: MapRequest, epsilon: str | None) -> tuple[str, dict[str, Any]]:
    """Validate the options before data are read. Returns the system and its settings.

    Raises `RequestError`.
    """
    from tacit import registry
    from tacit.crossdomain.x_map import fitting

    if request.model is None:
        raise RequestError(f"Several domains require --model, one of {', '.join(fitting.SYSTEMS)}.")
    name = request.model
    system = registry.named(fitting.SYSTEMS, name, "--model of several domains")
    if len(request.data) < 2:
        raise RequestError(
            f"{name} requires at least a source and a target, as in tacit fit books.csv films.csv "
            f"--model {name}, got {len(request.data)} data sets."
        )
    if request.publish is not None and not isinstance(system, fitting.StrictMap):
        raise RequestError(
            f"{name} cannot be published: {REASONS[system.mode]}. Publish x-map-strict instead."
        )
    if (request.publish is None) != (request.db is None):
        raise RequestError(
            "A map is published with both --publish and --db, the store of the task whose devices "
            "download it."
        )
    settings: dict[str, Any] = {} if request.factors is None else {"factors": request.factors}
    for key, value in registry.assignments(request.changed, "k=20").items():
        settings[key] = fitting.parsed(name, key, value)
    fitting.configured(name, settings, epsilon)
    return name, settings


REASONS = {
    "none": "it has no privacy, and its means and similarities reveal individual ratings",
    "faithful": "its published claim fails, and its means and similarities reveal individual "
    "ratings",
}
"""Why a map is not published, by the mode of its system."""


def _tasks(request: MapRequest) -> "list[Task]":
    """Return the tasks whose devices download the map."""
    from tacit.collector.storage import stored_reports
    from tacit.collector.storage.addresses import open_reader

    with closing(open_reader(str(request.db))) as reader:
        return stored_reports.together(reader, request.task)


def _source_names(task: "Task", known: "Domains") -> dict[int, int | str]:
    """Return how a task's catalogue names items of the map, where the map prefixed them by their
    domain, by index.

    Raises `RequestError` for a task on another scale, or without a source item of the map.
    """
    import polars as pl

    from tacit.crossdomain.domains import item_indices

    ratings, first = known.ratings, known.bounds[-2]
    if task.scale != ratings.scale:
        raise RequestError(
            f"The task has the scale {task.scale}, but the map has {ratings.scale}, so its devices "
            "would refuse the map; publish it for a task on the same scale."
        )
    catalogue = pl.Series("id", map(str, task.items), pl.String)
    indices = item_indices(ratings.item_ids, first, catalogue).tolist()
    names = {index: item for index, item in zip(indices, task.items, strict=True) if index >= 0}
    shared = sum(index < first for index in names)
    if not shared:
        raise RequestError(
            f"The task's catalogue contains none of the {first:,} source items (the first is "
            f"'{ratings.item_ids.ids[0]}'); publish the map for a task over the source's items."
        )
    if shared < first:
        options.notice(f"The task's catalogue contains {shared:,} of {first:,} source items.")
    return names


def _target_titles(catalogues: Sequence[Path] | None, known: "Domains") -> tuple[str, ...]:
    """Return the titles of the target's items in its `--catalogue`, the last one; none without.

    An item without a title has its id.
    """
    import polars as pl

    from tacit import readers

    table = None if not catalogues else readers.catalogue(catalogues[-1]).drop_nulls()
    if table is None or table.is_empty():
        return ()
    titles = dict(
        zip(table["item"].cast(pl.String).to_list(), table["title"].to_list(), strict=True)
    )
    target = known.ratings.item_ids.ids[known.bounds[-2] :].cast(pl.String)
    prefix = f"{known.names[-1]}/"
    return tuple(titles.get(item.removeprefix(prefix), item) for item in target)


def _publish(
    fitted: "ReleasedMap",
    name: str,
    names: "Mapping[str, dict[int, int | str]]",
    titles: tuple[str, ...],
    folder: Path,
) -> str:
    """Publish a strict map for the devices of tasks. Returns its address.

    `name`: of its system. `names`: by the address of the task, as `_source_names` returns them.
    `titles`: of the target items.
    """
    from tacit.collector.storage.publications import Publication
    from tacit.collector.storage.published_models import PublishedModels
    from tacit.crossdomain.x_map.released import FactorMap
    from tacit.errors import must_be

    model = must_be(FactorMap, fitted, "a strict map", "publish x-map-strict").published
    assert model.target is not None, "a map has a target"
    model = replace(model, target=replace(model.target, titles=titles))
    record = Publication(model="", at=time.time(), learner=name)
    (address,) = {
        PublishedModels(folder).publish(task, replace(model, items=_renamed(model, items)), record)
        for task, items in names.items()
    }
    return address


def _renamed(model: "ItemModel", names: Mapping[int, int | str]) -> tuple[int | str, ...]:
    return tuple(names.get(index, item) for index, item in enumerate(model.items))
