"""Scores at which the median rating changes level, estimated from the users that link domains.

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

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.trial import Trial
from tacit.models import Fitted, device_predict
from tacit.ratings import Mask
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account

Doubles = NDArray[np.float64]
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
    steps = contributions.whole(counts / norms[owner], owner, known.n_users, bound)
    totals = np.bincount(pairs % cells, steps, cells)  # exact: integers below 2^53
    return totals.astype(np.int64).reshape(-1, levels)
