"""Validation of comparison requests, before any data are read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from typing import Any

import polars as pl

from tacit.collection.named_plans import check_channels
from tacit.engines.engine import Engine
from tacit.errors import RequestError, integer, number, shown
from tacit.experiments.comparison.comparison import Comparison
from tacit.experiments.comparison.members import (
    Members,
    channel_members,
    model_members,
    own_epsilons,
    with_channels,
    with_models,
)
from tacit.experiments.defaults import STARS_MODEL, STARS_PLAN, model_for, plan_for, with_baselines
from tacit.learners.learner import plugged
from tacit.learners.settings import parsed_settings
from tacit.metrics.split import SplitProtocol
from tacit.models.evidence.item_features import checked_table
from tacit.privacy.ledger import delta_text, epsilon_text
from tacit.ratings import Ratings
from tacit.results.comparison.row import BASELINES


def epsilon_texts(value: object) -> tuple[str, ...]:
    """Parse one or several epsilons in nats, numbers or text. Returns distinct decimal strings.

    Raises `RequestError` for an invalid epsilon.
    """
    if isinstance(value, str):
        parts: list[object] = [*value.split(",")]
    elif isinstance(value, Iterable):
        parts = list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        parts = [value]
    if not parts:
        raise RequestError("epsilon must contain at least one value, as in 0.5, 1, 3.")
    return tuple(dict.fromkeys(epsilon_text(part) for part in parts))


MODES = ("strict", "faithful", "both")
SET_BY_OTHERS = ("data", "held_out", "reading")
"""Reader options that a comparison sets."""
ALIKE = 0.7
"""Minimum similarity of a suggested name; 1 is equality."""


@dataclass(frozen=True)
class CheckedRequest:
    """A valid comparison with the defaults for ratings, some of which depend on the scale.

    `named`: whether models were named. `plan`: the requested plan, if any.
    """

    comparison: Comparison
    via: Members
    learnt: Members
    named: bool
    plan: str | None

    def of(self, ratings: Ratings, engine: Engine | None = None) -> Comparison:
        """Return the comparison on these ratings, its devices simulated on the engine.

        Raises `RequestError` for a channel that does not fit, and as `Comparison`.
        """
        comparison, models = self.comparison, self.comparison.models
        if not self.named:
            models = with_baselines([model_for(ratings)])
        plan = self.plan or plan_for(ratings)
        only = own_epsilons(self.via.objects, comparison.epsilons, ratings.scale, plan)
        return replace(comparison, models=models, plan=plan, only=only, engine=engine)


def asked(
    *,
    channels: object,
    models: object,
    epsilons: object,
    protocol: SplitProtocol,
    plan: str | None = None,
    cap: int | None = None,
    mode: str = "strict",
    delta: float | str = 1e-6,
    relevant: float | None = None,
    slices: bool = False,
    lists: bool = True,
    rank_by: str | None = None,
    factors: int | None = None,
    settings: Sequence[str] = (),
    items: pl.DataFrame | None = None,
) -> CheckedRequest:
    """Validate a request. Arguments are those of `tacit.compare`, epsilons in nats. `settings`: of
    all models but the baselines, each NAME=VALUE.

    Raises `RequestError` for an invalid name, number or mode, and for an invalid combination.
    """
    via = channel_members(channels)
    learnt = model_members(STARS_MODEL if models is None else models)
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, got '{mode}'.")
    plan_name = _text("plan", plan or STARS_PLAN)
    find = with_models(learnt.objects)
    named = [find(name, mode) for name in learnt.names if name not in BASELINES]
    options = parsed_settings(named, settings)
    options |= {} if factors is None else {"factors": integer("factors", factors, 0)}
    check_channels([name for name in via.names if name not in via.objects], plan_name)
    comparison = Comparison(
        channels=via.names,
        models=with_baselines(learnt.names),
        epsilons=epsilon_texts(epsilons),
        protocol=protocol,
        plan=plan_name,
        cap=None if cap is None else integer("cap", cap),
        relevant=None if relevant is None else number("relevant", relevant, "4"),
        mode=mode,
        delta=_delta(delta),
        slices=slices,
        lists=lists,
        rank_by=rank_by,
        items=None if items is None else checked_table(items),
        options=options,
        learner=find,
        make_plan=with_channels(via.objects),
    )
    plugins = [plugged(name, None) for name in via.names]
    plugins += [plugged(None, comparison.learner(name, mode)) for name in comparison.models]
    comparison = replace(comparison, plugged=[each for each in plugins if each])
    return CheckedRequest(comparison, via, learnt, models is not None, plan)


def known_options(
    names: Iterable[str], verb: Callable[..., Any], reader: Callable[..., Any]
) -> None:
    """Raise `RequestError` for an option of neither the function nor the reader that it calls.

    The message suggests the most similar option, or lists all.
    """
    known = [*signature(verb).parameters, *signature(reader).parameters]
    options = [name for name in dict.fromkeys(known) if name not in SET_BY_OTHERS]
    for name in names:
        if name not in options:
            near = get_close_matches(name, options, 1, ALIKE) or options
            has = f"did you mean {near[0]}?" if len(near) == 1 else f"it has {', '.join(near)}."
            raise RequestError(f"{verb.__name__} has no option '{name}'; {has}")


def protocol(split: str, test_share: float | None, folds: int | None, seeds: int) -> SplitProtocol:
    """Return the split protocol.

    Raises `RequestError` for an invalid one, a splitter object, and if both `test_share` and
    `folds` are given.
    """
    if folds is not None and test_share is not None:
        raise RequestError("folds and test_share cannot be combined; leave out one of them.")
    return SplitProtocol(
        kind=_split_name(split),
        share=None if test_share is None else number("test_share", test_share, "0.1"),
        folds=None if folds is None else integer("folds", folds),
        seeds=integer("seeds", seeds),
    )


def _split_name(split: object) -> str:
    if not isinstance(split, str) and hasattr(split, "split"):
        raise RequestError(
            f"split must be a name, got the splitter {type(split).__name__}: a run is repeated "
            "from its options, and a splitter is not one. Use folds=5, test_share=0.1 or "
            "split='time', or write the test rows to a column and pass split='column:NAME'."
        )
    return _text("split", split)


def _text(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{what} must be a string, got {shown(value)}.")
    return value


def _delta(value: object) -> str:
    """Format a delta as in result rows. Raises `RequestError` unless it is a number."""
    try:
        return delta_text(float(value))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise RequestError(f"delta must be a number such as 1e-6, got {shown(value)}.") from None
