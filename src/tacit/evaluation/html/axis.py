"""Where the axis of a figure ends: noise must not drown what is to be seen."""

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
    """The ends of an axis with these figures; None where there are none.

    Where the worst is further from the best than four times the median, the axis ends at three
    times. It is stretched to each of the `floors` that leaves the figures, if they differ, a third.
    Beyond them there is room for the median of the `spreads`, so that noise looks like noise.
    """
    if not figures:
        return None
    best, worst = sorted((min(figures), max(figures)), reverse=not lower_is_better)
    usual = median(figures) - best
    if abs(worst - best) > 4 * abs(usual) > 0:
        worst = best + 3 * usual
    low, high = sorted((best, worst))
    for floor in floors:
        start, end = min(low, floor), max(high, floor)
        if high == low or end - start <= 3 * (high - low):
            low, high = start, end
    margin = max(0.06 * (high - low) or 0.01, 1.2 * median(spreads or (0.0,)))
    return low - margin, high + margin


def beyond(figures: Sequence[float], ends: Ends | None) -> float | None:
    """The figure furthest off an axis that ends there; None where all are on it."""
    low, high = ends or (-math.inf, math.inf)
    off = (figure for figure in figures if not low <= figure <= high)
    return max(off, key=lambda figure: abs(figure - low), default=None)


def apart(places: Sequence[float], *, logarithmic: bool) -> list[float]:
    """Those of the ascending places whose labels do not touch on a panel: the first and the last,
    and between them what is a tenth of the axis from its neighbours."""
    if len(places) < 3:
        return list(places)
    along = [math.log(place) for place in places] if logarithmic else list(places)
    least, kept = 0.1 * (along[-1] - along[0]), [0]
    for k in range(1, len(places) - 1):
        if along[k] - along[kept[-1]] >= least and along[-1] - along[k] >= least:
            kept.append(k)
    return [places[k] for k in (*kept, len(places) - 1)]
