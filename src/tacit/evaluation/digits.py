"""Number of significant decimals of a mean, from its standard deviation over splits."""

import math
from collections.abc import Iterable, Sequence
from statistics import median, pstdev

UNKNOWN, MOST = 3, 4


def decimals(groups: Iterable[Sequence[float]]) -> int:
    """Return the number of decimals for the means of these groups, one mean per group.

    Down to the first digit of the median standard deviation, or to the second if the first is 1.
    Three if no group has two different figures. At least one, at most four.
    """
    spreads = [pstdev(group) for group in groups if len(group) > 1]
    known = [spread for spread in spreads if spread > 0]
    if not known:
        return UNKNOWN
    # The tolerance makes a spread of 0.001 with a rounding error count as 0.001.
    places = math.ceil(-math.log10(median(known) / 2) - 1e-9)
    return min(max(places, 1), MOST)
