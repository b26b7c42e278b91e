"""A report that may be made up, as an honest report through a blurrier channel.

A slot that was rated with probability w before its report was seen sends the symbol o with

    q(o | level) = (1 - w) P(o | not rated) + w P(o | level),

which is a channel too. Slots of about the same w share one, so that a model made for reports of
ratings learns from reports of slots without a change; slots that were not reported tell nothing of
taste, because these channels are silent equally often whatever the rating.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.missing_symbol import PresenceChannel

GROUPS = 24
"""Of equally many reports each: finer ones change nothing."""


def presence_mixture(
    data: Evidence, missing: PresenceChannel, probability: NDArray[np.float64]
) -> Evidence:
    """The evidence in reports of slots that are rated with `probability`, shape (n,)."""
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
    """The probability that a report of the group is of a rating, before its symbol is seen."""
    return float(np.mean(odds / (1 + odds))) if len(odds) else 0.5
