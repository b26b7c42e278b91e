"""Limits of axes, robust to noisy outliers."""

import math
from collections.abc import Sequence
from statistics import median

Ends = tuple[float, float]


def limits(
    figures: Sequence[float],
    *,
    lower_is_better: bool,
    floors: Sequence[float] = (),
    spreads: Sequence[float] = (),
) -> Ends | None:
    """Return the limits of an axis for these figures. None without figures.

    If the distance of the worst figure from the best one exceeds four times that of the median, the
    axis ends at three times that of the median. It is extended to each of the `floors` (baselines)
    if the figures still cover a third of it. The margin is at least the median of the `spreads`, so
    that differences within the noise look small.
    """
    if not figures:
        return None
    best, worst = sorted((min(figures), max(figures)), reverse=not lower_is_better)
    usual = median(figures) - best
    if abs(worst - best) > 4 * abs(usual) > 0:
        worst = best + 3 * usual
    low, high = sorted((best, worst))
    for baseline in floors:
        start, end = min(low, baseline), max(high, baseline)
        if high == low or end - start <= 3 * (high - low):
            low, high = start, end
    margin = max(0.06 * (high - low) or 0.01, 1.2 * median(spreads or (0.0,)))
    return low - margin, high + margin


def beyond(figures: Sequence[float], ends: Ends | None) -> float | None:
    """Return the figure furthest outside an axis with these limits. None if all are inside."""
    low, high = ends or (-math.inf, math.inf)
    off = (figure for figure in figures if not low <= figure <= high)
    return max(off, key=lambda figure: abs(figure - low), default=None)


def apart(places: Sequence[float], *, logarithmic: bool) -> list[float]:
    """Return the ascending ticks whose labels do not overlap: the first and the last, and between
    them those at a distance of at least a tenth of the axis from their neighbours."""
    if len(places) < 3:
        return list(places)
    along = [math.log(tick) for tick in places] if logarithmic else list(places)
    least, chosen = 0.1 * (along[-1] - along[0]), [0]
    for k in range(1, len(places) - 1):
        if along[k] - along[chosen[-1]] >= least and along[-1] - along[k] >= least:
            chosen.append(k)
    return [places[k] for k in (*chosen, len(places) - 1)]
