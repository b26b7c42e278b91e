"""What somebody asks to compare, in Python or in a shell, checked before any data are read."""

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
from tacit.evaluation.comparison.runner import Tools
from tacit.given import whole
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings

MODES = ("strict", "faithful", "both")
SET_BY_OTHERS = ("data", "held_out", "reading")
"""No options of a comparison: what is held out is its split."""
ALIKE = 0.7
"""Of two names, where one may be meant by the other: 1 for the same."""


@dataclass(frozen=True)
class CheckedRequest:
    """A comparison as it is for stars, and what was left open until the scale is known.

    `named`: whether models were; `plan`: that asked for, if any.
    """

    comparison: Comparison
    via: members.Members
    learnt: members.Members
    named: bool
    plan: str | None

    def of(self, ratings: Ratings) -> Comparison:
        """The comparison of these ratings; raises `RequestError` for a table that does not fit."""
        found, models = self.comparison, self.comparison.models
        if not self.named:
            models = defaults.beside_floors([defaults.model_for(ratings)])
        plan = self.plan or defaults.plan_for(ratings)
        only = members.own_epsilons(self.via.objects, found.epsilons, ratings.scale, plan)
        return replace(found, models=models, plan=plan, only=only)

    def tools(self) -> Tools:
        """What it runs on."""
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
    """The request; arguments as `tacit.compare` has them, epsilons in nats.

    Raises `RequestError` for a name, a number or a mode that is none, and for what does not belong
    together.
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
    found = [registered.plugged(name, None) for name in ways]
    found += [registered.plugged(None, name) for name in named]
    comparison = replace(comparison, plugged=[each for each in found if each])
    return CheckedRequest(comparison, via, learnt, models is not None, plan)


def known_options(
    given: Iterable[str], verb: Callable[..., Any], reader: Callable[..., Any]
) -> None:
    """Raise `RequestError` for an option that neither the verb has, nor the reader it hands on to.

    The sentence names the nearest one, and where none is near, all.
    """
    known = [*signature(verb).parameters, *signature(reader).parameters]
    options = [name for name in dict.fromkeys(known) if name not in SET_BY_OTHERS]
    for name in given:
        if name not in options:
            near = get_close_matches(name, options, 1, ALIKE) or options
            has = f"did you mean {near[0]}?" if len(near) == 1 else f"it has {', '.join(near)}."
            raise RequestError(f"{verb.__name__} has no option '{name}'; {has}")


def protocol(split: str, test_share: float | None, folds: int | None, seeds: int) -> SplitProtocol:
    """What is held out; raises `RequestError` for what cannot be, and for both of two."""
    if folds is not None and test_share is not None:
        raise RequestError("folds and test_share exclude each other; leave out one of them.")
    return SplitProtocol(
        kind=_text("split", split),
        share=None if test_share is None else _number("test_share", test_share),
        folds=None if folds is None else whole("folds", folds),
        seeds=whole("seeds", seeds),
    )


def _number(what: str, given: object, such: str = "0.1") -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise RequestError(f"{what} must be a number such as {such}, got {given!r}.")
    return given


def _text(what: str, given: object) -> str:
    if not isinstance(given, str):
        raise RequestError(f"{what} must be a string, got {given!r}.")
    return given


def _delta(given: object) -> str:
    """As rows have it; raises `RequestError` for what is no number."""
    try:
        return f"{float(given):g}"  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise RequestError(f"delta must be a number such as 1e-6, got {given!r}.") from None
