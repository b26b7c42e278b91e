"""Lists by a curator at an epsilon per *person*: dp-ease beside popularity at the same budget.

NDCG@20 on a fifth of the interactions held out, lists made at home from what people truly have;
without privacy EASE and popularity. With --sweep also settings beside the ones in use.

    python benchmarks/dp_ease.py --made 6040,3706,1000000 --sweep
    python benchmarks/dp_ease.py interactions.parquet --epsilons 1,3,10
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from followed import followed
from tacit import fit, read, synthetic
from tacit.metrics.lists import list_figures
from tacit.models import FittedLists
from tacit.models.lists.ease import MOST_ITEMS
from tacit.ratings import Ratings
from tacit.training import DPEase, DPPopularity

Figure = Callable[[FittedLists], float]
SETTINGS: dict[str, dict[str, Any]] = {
    "clear .12": {"clear": 0.12},
    "clear .5": {"clear": 0.5},
    "ridge .5": {"ridge": 0.5},
    "ridge 2": {"ridge": 2.0},
    "counts .03": {"counts": 0.03},
    "counts .25": {"counts": 0.25},
}
"""Beside those in use, one changed at a time."""


def made(shape: str) -> Ratings:
    """Interactions of made-up people, "people,items,interactions"."""
    people, items, count = map(int, shape.split(","))
    return synthetic(people, items, count, "there", rng=1)


def held_out(data: Ratings, seed: int) -> tuple[Ratings, Figure]:
    """What is learnt from, and NDCG@20 on the rest."""
    test = np.random.default_rng(seed).random(len(data)) < 0.2
    own, wanted = data.where(~test), data.where(test)
    counts = np.bincount(own.items, minlength=own.n_items)

    def figure(fitted: FittedLists) -> float:
        return list_figures(fitted.lists(own, 20), wanted.users, wanted.items, counts).ndcg

    return own, figure


def fits(
    own: Ratings, epsilons: list[str], delta: str, sweep: bool
) -> Iterator[tuple[str, Callable[[], FittedLists]]]:
    """What is learnt for each figure, with the name of its row, from left to right."""
    members = {"dp-popularity": DPPopularity(), "dp-ease": DPEase()}
    if sweep:
        members |= {f"dp-ease, {name}": DPEase(**changed) for name, changed in SETTINGS.items()}
    for name, member in members.items():
        for epsilon in epsilons:
            yield name, partial(member.fit, own, epsilon=epsilon, delta=delta)
    for name in ("popularity", "ease") if own.n_items <= MOST_ITEMS else ("popularity",):
        yield f"{name}, no privacy", partial(fit, name, own)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, help="a table of person and item")
    parser.add_argument("--made", default="6040,3706,1000000", help="people,items,interactions")
    parser.add_argument("--epsilons", default="1,3,10", help="nats per person")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--seeds", type=int, default=1, help="splits, each with its own noise")
    parser.add_argument("--sweep", action="store_true")
    given = parser.parse_args()
    data = read(given.data, scale="there") if given.data else made(given.made)
    epsilons = given.epsilons.split(",")
    print(
        f"{data.name}: {data.n_users:,} people, {data.n_items:,} items, {len(data):,} interactions"
    )
    print(f"epsilon per person ({given.delta}): {' '.join(epsilons)}")
    found: dict[str, list[list[float]]] = {}
    for seed in range(given.seeds):
        own, figure = held_out(data, seed)
        cells = list(fits(own, epsilons, given.delta, given.sweep))
        seen: dict[str, list[float]] = {}
        for name, learnt in followed(f"split {seed}", cells):
            seen.setdefault(name, []).append(figure(learnt()))
        for name, figures in seen.items():
            found.setdefault(name, []).append(figures)
    for name, figures in found.items():
        print(f"{name:22}", " ".join(f"{mean:.4f}" for mean in np.mean(figures, 0)))


if __name__ == "__main__":
    main()
