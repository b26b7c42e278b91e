"""Star ratings as signed shuffled messages at an epsilon per user, without a curator: RMSE.

    python benchmarks/shuffled_stars.py ratings.parquet --seeds 3

Every user of DATA has 1, 17 or 166 devices, each with its own draws; a tenth of the ratings is held
out. A message is an item with a sign, which is drawn such that its mean is the rating on a scale
from -1 to 1. A device sends at most M of them, fills up with uniform ones, and adds dummies. The
counts of both signs have the number of an item's ratings and their sum. Devices add their user's
bias to the estimated item means. Rows state both epsilons, the messages of a device, and RMSE in
stars next to `item-mean` and `bias` without privacy.

With `--head H`, a second round is about pairs of the H most rated items. Its message is a pair with
the sign of the product of the user's residuals. The sums of signs replace the noisy covariance of
`dp-covariance`, whose low-rank rows are fitted to them.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit import fit, read
from tacit.collection.shuffled_plan import UNUSED, largest_delta
from tacit.kernels.draw import count_messages, words_needed
from tacit.kernels.layout import by_user
from tacit.planning.population import HELD_OUT, MadeUpWorld
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound, calibrated
from tacit.ratings import Ratings
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD
from tacit.training.person.covariance import TASTES, low_rank_rows, most_rated
from tacit.training.person.fitted_model import ItemSide
from tacit.training.person.item_means import ITEM_SPREAD, item_levels
from tacit.training.person.release_schedule import TASTE_SPREAD
from tacit.training.shuffled.simulation import SimulatedDevices

COPIES = (1, 17, 166)
EPSILONS = ("1", "4")
HONEST, TURNOUT = 0.8, 0.7
ITEM_SHARE = 0.2
"""Share of the round about items in the variance of the loss, next to a round about pairs."""
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class SignedCounts:
    """Debiased counts of both signs, shape (items,), and the variance of their uniform messages."""

    negative: Doubles
    positive: Doubles
    noise: float


@dataclass(frozen=True)
class SignedPairs:
    """Debiased sums of the signs of each pair, its messages, both of shape (head, head), and the
    variance of uniform messages in a sum."""

    sums: Doubles
    totals: Doubles
    noise: float


def shapes(items: int, messages: int, head: int, pairs: int) -> list[ShuffledRound]:
    """The rounds without dummies, two buckets per item and per pair. `head`: 0 for items alone."""
    rounds = [ShuffledRound(buckets=2 * items + UNUSED, messages=messages)]
    if head:
        rounds.append(ShuffledRound(buckets=head * (head - 1) + UNUSED, messages=pairs))
    return rounds


def certificate(people: int, rounds: list[ShuffledRound], epsilon: str) -> ShuffledCertificate:
    """The rounds of signed messages with the fewest dummies for an epsilon, a profile replaced."""
    bundles = max(int(TURNOUT * people), 1)
    delta = largest_delta(bundles)
    chosen = calibrated(
        rounds,
        [1.0] if len(rounds) == 1 else [ITEM_SHARE, 1 - ITEM_SHARE],
        devices=max(int(HONEST * bundles), 1),
        epsilon=float(epsilon),
        delta=float(delta),
    )
    return ShuffledCertificate.of(chosen, bundles=bundles, honest=f"{HONEST:g}", delta=delta)


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


def item_side(ratings: Ratings, counts: SignedCounts) -> ItemSide:
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
    return ItemSide("shuffled-bias", ratings, mu, biases[:, None])


def residual_signs(ratings: Ratings, side: ItemSide) -> NDArray[np.bool_]:
    """Which ratings are above the item's mean and the user's level, as their devices compute it."""
    middle = (ratings.scale.values[0] + ratings.scale.values[-1]) / 2
    labels = ratings.values - middle - side.mu - side.items[ratings.items, 0]
    rated = np.bincount(ratings.users, minlength=ratings.n_users)
    sums = np.bincount(ratings.users, labels, minlength=ratings.n_users)
    return labels > (sums / (rated + OWN_BIAS_RIDGE))[ratings.users]


def signed_pairs(
    ratings: Ratings, side: ItemSide, head: NDArray[np.bool_], copies: int, one: ShuffledRound
) -> SignedPairs:
    """Counts of a batch of all devices, each with its own pairs of the items in `head`."""
    size, few = int(head.sum()), head[ratings.items]
    column = (np.cumsum(head) - 1)[ratings.items[few]]
    signed = (column + size * residual_signs(ratings, side)[few]).astype(np.int32)
    users = by_user(ratings.users[few], signed, ratings.n_users, 2 * size)[0]
    counts = np.zeros(size * (2 * size + 1), np.int64)  # pairs of items with a sign each
    sent, rng = 0, np.random.default_rng()
    for _ in range(copies):
        words = rng.integers(0, 1 << 64, words_needed(users, one.messages, pairs=True), np.uint64)
        sent += count_messages(users, one.messages, words, counts, pairs=True)
    uniform = copies * ratings.n_users * (one.messages + one.dummies) - sent
    drawn = rng.multinomial(uniform, np.full(one.buckets, 1 / one.buckets))
    mean = float(drawn[-UNUSED:].mean())
    noise = [square(each - mean, size, -1) for each in np.split(drawn[:-UNUSED], 2)]
    both = square(counts, 2 * size, 0)
    equal = both[:size, :size] + both[size:, size:] + noise[0]
    opposite = both[:size, size:] + both[size:, :size] + noise[1]
    return SignedPairs(equal - opposite, equal + opposite, 2 * mean)


def square(values: NDArray[np.generic], size: int, diagonal: int) -> Doubles:
    """The symmetric matrix with these values up to a diagonal, row by row."""
    lower = np.zeros((size, size))
    lower[np.tril_indices(size, diagonal)] = values
    return lower + lower.T


def with_tastes(side: ItemSide, head: NDArray[np.bool_], pairs: SignedPairs) -> ItemSide:
    """The same items with low-rank rows of those in `head`.

    A pair's messages are nearly d_a d_b. The product of the signs of two residuals that are nearly
    normal, of deviation s and of a small correlation, has the mean 2 v_a . v_b / (pi s^2). All
    entries are divided by their deviations, which the root mean square estimates.
    """
    levels = np.asarray(side.ratings.scale.values)
    half = float(levels[-1] - levels[0]) / 2
    rated = np.maximum(pairs.totals.sum(0) / np.sqrt(max(pairs.totals.sum(), 1.0)), 1e-3)
    deviations = (rated**2 + pairs.noise) ** 0.25
    matrix = pairs.sums / np.outer(deviations, deviations)
    spread = float(np.sqrt((matrix**2).sum() / (matrix.size - len(matrix))))
    scale = rated / deviations * np.sqrt(2 / np.pi) / (RATING_SPREAD * 2 * half)
    rows = low_rank_rows(matrix, scale, spread, TASTES, TASTE_SPREAD * half)
    items = np.pad(side.items, ((0, 0), (0, rows.shape[1])))
    items[head, 1:] = rows
    return ItemSide("shuffled-covariance", side.ratings, side.mu, items)


def main() -> None:
    """Print a row per split, number of devices and epsilon."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a table of user, item and rating")
    parser.add_argument("--scale", default="1:5:1", help="the rating scale")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    parser.add_argument("--copies", type=int, nargs="+", default=COPIES, help="devices of a user")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, help="nats per user, replaced")
    parser.add_argument("--messages", type=int, default=25, help="M: most ratings of a device")
    parser.add_argument("--head", type=int, default=0, help="H: items whose pairs are sent")
    parser.add_argument("--pairs", type=int, default=100, help="most pairs of a device")
    options = parser.parse_args()
    data = read(options.data, scale=options.scale)
    rounds = shapes(data.n_items, options.messages, options.head, options.pairs)
    for seed in range(options.seeds):
        held_out = np.random.default_rng(seed).random(len(data)) < HELD_OUT
        world = MadeUpWorld(data.where(~held_out), data.where(held_out))
        free = (f"{name} {world.error(fit(name, world.own)):.4f}" for name in ("item-mean", "bias"))
        print(f"split {seed}: without privacy, {', '.join(free)}", flush=True)
        for copies in options.copies:
            for epsilon in options.epsilons:
                claim = certificate(copies * data.n_users, rounds, epsilon)
                print(f"split {seed}, {row(world, copies, options.head, claim)}", flush=True)


def row(world: MadeUpWorld, copies: int, head: int, claim: ShuffledCertificate) -> str:
    """RMSE of item means, and with pairs of `head` items, at the epsilon of a certificate."""
    counts = signed_counts(world.own, copies, claim.rounds[0])
    side = item_side(world.own, counts)
    errors = [world.error(side.fitted(claim.guarantee))]
    if head:
        chosen = most_rated(counts.negative + counts.positive, head)
        pairs = signed_pairs(world.own, side, chosen, copies, claim.rounds[1])
        errors.append(world.error(with_tastes(side, chosen, pairs).fitted(claim.guarantee)))
    sent = ", ".join(f"{one.messages} + {one.dummies}" for one in claim.rounds)
    return (
        f"{copies * world.own.n_users:,} devices: epsilon {claim.replaced} (replaced), "
        f"{claim.empty} (empty profile), delta {claim.delta}; {sent} messages; RMSE "
        f"{', with pairs '.join(f'{each:.4f}' for each in errors)}"
    )


if __name__ == "__main__":
    main()
