"""X-Map with a valid guarantee: a private release of cross-domain item factors, and on-device
fold-in.

    x-map-strict   the bounded, noisy Gram matrix of co-ratings, and noisy item means
    x-map-factors  item factors of private alternating least squares, instead of the Gram matrix

Either is released once, over the items of all domains and for one target, at an (epsilon, delta)
per user, with joint accounting of all draws (`tacit.training`). Everything else is post-processing
without further cost: items have factors in a common space, a device solves its user's row from
ratings that never leave it, and the AlterEgo consists of the median of each target rating of that
user (`median_cuts`). It uses no neighbour's rating, no candidate set and no mean of true ratings.

Scores at which the median rating changes level, estimated from the users that link domains.

The median, a level of the scale, has the smallest expected absolute error. A device computes the
score theta, a mean. The median given theta is the k-th level above the lowest if theta exceeds k
*cuts*. Midpoints between levels are the right cuts for symmetric residuals, but not if most ratings
are near an end of the scale, or if preferences transfer only in part. Each linking user therefore
contributes a table of target levels by the scores from the source ratings:

    T[b, l] = sum over users of t[b, l] + noise,    t = cell counts / norm of these counts

for bins b of theta and levels l. A k-th cut at the bin edge e has the error

    E(e) = sum of T[b, l] over l > k below e  +  sum of T[b, l] over l <= k above e.

The cut is the mean of the edges with weights exp(-E(e) / tau) times a normal prior around the
midpoint. tau is the deviation of E due to noise over one level of scores. With few links the cuts
stay at the midpoints. With many they minimize E.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.models import Fitted, device_predict
from tacit.ratings import Mask
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.fitted_model import promise
from tacit.training.person.item_means import CrossDomain

BINS = 8  # per level
SPREAD = 0.4  # prior deviation of a cut around the midpoint, in levels


def median_cuts(trial: Trial, links: Mask, fitted: Fitted, account: Account) -> Doubles:
    """Estimate the cuts with the budget `cuts`: scores above which the median is a level higher,
    shape (levels - 1,).

    `links`: mask of users with ratings in the target and in a source, shape (people,).
    """
    levels = fitted.levels
    edges = bin_edges(levels)
    bound = contributions.count_grid(account.multiplier("cuts"))
    totals = _counted(trial, links, fitted, edges, bound)
    sensitivity = contributions.count_sensitivity(bound)
    noisy = account.gaussian("cuts", totals, sensitivity=sensitivity)
    return cuts(noisy / bound, account.multiplier("cuts") * sensitivity / bound, levels)


def bin_edges(levels: Doubles) -> Doubles:
    """Return the lower ends of all bins over the scale except the first, shape (bins - 1,)."""
    bins = BINS * (len(levels) - 1)
    return levels[0] + (levels[-1] - levels[0]) / bins * np.arange(1, bins + 1)


def cuts(table: Doubles, deviation: float, levels: Doubles) -> Doubles:
    """Compute the cuts from `table`, (bins, levels). Non-decreasing, shape (levels - 1,).

    `deviation`: of the noise in an entry.
    """
    edges, step = bin_edges(levels), levels[1] - levels[0]
    at_most = np.cumsum(table, 1)[:, :-1]
    above = table.sum(1, keepdims=True) - at_most
    errors = (np.cumsum(above, 0) - np.cumsum(at_most, 0))[:-1]
    away = (edges[:, None] - levels[:-1] - step / 2) / (SPREAD * step)
    odds = -errors / (deviation * math.sqrt(BINS * len(levels))) - away**2 / 2
    weights = np.exp(odds - odds.max(0))
    return np.maximum.accumulate(edges @ weights / weights.sum(0))


def medians(scores: Doubles, cuts: Doubles, levels: Doubles) -> Doubles:
    """Return the median level of each score."""
    return levels[np.searchsorted(cuts, scores, side="right")]


def _counted(
    trial: Trial, links: Mask, fitted: Fitted, edges: Doubles, bound: int
) -> NDArray[np.int64]:
    """Return T without noise, in steps of 1 / `bound` of a user's norm, shape (bins, levels)."""
    known, levels = trial.domains.ratings, len(fitted.levels)
    queries = known.where(trial.in_target & links[known.users])
    elsewhere = trial.domains.where(~trial.in_target).ratings
    scores = device_predict(fitted, elsewhere, queries.users, queries.items)
    cell = np.searchsorted(edges, scores, side="right") * levels + queries.levels
    cells = levels * (len(edges) + 1)
    pairs, counts = np.unique(queries.users.astype(np.int64) * cells + cell, return_counts=True)
    owner = pairs // cells
    norms = np.sqrt(np.bincount(owner, counts.astype(np.float64) ** 2, known.n_users))
    steps = contributions.rounded(counts / norms[owner], owner, known.n_users, bound)
    totals = np.bincount(pairs % cells, steps, cells)  # exact: integers below 2^53
    return totals.astype(np.int64).reshape(-1, levels)


CUTS = 0.05  # share of the budget
MOST_LEVELS = 20  # maximum number of levels for cuts
TIE = 1e-6  # weight of the score, which breaks ties between equal medians in lists


@dataclass(frozen=True, kw_only=True)
class StrictMap:
    """`training`: the trainer of the release. `delta`: a decimal string."""

    training: DPALS | DPCovariance
    delta: str = "1e-6"

    variant = None
    mode = "strict"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "x-map-strict" if isinstance(self.training, DPCovariance) else "x-map-factors"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`. Raises `RequestError` without an epsilon."""
        del engine  # the release is one pass of matrix products
        if epsilon is None:
            raise RequestError(f"{self.name} requires an epsilon per user, such as 8.")
        fitted, cuts = self.release(trial, epsilon, SecretReleases())
        ratings, levels = trial.domains.ratings, fitted.levels
        values = device_predict(fitted, ratings, trial.users, trial.items).astype(np.float64)
        if len(cuts):
            values = medians(values, cuts, levels) + TIE * (values - levels[-1])
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)

    def release(
        self, trial: Trial, epsilon: str, releases: NoisyReleases
    ) -> tuple[Fitted, Doubles]:
        """Return everything that the curator releases: the item side, and the cuts of its scores
        (`median_cuts`), none on a scale of many levels, where means are as accurate as medians.

        `epsilon`: nats per user, a decimal string. Raises `CertificateError` if the account does
        not balance.
        """
        account = Account(epsilon, self.delta, releases)
        domains, target = trial.domains, trial.target
        few = domains.ratings.scale.n_levels <= MOST_LEVELS
        if few:
            account.reserve("cuts", CUTS)
        links = np.zeros(domains.ratings.n_users, np.bool_)
        links[domains.straddlers(target)] = True
        inputs = CrossDomain(links, domains.of_item.astype(np.int64), target)
        side = self.training.learn(domains.ratings, account, cross_domain=inputs)
        fold_in = side.fitted(promise(account))
        cuts = median_cuts(trial, links, fold_in, account) if few else np.empty(0)
        return side.closed(account), cuts
