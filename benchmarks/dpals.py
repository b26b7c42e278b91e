"""A curator's factors at an epsilon per *person*: dpals and dp-covariance beside noisy item means.

    python benchmarks/dpals.py [--ml-1m PATH] [--seeds 5] [--epsilons 1,3,10] [--people 69878]

Every figure is RMSE on 10 % held-out true ratings, finished on devices; delta is 1e-6. The baseline
is dpals with no factors: the whole budget on item means. Where a training chooses none it *is* the
baseline, drawn anew. The gap that it may close ends at the best of bias, mf and channel-mf without
privacy. Without a path the ratings are made up in the shape of MovieLens 10M: 69,878
people, 10,677 items, 10 million half stars, tastes of rank 16.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from followed import followed
from tacit import fit, read
from tacit.models import Fitted, device_predict
from tacit.ratings import Ratings
from tacit.readers.synthetic import choose_items
from tacit.scale import RatingScale
from tacit.training import DPALS, DPCovariance
from tacit.vocabulary import Vocabulary

ITEMS, RANK, FALL, NOISE, TASTE, PEOPLE_SPREAD, ITEM_SPREAD = (
    10_677,
    16,
    0.75,
    0.72,
    0.45,
    0.42,
    0.47,
)
BLOCK = 1 << 20


def made_up(people: int, rng: int = 7) -> Ratings:
    """About 143 ratings a person, log-normal; items by a power law; factors that fall off."""
    chance = np.random.default_rng(rng)
    wanted = np.exp(chance.normal(4.05, 1.15, people))
    wanted = np.clip(wanted * (143.1 / wanted.mean()), 20, ITEMS // 3).astype(np.int64)
    users = np.repeat(np.arange(people, dtype=np.int32), wanted)
    popularity = 1 / (np.arange(ITEMS) + 60.0) ** 1.35
    items = choose_items(
        users, np.cumsum(chance.permutation(popularity / popularity.sum())), chance
    )
    weights = FALL ** np.arange(RANK)
    tastes = chance.standard_normal((people, RANK)) * weights * TASTE / np.linalg.norm(weights)
    traits = chance.standard_normal((ITEMS, RANK))
    theta = 3.53 + chance.normal(0, PEOPLE_SPREAD, people)[users]
    theta += chance.normal(0, ITEM_SPREAD, ITEMS)[items] + chance.normal(0, NOISE, len(users))
    for first in range(0, len(users), BLOCK):
        rows = slice(first, first + BLOCK)
        theta[rows] += (tastes[users[rows]] * traits[items[rows]]).sum(1)
    return Ratings(
        users,
        items,
        np.clip(np.rint(2 * theta) - 1, 0, 9).astype(np.uint8),
        RatingScale.parse("0.5:5:0.5"),
        Vocabulary(pl.Series("id", np.arange(people))),
        Vocabulary(pl.Series("id", np.arange(ITEMS))),
    )


def error(fitted: Fitted, own: Ratings, test: Ratings) -> float:
    """RMSE on devices, predictions kept on the scale."""
    values = device_predict(fitted, own, test.users, test.items)
    return float(np.sqrt(np.mean((np.clip(values, *fitted.levels[[0, -1]]) - test.values) ** 2)))


def ceiling(own: Ratings, test: Ratings) -> float:
    """The lowest error without privacy; a model that has none of its own is never it."""
    makes: dict[str, Callable[[], Fitted]] = {
        "item means": lambda: fit("item-mean", own),
        "bias": lambda: fit("bias", own),
        "mf, 8 factors": lambda: fit("mf", own, factors=8, ridge=6.0),
        "channel-mf": lambda: fit("channel-mf", own),
    }
    found = {name: error(makes[name](), own, test) for name in followed("no privacy", makes)}
    said = ", ".join(f"{name} {rmse:.4f}" for name, rmse in found.items())
    print(f"no privacy: {said}\n")
    return min(found.values())


def main() -> None:
    """Make up or read, split, train, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ml-1m", help="MovieLens 1M, in any form that tacit reads")
    parser.add_argument("--scale", help="of the ratings, where it is not known")
    parser.add_argument("--seeds", type=int, default=5, help="draws of noise")
    parser.add_argument("--epsilons", default="1,3,10")
    parser.add_argument("--people", type=int, default=69_878)
    asked = parser.parse_args()
    ratings = read(asked.ml_1m, scale=asked.scale) if asked.ml_1m else made_up(asked.people)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    own, test = ratings.where(~held), ratings.where(held)
    print(f"{len(own):,} ratings of {own.n_users:,} people for {own.n_items:,} items")
    free = ceiling(own, test)
    print("epsilon  training        RMSE, mean and deviation   factors   gap closed   seconds")
    trainings: dict[str, Callable[[str], Fitted]] = {
        "item means": lambda e: DPALS(factors=0).fit(own, epsilon=e),
        "dpals": lambda e: DPALS().fit(own, epsilon=e),
        "dp-covariance": lambda e: DPCovariance().fit(own, epsilon=e),
    }
    for epsilon in asked.epsilons.split(","):
        floor = 0.0
        for name, train in trainings.items():
            began, found, factors = time.perf_counter(), list[float](), set[int]()
            for _ in followed(f"{name}, epsilon {epsilon}", range(asked.seeds)):
                fitted = train(epsilon)
                found.append(error(fitted, own, test))
                factors.add(fitted.items.shape[2] - 1)
            seconds, mean = (time.perf_counter() - began) / asked.seeds, float(np.mean(found))
            floor = floor or mean
            closed = f"{(floor - mean) / (floor - free):8.0%}" if mean != floor else " " * 8
            widths = "-".join(str(count) for count in sorted(factors))
            print(
                f"{epsilon:>7}  {name:<15} {mean:.4f} +- {np.std(found):.4f} {widths:>18} {closed}"
                f" {seconds:12.1f}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\npeak memory of everything: {peak:.1f} GB")


if __name__ == "__main__":
    main()
