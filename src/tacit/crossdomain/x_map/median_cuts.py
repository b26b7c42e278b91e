"""Where the median of a rating goes from one level to the next, learnt from those who link domains.

No guess has a smaller expected absolute error than the median, which is a level of the scale. A
device knows its score theta, a mean; given theta, the median is the lowest level but k where theta
is above k *cuts*. Midpoints between levels would do if ratings lay evenly around their means; where
most are near an end of the scale they do not, and a level that carries over from one domain to the
other in part only shifts them, too. So everybody who links the domains tells, at home, what scores
made of their source ratings alone say of their target ratings:

    T[b, l] = sum over people of t[b, l] + noise,    t = cells counted / norm of these counts

for bins b of theta and levels l. The k-th cut is the edge e of bins that minimises

    sum of T[b, l] over l > k below e  +  sum of T[b, l] over l <= k above e,

the absolute errors on that side of level k. To T is added what the public spread of ratings expects
of each bin, as much as `PRIOR` deviations of the noise: with few links the cuts stay at midpoints.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.trial import Trial
from tacit.models import Fitted, device_predict
from tacit.public_priors import RATING_SPREAD
from tacit.ratings import Mask
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account

Doubles = NDArray[np.float64]
BINS = 8  # a level
PRIOR = 3.0
MOST_LEVELS = 100


def median_cuts(trial: Trial, links: Mask, fitted: Fitted, account: Account) -> Doubles:
    """Spend `cuts`: scores from where the median is a level higher, shape (levels - 1,)."""
    levels = fitted.levels
    edges = bin_edges(levels)
    totals, bound = _counted(trial, links, fitted, edges, account)
    sensitivity = contributions.count_sensitivity(bound)
    noisy = account.gaussian("cuts", totals, sensitivity=sensitivity) / bound
    deviation = account.multiplier("cuts") * sensitivity / bound
    return cuts(noisy + PRIOR * deviation * expected(levels, edges), edges)


def bin_edges(levels: Doubles) -> Doubles:
    """Between bins of scores, from a level below the scale to one above; shape (bins - 1,)."""
    step = levels[1] - levels[0]
    count = BINS * (len(levels) + 1)
    return levels[0] - step + step / BINS * np.arange(count + 1)


def expected(levels: Doubles, edges: Doubles) -> Doubles:
    """P(level | bin) if ratings lay around their score with the public spread; (bins, levels)."""
    width = edges[1] - edges[0]
    centres = np.append(edges - width / 2, edges[-1] + width / 2)
    spread = RATING_SPREAD * (levels[-1] - levels[0])
    odds = np.exp(-(((levels - centres[:, None]) / spread) ** 2) / 2)
    return odds / odds.sum(1, keepdims=True)


def cuts(table: Doubles, edges: Doubles) -> Doubles:
    """The edges of least absolute error by `table`, (bins, levels); never falling."""
    at_most = np.cumsum(table, 1)[:, :-1]
    above = table.sum(1, keepdims=True) - at_most
    # errors[e, k]: bins up to edge e are told k or less, all others more.
    errors = np.cumsum(above, 0) - np.cumsum(at_most, 0)
    return np.maximum.accumulate(edges[np.argmin(errors[:-1], 0)])


def medians(scores: Doubles, cuts: Doubles, levels: Doubles) -> Doubles:
    """The level that each score's median is."""
    return levels[np.searchsorted(cuts, scores, side="right")]


def _counted(
    trial: Trial, links: Mask, fitted: Fitted, edges: Doubles, account: Account
) -> tuple[NDArray[np.int64], int]:
    """T without its noise in steps, shape (bins, levels), and how many steps a person's norm is."""
    ratings, levels = trial.domains.ratings, len(fitted.levels)
    asked = ratings.where(trial.in_target & links[ratings.users])
    elsewhere = trial.domains.where(~trial.in_target).ratings
    scores = device_predict(fitted, elsewhere, asked.users, asked.items)
    cell = np.searchsorted(edges, scores) * levels + asked.levels
    cells = levels * (len(edges) + 1)
    pairs, counts = np.unique(asked.users.astype(np.int64) * cells + cell, return_counts=True)
    owner = pairs // cells
    norms = np.sqrt(np.bincount(owner, counts.astype(np.float64) ** 2, ratings.n_users))
    bound = contributions.count_grid(account.multiplier("cuts"))
    steps = contributions.whole(counts / norms[owner], owner, ratings.n_users, bound)
    totals = np.bincount(pairs % cells, steps, cells)  # whole numbers below 2^53: exact
    return np.rint(totals).astype(np.int64).reshape(-1, levels), bound
