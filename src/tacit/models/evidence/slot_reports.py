"""Reports of slots: debiased values, and the mixture of rated and unrated slots.

Debiased reports: numbers whose expectation is the rating, and their noise.

Each symbol o gets a number g(o) such that, over the channel,

    E[g | rated r] = r - middle,      E[g | not rated] = 0      (a slot without a report counts 0),

which makes sums over users or items unbiased, whatever the channel adds at random.

Reports of possibly unrated slots as reports of ratings through a noisier channel.

A slot that was rated with prior probability w sends the symbol o with

    q(o | level) = (1 - w) P(o | not rated) + w P(o | level),

which is a channel too. Slots of similar w share one, so that a model of reported ratings fits
reports of slots unchanged. Slots that were not reported carry no information about preferences:
these channels are equally likely to send nothing for every rating.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence, PresenceChannel
from tacit.scale import RATED_SHARE

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decoded:
    """Debiased reports.

    `values`: g of each report, in ratings above the middle of the scale, shape (n,). `noise`:
    variance given the rating. `unrated`: variance added by a user's slot without a rating, shape
    (users,).
    """

    values: Doubles
    noise: float
    unrated: Doubles


def decode(data: Evidence) -> Decoded:
    """Return the reports of `data` as debiased numbers."""
    if data.hidden is None:
        g, noise = _regressed(data)
        return Decoded(g[data.symbols], noise, np.zeros(len(data.user_ids)))
    g, noise, unrated = _unbiased(data, data.hidden)
    rated, share = data.hidden.rated, data.presence.share
    per_report = g[data.symbols] / (rated * share)[data.user_of] * data.presence.lift[data.item_of]
    slots = unrated * data.hidden.unrated / (rated**2 * share)
    return Decoded(per_report, noise / float(np.mean(rated * share)), slots)


def _centred(data: Evidence) -> Doubles:
    levels = np.asarray(data.scale.values)
    return levels - (levels[0] + levels[-1]) / 2


def _regressed(data: Evidence) -> tuple[Doubles, float]:
    """Return numbers unbiased for the linear part of the response, and their mean variance.

    t(o) = E[rating | o] under a uniform prior has the direction of the score. Its regression on the
    true level, E[t | r] ~ a + kappa r, is known from the table, so (t - a) / kappa is unbiased
    along the line. Exact unbiasedness at every level is possible too, but at small epsilon its
    variance explodes.
    """
    levels, P, blocks = _centred(data), data.likelihood, len(data.blocks)
    t = (levels @ P) / P.sum(0)
    response = P @ t / blocks
    around = levels - levels.mean()
    kappa = float(around @ response) / float(around @ around)
    g: Doubles = levels.mean() + (t - response.mean()) / kappa
    variance: Doubles = P @ g**2 / blocks - (P @ g / blocks) ** 2
    return g, float(variance.mean())


def _unbiased(data: Evidence, missing: PresenceChannel) -> tuple[Doubles, float, float]:
    """Return the unbiased numbers of least variance, given that something was reported.

    Also their variance given the rating, averaged over levels, and their second moment given none.
    """
    target = np.append(_centred(data), 0.0)
    g, noise, unrated = np.empty(len(missing.made_up)), 0.0, 0.0
    for block in data.blocks:
        P, made_up = data.likelihood[:, block], missing.made_up[block]
        rows = np.vstack([P, made_up])
        spread = rows / (RATED_SHARE * P.mean(0) + (1 - RATED_SHARE) * made_up)
        g[block] = spread.T @ np.linalg.pinv(spread @ rows.T, hermitian=True) @ target
        noise += float(np.mean(P @ g[block] ** 2 - (P @ g[block]) ** 2)) / len(data.blocks)
        unrated += float(made_up @ g[block] ** 2) / len(data.blocks)
    return g, noise, unrated


GROUPS = 24
"""Groups of equally many reports. Finer ones change nothing."""


def presence_mixture(
    data: Evidence, missing: PresenceChannel, probability: NDArray[np.float64]
) -> Evidence:
    """Return the evidence as reports of slots that are rated with `probability`, shape (n,)."""
    users = data.user_of
    odds = probability * missing.rated[users] / ((1 - probability) * missing.unrated[users])
    cuts = np.quantile(odds, np.linspace(0, 1, GROUPS + 1)[1:-1])
    group = np.searchsorted(cuts, odds)
    shares = [_share(odds[group == g]) for g in range(GROUPS)]
    wide = data.likelihood.shape[1]
    return replace(
        data,
        symbols=(group * wide + data.symbols).astype(np.min_scalar_type(GROUPS * wide - 1)),
        numbers=np.tile(data.numbers, GROUPS),
        likelihood=np.hstack([(1 - w) * missing.made_up + w * data.likelihood for w in shares]),
        blocks=[
            slice(g * wide + b.start, g * wide + b.stop) for g in range(GROUPS) for b in data.blocks
        ],
        hidden=None,
    )


def _share(odds: NDArray[np.float64]) -> float:
    """Return the prior probability that a report of the group is of a rating."""
    return float(np.mean(odds / (1 + odds))) if len(odds) else 0.5
