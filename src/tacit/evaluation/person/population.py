"""Synthetic users of a planned deployment: their ratings, and the prediction error on devices."""

from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.models.simulated_devices import device_predict
from tacit.ratings import Ratings
from tacit.readers.synthetic import FEWEST, MOST_OF_CATALOGUE, synthetic
from tacit.scale import RatingScale
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
                f"scale must have several levels, such as 1:5:1, got {self.scale}: it has no "
                "ratings to predict."
            )
        if self.people < 100:
            raise RequestError(f"people must be at least 100, got {self.people}.")
        if not 2 <= self.items <= MOST_ITEMS:
            raise RequestError(
                f"items must be from 2 to {MOST_ITEMS}, got {self.items}; count only the items "
                "with most ratings."
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
