"""Baselines of cross-domain methods: a constant, and the item mean with or without a user offset.

    constant        the level with the smallest absolute error on the known target ratings
    constant-mean   their mean, which is rounded for the rounded error
    item-average    rating of i = m_i
    item-offset     rating of i = m_i + b_u
                    b_u = sum over u's n known ratings of (r_uj - m_j) / (n + 5)

m_i is the mean of the item's known ratings or, without any, that of its domain. b_u is damped by
five ratings, like every user bias on a device.

In strict mode the means are noisy releases of a curator at an epsilon per user
(`tacit.training.person.item_means`). Each user's bias is subtracted from the ratings before they
are summed, so that m_i is the rating of a user without bias. `item-average` spends its budget on
the target's items only. `item-offset` releases the means of all domains, because the offset is
estimated from ratings in other domains. It is computed on the device from true ratings.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.models import device_predict
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.ratings import Mask, Ratings
from tacit.scale import OWN_BIAS_RIDGE
from tacit.training.person.dpals import DPALS
from tacit.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class Constant:
    """One rating for all users and items, without privacy. `level`: whether it is a level of the
    scale instead of the mean."""

    level: bool = True

    variant = None
    mode = "none"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "constant" if self.level else "constant-mean"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # one pass over the ratings, without a guarantee
        trial.require_stars()
        values = np.full(
            len(trial.items), self._value(trial.domains.ratings.where(trial.in_target))
        )
        covered = np.zeros(len(trial.items), np.bool_)
        return TrialPredictions(Predicted(values, covered), NO_PRIVACY)

    def _value(self, known: Ratings) -> float:
        """Return the lower median or the mean. Without ratings, the middle level."""
        levels = np.asarray(known.scale.values)
        if not len(known):
            return float(levels[(len(levels) - 1) // 2])
        if not self.level:
            return float(known.values.astype(np.float64).mean())
        return float(levels[np.sort(known.levels)[(len(known) - 1) // 2]])


@dataclass(frozen=True, kw_only=True)
class ItemMeans:
    """`offset`: whether users have an offset. `mode`: "none", or "strict" for noisy means at
    `delta`, a decimal string."""

    offset: bool = False
    mode: str = "none"
    delta: str = "1e-6"

    variant = None

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "item-offset" if self.offset else "item-average"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`. Raises `RequestError` in strict mode without an epsilon."""
        del engine  # one pass over the ratings
        trial.require_stars()
        if self.mode == "none":
            return TrialPredictions(Predicted(self._plain(trial), self._covered(trial)), NO_PRIVACY)
        if epsilon is None:
            raise RequestError(
                f"The system {self.name} in strict mode requires an epsilon, such as 1."
            )
        known = trial.domains.ratings if self.offset else alone(trial.domains, trial.target)
        fitted = DPALS(factors=0).fit(known, epsilon=epsilon, delta=self.delta)
        if self.offset:
            values = device_predict(fitted, known, trial.users, trial.items)
        else:
            items = trial.items - np.int32(trial.domains.bounds[trial.target])
            values = fitted.predict_codes(trial.users, items)
        predicted = Predicted(values.astype(np.float64), self._covered(trial))
        return TrialPredictions(predicted, fitted.guarantee)

    def _plain(self, trial: Trial) -> Doubles:
        means = item_means(trial.domains)
        values = means[trial.items]
        return values + user_offsets(trial.domains, means)[trial.users] if self.offset else values

    def _covered(self, trial: Trial) -> Mask:
        """Return whether each prediction uses more than the item mean: with offset, if the user has
        known ratings."""
        ratings = trial.domains.ratings
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        return (counts[trial.users] > 0) & self.offset


def item_means(domains: Domains) -> Doubles:
    """Return the mean known rating of each item, shape (items,), otherwise that of its domain,
    otherwise the middle of the scale."""
    ratings, values = domains.ratings, domains.ratings.values.astype(np.float64)
    middle = float(ratings.scale.low + ratings.scale.high) / 2
    counts = np.bincount(ratings.items, minlength=ratings.n_items)
    sums = np.bincount(ratings.items, values, ratings.n_items)
    rows = [domains.rows(number) for number in range(len(domains.names))]
    domain_means = np.array([values[mine].mean() if mine.any() else middle for mine in rows])
    return np.where(counts > 0, sums / np.maximum(counts, 1), domain_means[domains.of_item])


def user_offsets(domains: Domains, means: Doubles) -> Doubles:
    """Return each user's offset from `means` (items,), damped by five ratings, shape (people,)."""
    ratings = domains.ratings
    around = ratings.values - means[ratings.items]
    counts: NDArray[np.int64] = np.bincount(ratings.users, minlength=ratings.n_users)
    return np.bincount(ratings.users, around, ratings.n_users) / (counts + OWN_BIAS_RIDGE)


def alone(domains: Domains, number: int) -> Ratings:
    """Return one domain's ratings with its own catalogue: item indices start at 0."""
    first, end = domains.bounds[number], domains.bounds[number + 1]
    mine = domains.where(domains.rows(number)).ratings
    return replace(
        mine,
        items=mine.items - np.int32(first),
        item_ids=Vocabulary(mine.item_ids.ids[first:end]),
        name=domains.names[number],
    )
