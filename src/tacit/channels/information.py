"""Fisher information of a report about the latent preference, the criterion for channels.

The latent model is that of the estimators: a rating is the level whose cell contains a draw from
Normal(theta, sigma^2), with bounds at midpoints between levels. All of it is public: no rating is
read.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import mul

from tacit.channels.table import Channel
from tacit.errors import must_be
from tacit.scale import RATED_SHARE, RATING_SPREAD

Cells = tuple[list[float], list[float]]


def public_thetas(levels: Sequence[float], count: int = 33) -> list[float]:
    """Return `count` values spread evenly from .4 to .8 of the scale: the public prior.

    Users rate items that they chose, so on published scales preferences are above the middle.
    """
    low, width = levels[0], levels[-1] - levels[0]
    return [low + width * (0.4 + 0.4 * k / (count - 1)) for k in range(count)]


def level_intervals(theta: float, levels: Sequence[float]) -> Cells:
    """Return P(level | theta) and its derivative in theta, for every level."""
    sigma = RATING_SPREAD * (levels[-1] - levels[0])
    cuts = [(low + high) / 2 for low, high in pairwise(levels)]
    scores = [-math.inf, *((cut - theta) / sigma for cut in cuts), math.inf]
    below = [math.erfc(-score / math.sqrt(2)) / 2 for score in scores]
    peaks = [math.exp(-score * score / 2) / math.sqrt(2 * math.pi) / sigma for score in scores]
    shares = [high - low for low, high in pairwise(below)]
    return shares, [low - high for low, high in pairwise(peaks)]


def fisher_information(
    channel: Channel, thetas: Sequence[float] | None = None, density: float = RATED_SHARE
) -> float:
    """Return the average Fisher information of one report about theta, in 1 / stars^2.

    J(theta) = sum over y of q'(theta)^2 / q(theta), q(theta) = sum over x of P(y|x) P(x|theta),
    averaged over `thetas` (default: the public prior). If the channel protects presence the report
    is of a slot that holds a rating with probability `density`, else "missing". On the scale
    `there` theta is undefined, and it is the information about that probability.
    """
    must_be(Channel, channel, "a channel", "pass what `compile_channel` returns")
    if len(channel.levels) == 1:
        return _presence_information(channel, density)
    levels = [float(level) for level in channel.levels]
    rated = density if channel.missing else 1.0
    table = channel.likelihood
    silent = table[0] if channel.missing else (0.0,) * len(channel.outputs)
    columns = list(zip(silent, zip(*table[channel.missing :], strict=True), strict=True))
    points = thetas if thetas is not None else public_thetas(levels)
    total = 0.0
    for theta in points:
        shares, slopes = level_intervals(theta, levels)
        for missing, column in columns:
            slope = rated * sum(map(mul, column, slopes))
            share = rated * sum(map(mul, column, shares))
            total += slope**2 / (share + (1 - rated) * missing)
    return total / len(points)


def _presence_information(channel: Channel, density: float) -> float:
    """Return J = sum over y of (P(y|there) - P(y|missing))^2 / q(y), q the law of a report."""
    missing, there = channel.likelihood
    return sum(
        (shown - silent) ** 2 / (density * shown + (1 - density) * silent)
        for silent, shown in zip(missing, there, strict=True)
    )
