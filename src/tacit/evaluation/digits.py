"""How many digits a mean bears: as many as its spread over splits leaves standing."""

import math
from collections.abc import Iterable, Sequence
from statistics import median, pstdev

UNKNOWN, MOST = 3, 4


def decimals(groups: Iterable[Sequence[float]]) -> int:
    """Decimals of the means of these groups of figures, a group a mean: down to the first digit of
    their median standard deviation, or the second where the first is 1.

    Three where no group has two figures that differ; at least one, at most four.
    """
    spreads = [pstdev(group) for group in groups if len(group) > 1]
    known = [spread for spread in spreads if spread > 0]
    if not known:
        return UNKNOWN
    # A spread of 0.001 that is a little less in floating point has the same digits.
    places = math.ceil(-math.log10(median(known) / 2) - 1e-9)
    return min(max(places, 1), MOST)
