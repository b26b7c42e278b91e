"""Star ratings as signed shuffled messages at an epsilon per user, without a curator: RMSE.

    python benchmarks/shuffled_stars.py ratings.parquet --seeds 3

Every user of DATA has 1, 17 or 166 devices, each with its own draws; a tenth of the ratings is held
out. A message is an item with a sign, which is drawn such that its mean is the rating on a scale
from -1 to 1. A device sends at most M of them, fills up with uniform ones, and adds dummies. The
counts of both signs have the number of an item's ratings and their sum. Devices add their user's
bias to the estimated item means. Rows state both epsilons, the messages of a device, and RMSE in
stars next to `item-mean` and `bias` without privacy.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit import fit, read
from tacit.collection.shuffled_plan import UNUSED, largest_delta
from tacit.kernels.layout import by_user
from tacit.models.fitted import Fitted
from tacit.planning.population import HELD_OUT, MadeUpWorld
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound, calibrated
from tacit.ratings import Ratings
from tacit.training.person.fitted_model import ItemSide
from tacit.training.person.item_means import ITEM_SPREAD, item_levels
from tacit.training.shuffled.simulation import SimulatedDevices

COPIES = (1, 17, 166)
EPSILONS = ("1", "4")
HONEST, TURNOUT = 0.8, 0.7
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class SignedCounts:
    """Debiased counts of both signs, shape (items,), and the variance of their uniform messages."""

    negative: Doubles
    positive: Doubles
    noise: float


def certificate(people: int, items: int, messages: int, epsilon: str) -> ShuffledCertificate:
    """The round of signed messages with the fewest dummies for an epsilon, a profile replaced."""
    shape = ShuffledRound(buckets=2 * items + UNUSED, messages=messages)
    bundles = max(int(TURNOUT * people), 1)
    delta = largest_delta(bundles)
    (one,) = calibrated(
        [shape],
        [1.0],
        devices=max(int(HONEST * bundles), 1),
        epsilon=float(epsilon),
        delta=float(delta),
    )
    return ShuffledCertificate.of([one], bundles=bundles, honest=f"{HONEST:g}", delta=delta)


def signed_counts(ratings: Ratings, copies: int, one: ShuffledRound) -> SignedCounts:
    """Counts of a batch of all devices, each with its own signs and messages."""
    levels = np.asarray(ratings.scale.values)
    share = (ratings.values - levels[0]) / (levels[-1] - levels[0])
    shape = (ratings.n_users, 2 * ratings.n_items)
    counts, rng = np.zeros(one.buckets, np.int64), np.random.default_rng()
    for _ in range(copies):
        is_positive = rng.random(len(ratings)) < share
        buckets = (ratings.items + ratings.n_items * is_positive).astype(np.int32)
        users = by_user(ratings.users, buckets, *shape)[0]
        counts += SimulatedDevices(users, shape[1]).counts(one, pairs=False)
    uniform = float(counts[shape[1] :].mean())
    debiased = np.asarray(counts[: shape[1]] - uniform, np.float64)
    return SignedCounts(debiased[: ratings.n_items], debiased[ratings.n_items :], uniform)


def fitted(ratings: Ratings, counts: SignedCounts, claim: ShuffledCertificate) -> Fitted:
    """Item biases, shrunk by the noise of signs and of uniform messages."""
    levels = np.asarray(ratings.scale.values)
    half = float(levels[-1] - levels[0]) / 2
    sums, total = counts.positive - counts.negative, counts.positive + counts.negative
    mu = half * float(np.clip(sums.sum() / max(total.sum(), 1.0), -1, 1))
    least = max(float(np.sqrt(2 * counts.noise)) / 2, 1.0)
    weights = np.maximum(total, least)
    noise = half**2 * (2 * counts.noise + weights)
    groups = np.zeros(ratings.n_items, np.int64)
    pull = half * sums - mu * weights
    biases = item_levels(weights, pull, noise, ITEM_SPREAD * half, groups)
    return ItemSide("shuffled-bias", ratings, mu, biases[:, None]).fitted(claim.guarantee)


def main() -> None:
    """Print a row per split, number of devices and epsilon."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a table of user, item and rating")
    parser.add_argument("--scale", default="1:5:1", help="the rating scale")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    parser.add_argument("--messages", type=int, default=25, help="M: most ratings of a device")
    options = parser.parse_args()
    data = read(options.data, scale=options.scale)
    for seed in range(options.seeds):
        held_out = np.random.default_rng(seed).random(len(data)) < HELD_OUT
        world = MadeUpWorld(data.where(~held_out), data.where(held_out))
        free = (f"{name} {world.error(fit(name, world.own)):.4f}" for name in ("item-mean", "bias"))
        print(f"split {seed}: without privacy, {', '.join(free)}", flush=True)
        for copies in COPIES:
            people = copies * data.n_users
            for epsilon in EPSILONS:
                claim = certificate(people, data.n_items, options.messages, epsilon)
                (one,) = claim.rounds
                counts = signed_counts(world.own, copies, one)
                rmse = world.error(fitted(world.own, counts, claim))
                print(
                    f"split {seed}, {people:,} devices: epsilon {claim.replaced} (replaced), "
                    f"{claim.empty} (empty profile), delta {claim.delta}; {one.messages} + "
                    f"{one.dummies} messages; RMSE {rmse:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
