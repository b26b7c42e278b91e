"""Verdicts with a margin: a difference counts only beyond its spread and a least difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Self

from scipy.stats import beta, t

CONFIDENCE = 0.95
"""Two-sided confidence of the interval of a difference or of a share."""


class ClaimVerdict(StrEnum):
    """Whether the published claim is reproduced. `OPEN` is for what a run leaves out."""

    HOLDS = "holds"
    FAILS = "does not hold"
    CLOSE = "too close to tell"
    OPEN = "not measured"


def weakest(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """Return the verdict on a claim about all of several cases: the least favourable one."""
    several = set(verdicts)
    order = (ClaimVerdict.FAILS, ClaimVerdict.CLOSE, ClaimVerdict.HOLDS)
    return next((one for one in order if one in several), ClaimVerdict.OPEN)


@dataclass(frozen=True)
class Difference:
    """`mean` of paired differences over draws, and `half` the width of its t interval, which is
    infinite for a single draw."""

    mean: float
    half: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        """Return the mean difference of at least one pair, with the interval of Student's t."""
        n = len(samples)
        if n == 1:
            return cls(samples[0], inf)
        quantile = float(t.ppf((1 + CONFIDENCE) / 2, n - 1))
        return cls(fmean(samples), quantile * stdev(samples) / sqrt(n))

    def verdict(self, least: float) -> ClaimVerdict:
        """Return whether the difference is positive, by at least `least` and beyond its spread.

        `least` is above 0, so that equal figures are too close to tell.
        """
        if abs(self.mean) < least or abs(self.mean) <= self.half:
            return ClaimVerdict.CLOSE
        return ClaimVerdict.HOLDS if self.mean > 0 else ClaimVerdict.FAILS

    def __str__(self) -> str:
        spread = "one draw" if self.half == inf else f"± {self.half:.3f}"
        return f"{self.mean:+.3f}, {spread}"


def share_verdict(hits: int, draws: int, least: float, *, cases: int = 1) -> ClaimVerdict:
    """Return whether an event has a probability of at least `least`, after `hits` in `draws`.

    The interval is that of Clopper and Pearson. `cases`: number of events judged at once; the
    confidence of each is that of Bonferroni.
    """
    tail = (1 - CONFIDENCE) / 2 / cases
    lowest = float(beta.ppf(tail, hits, draws - hits + 1)) if hits else 0.0
    highest = float(beta.ppf(1 - tail, hits + 1, draws - hits)) if hits < draws else 1.0
    if lowest >= least:
        return ClaimVerdict.HOLDS
    return ClaimVerdict.FAILS if highest < least else ClaimVerdict.CLOSE
