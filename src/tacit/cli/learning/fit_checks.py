"""Checks of the options of `tacit fit`, before data are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from tacit.errors import RequestError
from tacit.experiments.defaults import STARS_PLAN

Settings = dict[str, Any]
"""Settings of a model or a trainer, by name."""


def require_one_source(data: Path | None, db: str | None, mode: str) -> None:
    """Validate combinations of options before anything is read. Raises `RequestError`."""
    if (data is None) == (db is None):
        raise RequestError(
            "Exactly one of DATA (reports or ratings) and --db (a store of reports) is required."
        )
    if mode not in ("strict", "faithful"):
        raise typer.BadParameter(f"must be strict or faithful, got '{mode}'", param_hint="--mode")


def refuse_new_noise(epsilon: str | None, state: Path | None) -> None:
    """Raise `RequestError` for --state with --epsilon: a resumed run would randomize the reports
    again, and spend epsilon again."""
    if state is not None and epsilon is not None:
        raise RequestError(
            "Resuming with --state requires the same reports, but --epsilon randomizes them "
            "again. Write the reports with `tacit perturb` and pass that file with --state."
        )


def refuse_unused(typed: Mapping[str, str], *, from_reports: bool, trained: bool) -> None:
    """Raise `RequestError` for an option without effect on the data or the model.

    `typed`: options on the command line, as `options.typed_options` returns them.
    """
    cases = [
        (from_reports, READING, "on reports, which define their scale, catalogue and users"),
        (from_reports, ("epsilon", *NOISE), "on reports, which are already perturbed"),
        (trained, (*NOISE, "without_exposure"), "on a trainer, which adds its own noise"),
        (not trained, ("mode", "delta"), "on a model; only trainers have it"),
        ("epsilon" not in typed, NOISE, UNCHANGED),
        ("db" not in typed, ("task",), "without --db"),
        ("publish" not in typed, ("least",), "without --publish"),
    ]
    for applies, names, where in cases:
        if applies and (unused := [typed[name] for name in names if name in typed]):
            raise RequestError(f"{unused[0]} has no effect {where}; leave it out.")


READING = (
    "format", "scale", "implicit", "columns", "rounding", "catalogue", "people", "positive_only",
)  # fmt: skip
"""Parameters of `tacit fit` for reading ratings."""
NOISE = ("channel", "plan")
"""Parameters of `tacit fit` for perturbing ratings."""
UNCHANGED = "on true ratings, which are used unchanged without --epsilon"


def check_names(
    model: str | None,
    mode: str,
    channel: str,
    plan: str | None,
    settings: Settings,
    changed: Sequence[str],
) -> None:
    """Validate model, channel, plan and settings before data are read. Raises `RequestError`.

    `changed`: further settings, each NAME=VALUE.
    """
    from tacit.collection.named_plans import check_channels
    from tacit.learners.learner import learner
    from tacit.learners.settings import parsed_settings, require_options
    from tacit.results.comparison.row import RANDOM

    check_channels([channel], plan or STARS_PLAN)
    if model == RANDOM:
        raise RequestError("Random lists are not fitted to data. Choose another --model.")
    if model is not None:
        require_options([learner(model)], list(settings))
        parsed_settings([learner(model, mode)], changed)


def settings_of(factors: int | None, items: Path | None) -> Settings:
    """Return the settings that the command line changes."""
    from tacit.readers import item_table

    settings: Settings = {} if factors is None else {"factors": factors}
    return settings if items is None else settings | {"item_table": item_table(items)}


def is_training(model: str, epsilon: str | None, from_reports: bool) -> bool:
    """Return whether the name is a trainer. Raises `RequestError` for a trainer without epsilon,
    or with reports instead of ratings."""
    from tacit.training import LIST_TRAININGS, names

    trained = model in names() or model in LIST_TRAININGS
    if trained and from_reports:
        raise RequestError(f"{model} is a trainer and requires ratings, not reports.")
    if trained and epsilon is None:
        raise RequestError(f"{model} is a trainer and requires --epsilon, as in --epsilon 8.")
    return trained
