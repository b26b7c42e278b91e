"""One-run audit: a lower bound on epsilon from canaries in a single training run.

Each canary is included or excluded by an independent fair coin, and the auditor guesses some of the
coins from the release. If the release is (epsilon, 0)-differentially private, each guess is correct
with probability at most e^epsilon / (1 + e^epsilon), given all others: the number of correct ones
among r guesses is stochastically dominated by a binomial (Steinke, Nasr and Jagielski 2023, theorem
5.2). A delta adds 2 m delta / i for i more correct guesses, with m canaries.

A canary has the trainer's privacy unit. For users: a user who rated two otherwise unrated items,
one at each end of the scale, and whose profile is included or not. For values: one rating of an
otherwise unrated item, at one end of the scale or the other. A coin thus changes one unit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import binom

from tacit.errors import RequestError, must_be
from tacit.models import Fitted, FittedLists
from tacit.ratings import Mask, Ratings
from tacit.readers import from_frame

Doubles = NDArray[np.float64]
Train = Callable[[Ratings], Fitted | FittedLists]
GUESSED = 0.2
"""Fraction of canaries guessed: the most extreme scores, half of them on either side."""
MOST = 30.0  # nats: more than any number of guesses could detect


@dataclass(frozen=True, kw_only=True)
class OneRun:
    """Result of one run: `right` of `guesses` about the coins of `canaries`."""

    canaries: int
    guesses: int
    right: int
    delta: float

    def p_value(self, epsilon: float) -> float:
        """Return a bound on the probability of this many correct guesses under (epsilon, delta).

        `epsilon`: nats.
        """
        share = 1 / (1 + math.exp(-epsilon))
        below = binom.pmf(np.arange(self.right - 1, -1, -1), self.guesses, share)
        steps = np.arange(1, self.right + 1)
        most = float((np.cumsum(below) / steps).max()) if self.right else 0.0
        tail = float(binom.sf(self.right - 1, self.guesses, share))
        return min(1.0, tail + 2 * self.canaries * self.delta * most)

    def least_epsilon(self, confidence: float = 0.95) -> float:
        """Return a lower confidence bound on epsilon, in nats; 0 if nothing is detected.

        `confidence`: probability that the bound holds.
        """
        low, high = 0.0, MOST
        if self.p_value(low) > 1 - confidence:
            return 0.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.p_value(middle) <= 1 - confidence else (low, middle)
        return low


def one_run(
    train: Train, ratings: Ratings, unit: str, *, canaries: int = 1000, seed: int
) -> OneRun:
    """Train once on `ratings` and canaries, and guess their coins from the items' levels.

    `unit`: "user" or "value", the trainer's privacy unit. Raises `RequestError` for another unit,
    and for fewer canaries than ten.
    """
    must_be(Ratings, ratings, "`Ratings`", "pass the trainer's ratings without the canaries")
    if unit not in ("user", "value") or canaries < 10:
        raise RequestError(
            f"canaries must be at least 10, and unit must be user or value, got {canaries} "
            f"canaries and unit {unit}."
        )
    coins = np.random.default_rng(seed).random(canaries) < 0.5
    fitted = train(with_canaries(ratings, coins, unit))
    scores = _levels(fitted)[ratings.n_items :].reshape(canaries, -1)
    if scores.shape[1] == 2 and isinstance(fitted, Fitted):
        scores[:, 1] *= -1  # the item that the user rated low
    return guessed(scores.sum(1), coins, float(fitted.guarantee.delta))


def guessed(score: Doubles, coins: Mask, delta: float) -> OneRun:
    """Guess the highest scores to be included, and the lowest to be excluded."""
    order = np.argsort(score, kind="stable")
    half = max(1, round(len(coins) * GUESSED / 2))
    right = int(coins[order[-half:]].sum() + (~coins[order[:half]]).sum())
    return OneRun(canaries=len(coins), guesses=2 * half, right=right, delta=delta)


def with_canaries(ratings: Ratings, coins: Mask, unit: str) -> Ratings:
    """Append canaries as the last users, with separate items, the last ones.

    At the unit `user` each has two items, the first rated high and the second low. An excluded user
    has no ratings but takes part all the same: participation is public. At the unit `value` each
    has one item, always rated, and the coin determines whether high or low.
    """
    people, items = ratings.n_users, ratings.n_items
    low, high = ratings.scale.values[0], ratings.scale.values[-1]
    each = 2 if unit == "user" else 1
    who = np.repeat(np.arange(len(coins)), each)
    is_high = np.tile([True, False], len(coins)) if unit == "user" else coins
    included = coins[who] if unit == "user" else np.ones(len(who), bool)
    canaries = pl.DataFrame(
        {
            "user": people + who[included],
            "item": items + np.arange(len(who))[included],
            "rating": np.where(is_high, high, low)[included].astype(np.float64),
        }
    )
    base = pl.DataFrame(
        {"user": ratings.users, "item": ratings.items, "rating": ratings.values}
    ).cast(canaries.schema)
    joined = from_frame(pl.concat([base, canaries]), scale=ratings.scale, name=ratings.name)
    everybody = joined.with_people(range(people + len(coins)))
    return everybody.with_catalogue(range(items + len(who)))


def _levels(fitted: Fitted | FittedLists) -> Doubles:
    """Return the released level of each item, shape (items,)."""
    if isinstance(fitted, FittedLists):
        return np.asarray(fitted.weights.popularity, np.float64)
    return fitted.on_devices().items[:, :, 0].mean(0).astype(np.float64)
