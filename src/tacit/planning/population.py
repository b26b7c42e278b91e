"""Synthetic users of a planned deployment: their ratings, and the prediction error on devices.

Simulation of a large population by a smaller sample with the same estimation error.

curator   A release is a sum over users plus noise of a fixed deviation. With n of N users and
          n / N of the noise, the signal-to-noise ratio is that of N. The sampling error of n
          users is larger and decreases as 1 / n: two sizes determine the line (`extrapolated`).
rounds    N users send r bits each, in r of 128 rounds. With n users who send N r / n bits, each
          at the same epsilon, every round has the same number of bits.
slots     N users report on K slots each: N K / items reports per item, each with the
          information `fisher_information`. n users with N K / n slots send as many reports. If
          n times the number of items is too small or too large for that, the epsilon per slot
          is adjusted to give all reports together the same information.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

import numpy as np

from tacit.channels import fisher_information
from tacit.channels.table import Channel
from tacit.collection.named_plans import channel_of
from tacit.collection.slot_terms import STEPS, SlotTerms
from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.models.simulated_devices import device_predict
from tacit.ratings import Ratings
from tacit.readers.synthetic import FEWEST, MOST_OF_CATALOGUE, synthetic
from tacit.scale import RatingScale
from tacit.training import PGMF
from tacit.training.mechanism.accounting import LEAST, least_multiplier, renyi_epsilon
from tacit.vocabulary import Vocabulary

HELD_OUT = 0.1
MOST_RATINGS = 1_000_000
"""Maximum number of ratings per synthetic data set. Larger populations are sampled."""
MOST_ITEMS = 20_000


@dataclass(frozen=True, kw_only=True)
class Population:
    """`people` users with `ratings_each` ratings of `items` items on average, on `scale`.

    Raises `RequestError` for numbers outside the range of the generator.
    """

    people: int
    items: int
    ratings_each: int
    scale: RatingScale

    def __post_init__(self) -> None:
        if self.scale.has_one_level:
            raise RequestError(
                f"scale must have several levels, such as 1:5:1, got {self.scale}: a scale with "
                "one level has no ratings to predict."
            )
        if self.people < 100:
            raise RequestError(f"people must be at least 100, got {self.people}.")
        if not 2 <= self.items <= MOST_ITEMS:
            raise RequestError(
                f"items must be from 2 to {MOST_ITEMS}, got {self.items}; count only "
                "the items with the most ratings."
            )
        if not 2 <= self.ratings_each <= self.items * MOST_OF_CATALOGUE:
            raise RequestError(
                f"ratings_each must be from 2 to half of the {self.items} items, got "
                f"{self.ratings_each}; use fewer ratings, or more items."
            )

    @property
    def simulated(self) -> int:
        """Number of simulated users: all, or as many as have `MOST_RATINGS` ratings."""
        return min(self.people, max(100, MOST_RATINGS // self.ratings_each))

    def world(self, rng: int) -> "MadeUpWorld":
        """Generate the users of a seed, with a tenth of their ratings held out."""
        fewest = max(1, min(FEWEST, 2 * self.ratings_each // 3))
        count = self.simulated * self.ratings_each
        ratings = synthetic(self.simulated, self.items, count, self.scale, rng=rng, fewest=fewest)
        held_out = np.random.default_rng(rng).random(len(ratings)) < HELD_OUT
        return MadeUpWorld(ratings.where(~held_out), ratings.where(held_out))


@dataclass(frozen=True, eq=False)
class MadeUpWorld:
    """Synthetic ratings. `own`: stored on the devices. `test`: held out."""

    own: Ratings
    test: Ratings

    def first(self, people: int) -> Ratings:
        """Return the ratings on the first devices. The order of synthetic users is random."""
        if people >= self.own.n_users:
            return self.own
        ids = Vocabulary(self.own.user_ids.ids[:people])
        return replace(self.own.where(self.own.users < people), user_ids=ids)

    def error(self, fitted: Fitted) -> float:
        """Return the RMSE in stars on all devices, including those of users not in the fit."""
        model = fitted.on_devices()
        shape = (len(model.mu), self.own.n_users, model.items.shape[2])
        everybody = replace(model, user_ids=self.own.user_ids, people=np.zeros(shape, np.float32))
        predicted = np.asarray(
            device_predict(everybody, self.own, self.test.users, self.test.items), np.float64
        )
        low, high = float(model.levels[0]), float(model.levels[-1])
        return float(np.sqrt(np.mean((np.clip(predicted, low, high) - self.test.values) ** 2)))

    @property
    def error_of_mean(self) -> float:
        """RMSE in stars of the mean of the ratings on the devices."""
        errors = np.asarray(self.test.values, np.float64) - float(np.mean(self.own.values))
        return float(np.sqrt(np.mean(errors**2)))


MOST_REPORTS, MOST_PEOPLE = 1_000_000, 4000
"""Limits on simulated reports and users. Above them, fewer users send more informative reports."""


def curator_epsilon(epsilon: str, delta: str, share: float) -> str:
    """Return the epsilon per user, in nats, at which the noise is `share` times that at `epsilon`.

    The noise multiplier is at least the smallest one that the accounting supports, at which one
    user's contribution already exceeds the noise.
    """
    multiplier = max(least_multiplier(epsilon, delta) * share, 1.01 * LEAST)
    return f"{renyi_epsilon([f'{multiplier:.12g}'], delta):.6f}"


def extrapolated(
    errors: tuple[float, float], sizes: tuple[int, int], people: int, power: float
) -> float:
    """Extrapolate the error to `people` users from `errors` at two `sizes`, the second larger.

    Linear in n^-power for n users. At most the error at the larger size.
    """
    few, many, all_of_them = (n**-power for n in (*sizes, people))
    slope = max(0.0, (errors[0] - errors[1]) / (few - many))
    return errors[1] - slope * (many - all_of_them)


@dataclass(frozen=True, kw_only=True)
class AskedSlots:
    """Simulated reports of `people` users on `slots` slots each, through `channel`.

    `share`: of the information in the reports of all users. 1, unless even the largest epsilon is
    too small.
    """

    people: int
    slots: int
    channel: Channel
    share: float


@dataclass(frozen=True, kw_only=True)
class AskedRounds:
    """Simulated reports of `people` users in `reports` rounds each, for `epsilon` nats per user.
    `share`: of the number of reports of all users."""

    people: int
    reports: int
    epsilon: str
    share: float


def asked_rounds(training: PGMF, epsilon: str, people: int, simulated: int) -> AskedRounds:
    """Return a sample of the `simulated` users with as many reports as `people` users at `epsilon`
    nats each, and the same noise per report: each user takes part in more rounds of `training`."""
    reports, each = training.budget(epsilon)
    more = reports
    while more < training.rounds and people * reports > simulated * more:
        more = next(n for n in range(more + 1, training.rounds + 1) if training.rounds % n == 0)
    wanted = round(people * reports / more)
    return AskedRounds(
        people=min(wanted, simulated),
        reports=more,
        epsilon=epsilon if more == reports else f"{Decimal(each) * more:.12f}",
        share=min(1.0, simulated / wanted),
    )


def reported_slots(
    terms: SlotTerms,
    through: str,
    people: int,
    simulated: int,
    n_items: int,
    density: float,
    scale: RatingScale,
) -> AskedSlots:
    """Return a sample whose reports have as much information per item as those of `people` users
    under `terms`.

    `simulated`: number of available users. `density`: share of slots with a reported rating.
    `through`: name of the channel.
    """
    each = n_items if terms.plan == "catalogue" else int(terms.plan.removeprefix("sample:"))
    reports = people * each
    simulate_all = people <= min(simulated, 2 * MOST_PEOPLE) and reports <= 2 * MOST_REPORTS
    if simulate_all:
        return AskedSlots(
            people=people, slots=each, channel=_table(through, terms.epsilon, scale), share=1.0
        )
    fewer = min(people, simulated, MOST_PEOPLE)
    slots = min(n_items, max(1, round(min(reports, MOST_REPORTS) / fewer)))
    wanted = _information(through, terms.epsilon, scale, density) * reports / (fewer * slots)
    epsilon = next(
        (
            step
            for step in _steps(terms.epsilon)
            if _information(through, step, scale, density) >= wanted
        ),
        STEPS[-1],
    )
    ratio = _information(through, epsilon, scale, density) / wanted
    return AskedSlots(
        people=fewer,
        slots=max(1, round(slots / max(1.0, ratio))),  # corrects for the grid of epsilons
        channel=_table(through, epsilon, scale),
        share=min(1.0, ratio),
    )


def _steps(least: str) -> tuple[str, ...]:
    return tuple(step for step in STEPS if Decimal(step) >= Decimal(least))


@cache
def _table(through: str, epsilon: str, scale: RatingScale) -> Channel:
    return channel_of(through, epsilon, scale, missing=True)


@cache
def _information(through: str, epsilon: str, scale: RatingScale, density: float) -> float:
    return fisher_information(_table(through, epsilon, scale), density=density)
