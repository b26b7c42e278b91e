"""Validation of comparison requests, before any data are read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.evaluation.comparison import defaults, members
from tacit.evaluation.comparison import tools as registered
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.tools import Tools
from tacit.given import whole
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings

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
    via: members.Members
    learnt: members.Members
    named: bool
    plan: str | None

    def of(self, ratings: Ratings) -> Comparison:
        """Return the comparison on these ratings. Raises `RequestError` for a channel that does
        not fit."""
        comparison, models = self.comparison, self.comparison.models
        if not self.named:
            models = defaults.beside_floors([defaults.model_for(ratings)])
        plan = self.plan or defaults.plan_for(ratings)
        only = members.own_epsilons(self.via.objects, comparison.epsilons, ratings.scale, plan)
        return replace(comparison, models=models, plan=plan, only=only)

    def tools(self) -> Tools:
        """Return the tools that the comparison runs on."""
        return members.with_objects(registered.tools(), self.via.objects, self.learnt.objects)


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
    factors: int | None = None,
    items: pl.DataFrame | None = None,
) -> CheckedRequest:
    """Validate a request. Arguments are those of `tacit.compare`, epsilons in nats.

    Raises `RequestError` for an invalid name, number or mode, and for an invalid combination.
    """
    via = members.channels(channels)
    learnt = members.model_members(defaults.STARS_MODEL if models is None else models)
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, got '{mode}'.")
    comparison = Comparison(
        channels=via.names,
        models=defaults.beside_floors(learnt.names),
        epsilons=members.epsilons(epsilons),
        protocol=protocol,
        plan=_text("plan", plan or defaults.STARS_PLAN),
        cap=None if cap is None else whole("cap", cap),
        relevant=None if relevant is None else _number("relevant", relevant, "4"),
        mode=mode,
        delta=_delta(delta),
        slices=slices,
        items=items,
        options={} if factors is None else {"factors": whole("factors", factors, 0)},
    )
    ways = [name for name in via.names if name not in via.objects]
    named = [name for name in comparison.models if name not in learnt.objects]
    registered.check(ways, named, comparison.plan, items=items is not None)
    plugins = [registered.plugged(name, None) for name in ways]
    plugins += [registered.plugged(None, name) for name in named]
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
    """Return the split protocol. Raises `RequestError` for an invalid one, and if both `test_share`
    and `folds` are given."""
    if folds is not None and test_share is not None:
        raise RequestError("folds and test_share exclude each other; leave out one of them.")
    return SplitProtocol(
        kind=_text("split", split),
        share=None if test_share is None else _number("test_share", test_share),
        folds=None if folds is None else whole("folds", folds),
        seeds=whole("seeds", seeds),
    )


def _number(what: str, value: object, such: str = "0.1") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"{what} must be a number such as {such}, got {value!r}.")
    return value


def _text(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{what} must be a string, got {value!r}.")
    return value


def _delta(value: object) -> str:
    """Format a delta as in result rows. Raises `RequestError` unless it is a number."""
    try:
        return f"{float(value):g}"  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise RequestError(f"delta must be a number such as 1e-6, got {value!r}.") from None
