"""Floors every cross-domain method must beat: an item's mean, and a person's own level around it.

    item-average    rating of i = m_i
    item-offset     rating of i = m_i + b_u
                    b_u = sum over u's n known ratings of (r_uj - m_j) / (n + 5)

m_i is the mean of the item's known ratings; for an item without any, that of its domain's. b_u is
damped by five ratings, as every device's own level is. Without privacy both are that and no more.

Strict, the means are a curator's noisy ones at an epsilon per person
(`tacit.training.person.item_means`), where
each person's level is taken out of their ratings before these are summed: m_i is then what a person
with no level of their own would give. `item-average` spends its budget on the target's items alone.
`item-offset` needs those of every domain, since the offset is learnt from what is known of
the person elsewhere; it is solved at home, from true ratings that stay there.
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
from tacit.public_priors import OWN_BIAS_RIDGE
from tacit.ratings import Mask, Ratings
from tacit.training.person.dpals import DPALS
from tacit.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class ItemMeans:
    """`offset`: whether people have a level of their own. `mode`: "none", or "strict" for noisy
    means at `delta`, a decimal string."""

    offset: bool = False
    mode: str = "none"
    delta: str = "1e-6"

    variant = None

    @property
    def name(self) -> str:
        """As in the results."""
        return "item-offset" if self.offset else "item-average"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`; raises `RequestError` for a strict mean without an epsilon."""
        del engine  # one pass over the ratings
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
        return values + own_offsets(trial.domains, means)[trial.users] if self.offset else values

    def _covered(self, trial: Trial) -> Mask:
        """Where a prediction is more than an item's mean: where anything is known of the person."""
        ratings = trial.domains.ratings
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        return (counts[trial.users] > 0) & self.offset


def item_means(domains: Domains) -> Doubles:
    """The mean known rating of each item, shape (items,); of its domain where the item has none,
    and the middle of the scale where the domain has none."""
    ratings, values = domains.ratings, domains.ratings.values.astype(np.float64)
    middle = float(ratings.scale.low + ratings.scale.high) / 2
    counts = np.bincount(ratings.items, minlength=ratings.n_items)
    sums = np.bincount(ratings.items, values, ratings.n_items)
    rows = [domains.rows(number) for number in range(len(domains.names))]
    whole = np.array([values[mine].mean() if mine.any() else middle for mine in rows])
    return np.where(counts > 0, sums / np.maximum(counts, 1), whole[domains.of_item])


def own_offsets(domains: Domains, means: Doubles) -> Doubles:
    """Everybody's level around `means` (items,), damped by five ratings; shape (people,)."""
    ratings = domains.ratings
    around = ratings.values - means[ratings.items]
    counts: NDArray[np.int64] = np.bincount(ratings.users, minlength=ratings.n_users)
    return np.bincount(ratings.users, around, ratings.n_users) / (counts + OWN_BIAS_RIDGE)


def alone(domains: Domains, number: int) -> Ratings:
    """One domain's ratings with a catalogue of its own: item codes begin at 0."""
    first, end = domains.bounds[number], domains.bounds[number + 1]
    mine = domains.where(domains.rows(number)).ratings
    return replace(
        mine,
        items=mine.items - np.int32(first),
        item_ids=Vocabulary(mine.item_ids.ids[first:end]),
        name=domains.names[number],
    )
