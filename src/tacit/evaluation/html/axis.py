"""Where the axis of a figure ends: noise must not drown what is to be seen."""

import math
from collections.abc import Sequence
from statistics import median


def limits(figures: Sequence[float], *, lower_is_better: bool) -> tuple[float, float] | None:
    """The ends of an axis with these figures; None where there are none.

    Where the worst is further from the best than four times the median, the axis ends at three
    times.
    """
    if not figures:
        return None
    best, worst = sorted((min(figures), max(figures)), reverse=not lower_is_better)
    usual = median(figures) - best
    if abs(worst - best) > 4 * abs(usual) > 0:
        worst = best + 3 * usual
    low, high = sorted((best, worst))
    margin = 0.06 * (high - low) or 0.01
    return low - margin, high + margin


def beyond(figures: Sequence[float], ends: tuple[float, float] | None) -> float | None:
    """The figure furthest off an axis that ends there; None where all are on it."""
    low, high = ends or (-math.inf, math.inf)
    off = (figure for figure in figures if not low <= figure <= high)
    return max(off, key=lambda figure: abs(figure - low), default=None)
