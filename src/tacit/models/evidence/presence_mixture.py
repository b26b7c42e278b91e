"""Reports of possibly unrated slots as reports of ratings through a noisier channel.

A slot that was rated with prior probability w sends the symbol o with

    q(o | level) = (1 - w) P(o | not rated) + w P(o | level),

which is a channel too. Slots of similar w share one, so that a model of reported ratings fits
reports of slots unchanged. Slots that were not reported carry no information about preferences:
these channels are equally likely to send nothing for every rating.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.missing_symbol import PresenceChannel

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
