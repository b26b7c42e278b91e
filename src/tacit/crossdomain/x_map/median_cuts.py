"""Where the median of a rating goes from one level to the next, learnt from those who link domains.

No guess has a smaller expected absolute error than the median, which is a level of the scale. A
device knows its score theta, a mean; given theta, the median is the lowest level but k where theta
is above k *cuts*. Midpoints between levels would do if ratings lay evenly around their means; where
most are near an end of the scale they do not, and a taste or a level that carries over from one
domain to the other in part only shifts cuts, too. So everybody who links the domains tells, at
home, what scores made of their source ratings alone say of their target ratings:

    T[b, l] = sum over people of t[b, l] + noise,    t = cells counted / norm of these counts

for bins b of theta and levels l. A k-th cut at the edge e of bins then errs by

    E(e) = sum of T[b, l] over l > k below e  +  sum of T[b, l] over l <= k above e.

The cut is the mean of edges of weight exp(-E(e) / tau) times a normal prior around the midpoint;
tau is the deviation that noise gives E over one level of scores. So cuts of few links stay at the
midpoints, and those of many are where E is least.
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
BINS = 8  # a level
SPREAD = 0.4  # of a cut around the midpoint, in levels, before anything is released


def median_cuts(trial: Trial, links: Mask, fitted: Fitted, account: Account) -> Doubles:
    """Spend `cuts`: scores from where the median is a level higher, shape (levels - 1,).

    `links`: who has ratings in the target and elsewhere, shape (people,).
    """
    levels = fitted.levels
    edges = bin_edges(levels)
    bound = contributions.count_grid(account.multiplier("cuts"))
    totals = _counted(trial, links, fitted, edges, bound)
    sensitivity = contributions.count_sensitivity(bound)
    noisy = account.gaussian("cuts", totals, sensitivity=sensitivity)
    return cuts(noisy / bound, account.multiplier("cuts") * sensitivity / bound, levels)


def bin_edges(levels: Doubles) -> Doubles:
    """Lower ends of all bins but the first, all over the scale; shape (bins - 1,)."""
    bins = BINS * (len(levels) - 1)
    return levels[0] + (levels[-1] - levels[0]) / bins * np.arange(1, bins + 1)


def cuts(table: Doubles, deviation: float, levels: Doubles) -> Doubles:
    """The cuts that `table`, (bins, levels), tells; never falling, shape (levels - 1,).

    `deviation`: of the noise of an entry.
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
    """The level that is each score's median."""
    return levels[np.searchsorted(cuts, scores, side="right")]


def _counted(
    trial: Trial, links: Mask, fitted: Fitted, edges: Doubles, bound: int
) -> NDArray[np.int64]:
    """T without its noise, in steps of which a person's norm has `bound`; shape (bins, levels)."""
    known, levels = trial.domains.ratings, len(fitted.levels)
    asked = known.where(trial.in_target & links[known.users])
    elsewhere = trial.domains.where(~trial.in_target).ratings
    scores = device_predict(fitted, elsewhere, asked.users, asked.items)
    cell = np.searchsorted(edges, scores, side="right") * levels + asked.levels
    cells = levels * (len(edges) + 1)
    pairs, counts = np.unique(asked.users.astype(np.int64) * cells + cell, return_counts=True)
    owner = pairs // cells
    norms = np.sqrt(np.bincount(owner, counts.astype(np.float64) ** 2, known.n_users))
    steps = contributions.whole(counts / norms[owner], owner, known.n_users, bound)
    totals = np.bincount(pairs % cells, steps, cells)  # whole numbers below 2^53 add up exactly
    return totals.astype(np.int64).reshape(-1, levels)
