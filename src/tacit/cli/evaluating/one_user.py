"""`tacit crossdomain --user`: the AlterEgo and the recommendations of one user."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.crossdomain.domains import Domains
    from tacit.crossdomain.trial import System
    from tacit.engines.engine import Engine
    from tacit.experiments.crossdomain.trials import TrialRequest

EVALUATION = ("overlap", "keep", "test_share", "seeds", "lists", "json", "report")
"""Parameters of `tacit crossdomain` that only an evaluation has."""
SETTINGS = ("k", "damping", "decay", "delta", "neighbour_epsilon")
"""Parameters that are settings of some systems, under the same names."""


def named_system(typed: Mapping[str, str], model: str | None, mode: str) -> str:
    """Return the name of the system to show.

    `typed`: parameters on the command line, and how each option is spelled. Without --model, it is
    `x-map` in the mode faithful, `x-map-strict` where a mode or an epsilon asks for privacy, and
    otherwise `nx-map-everybody`, which has none.
    """
    if model is not None:
        return model
    if mode == "faithful":
        return "x-map"
    return "x-map-strict" if {"mode", "epsilon"} & set(typed) else "nx-map-everybody"


def only_system(request: "TrialRequest", typed: Mapping[str, str]) -> "tuple[System, str | None]":
    """Return the requested system and its epsilon, None without privacy.

    Of an item-based and a user-based variant, it is the former. Of a system with and one without
    privacy, it is the private one if an epsilon or a mode is requested. Raises `RequestError` for
    several systems, epsilons or settings, for a system that the mode excludes, and for an option
    that would have no effect.
    """
    if other := [option for name, option in typed.items() if name in EVALUATION]:
        raise RequestError(f"{other[0]} has no effect with --user; leave one of them out.")
    claims = list(request.claims())
    if not claims:
        raise RequestError(
            f"Not run in mode {request.mode}: {', '.join(request.left_out)}. Choose another --mode "
            "or --model."
        )
    by_items = {system.name for system, _ in claims if system.variant == "item"}
    claims = [(s, e) for s, e in claims if s.variant != "user" or s.name not in by_items]
    if len(request.models) == 1 and len({epsilon is None for _, epsilon in claims}) > 1:
        private = bool({"epsilon", "mode"} & set(typed))
        claims = [claim for claim in claims if (claim[1] is not None) == private]
    if len(claims) > 1:
        runs = "; ".join(_described(system, epsilon) for system, epsilon in claims)
        raise RequestError(
            f"--user shows one system with one value of each option, got {len(claims)}: {runs}."
        )
    ((system, epsilon),) = claims
    _require_effect(system, typed)
    return system, epsilon


def _described(system: "System", epsilon: str | None) -> str:
    settings = [f"{name} {vars(system)[name]:g}" for name in ("k", "decay") if name in vars(system)]
    at = [] if epsilon is None else [f"epsilon {epsilon}"]
    return ", ".join([system.name, *at, *settings])


def _require_effect(system: "System", typed: Mapping[str, str]) -> None:
    """Raise `RequestError` for a typed option that this system does not have."""
    without = ("epsilon", "mode") if system.mode == "none" else ()
    for name, option in typed.items():
        if name in without:
            raise RequestError(
                f"{system.name} has no privacy, so {option} has no effect; leave it out, or choose "
                "--model x-map-strict."
            )
        if name in SETTINGS and name not in vars(system):
            raise RequestError(f"{option} is not a setting of {system.name}; leave it out.")


def show(
    domains: "Domains",
    system: "System",
    epsilon: str | None,
    user: str,
    *,
    engine: "Engine",
    titles: Path | None,
) -> None:
    """Print the replacements, if the system has any, the recommendations and the guarantee."""
    from tacit.experiments.crossdomain.alterego import alterego
    from tacit.readers import titles as read_titles
    from tacit.reporting.table import text

    named = read_titles(titles) if titles else None
    names = {} if named is None else dict(zip(named["item"], named["title"], strict=True))
    target = len(domains.names) - 1
    tables, guarantee = alterego(
        domains, target, user, system, engine=engine, epsilon=epsilon, titles=names
    )
    typer.echo("\n\n".join([*map(text, tables), guarantee.sentence]))
