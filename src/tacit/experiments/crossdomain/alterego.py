"""The AlterEgo of one user: source ratings, their replacements, and recommendations."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.trial import System, Trial, TrialPredictions
from tacit.crossdomain.x_map.replacement import NOTHING
from tacit.crossdomain.x_map.x_map import Map, XMap
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.reporting.table import Table

ARROW = " > "


def alterego(
    domains: Domains,
    target: int,
    user: str,
    system: System,
    *,
    engine: Engine,
    epsilon: str | None = None,
    titles: Mapping[Any, str] | None = None,
    n: int = 10,
) -> tuple[list[Table], Guarantee]:
    """Return the tables of one user, and the guarantee of what they were computed from.

    The first table, only of X-Map, has the user's source items with their replacements,
    similarities and most certain paths. The last has the `n` best target items that the user has
    not rated, with predictions on the scale.

    `titles`: by raw item id. `epsilon`: nats per unit of the system's guarantee. Raises
    `RequestError` for an unknown user, and for one without a rating in a source.
    """
    trial = _trial(domains, target, user)
    names = _Names(domains, titles or {})
    if not isinstance(system, XMap):
        predictions = system.predict(trial, engine=engine, epsilon=epsilon)
        return [_best(trial, system, predictions, names, n)], predictions.guarantee
    mapped, predictions = system.explain(trial, engine=engine, epsilon=epsilon)
    replacements = _replacements(trial, mapped, names, user)
    return [replacements, _best(trial, system, predictions, names, n)], predictions.guarantee


def _trial(domains: Domains, target: int, user: str) -> Trial:
    """Return a trial without hidden ratings that queries all target items the user has not
    rated."""
    ratings = domains.ratings
    person = ratings.user_ids.code(user)
    if person < 0:
        raise RequestError(f"user must be an id that occurs in the ratings, got '{user}'.")
    mine = ratings.users == person
    if not (mine & ~domains.rows(target)).any():
        raise RequestError(
            f"The user {user} has no rating outside {domains.names[target]} to "
            "translate; choose a user with such ratings."
        )
    everything = np.arange(domains.bounds[target], domains.bounds[target + 1], dtype=np.int32)
    items = np.setdiff1d(everything, ratings.items[mine]).astype(np.int32)
    who = np.array([person], np.int32)
    return Trial(domains, target, who, np.repeat(who, len(items)), items)


class _Names:
    """Display names of items: the title if it is known, with the id if it is ambiguous, or the
    id."""

    def __init__(self, domains: Domains, titles: Mapping[Any, str]) -> None:
        ids = domains.ratings.item_ids.ids.to_list()
        called = [titles.get(raw, str(raw)) for raw in ids]
        several = {name for name in called if called.count(name) > 1} if titles else set[str]()
        self._names = [
            f"{name} ({raw})" if name in several else name
            for raw, name in zip(ids, called, strict=True)
        ]

    def __getitem__(self, item: int) -> str:
        return self._names[item]


def _replacements(trial: Trial, mapped: Map, names: _Names, user: str) -> Table:
    return Table(
        f"Replacements of the items that {user} rated",
        ("rated", "stars", "replacement", "X-Sim", "surest path"),
        tuple(_lines(trial, mapped, names)),
    )


def _lines(trial: Trial, mapped: Map, names: _Names) -> Iterator[tuple[str, ...]]:
    ratings = trial.domains.ratings
    mine = np.flatnonzero((ratings.users == trial.people[0]) & ~trial.in_target)
    for row in mine[np.lexsort((ratings.items[mine], -ratings.levels[mine].astype(int)))]:
        item, stars = int(ratings.items[row]), f"{ratings.values[row]:g}"
        chosen = int(mapped.chosen[item])
        if chosen == NOTHING:
            yield names[item], stars, "none, because no path leads to the target domain", "", ""
        else:
            path = max(mapped.extension.paths(item, chosen), key=lambda path: path.certainty)
            x_sim = mapped.extension.x_sim(item, chosen)
            steps = ARROW.join(names[step] for step in path.items)
            yield names[item], stars, names[chosen], f"{x_sim:.3f}", steps


def _best(
    trial: Trial, system: System, predictions: TrialPredictions, names: _Names, n: int
) -> Table:
    values, scale = predictions.predicted.values, trial.domains.ratings.scale
    best = np.lexsort((trial.items, -values))[:n]
    shown = np.clip(values, float(scale.low), float(scale.high))
    return Table(
        f"Recommendations of {system.name}",
        ("item", "predicted"),
        tuple((names[int(trial.items[row])], f"{shown[row]:.2f}") for row in best),
    )
