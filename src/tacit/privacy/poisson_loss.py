"""Privacy loss of Poisson counts, some of which have one more under P and some under Q.

A count k of mean m has the likelihood ratio k / m if P has one more than Poisson(m), and m / k if Q
has. With L the sum of the logarithms, P and Q are (epsilon, delta)-close for

    delta = E_P[(1 - e^(epsilon - L))+],

which is evaluated by an inverse Laplace transform on a vertical line. For any c > 0 and period R,
Poisson's summation formula is

    (1 / R) sum_n e^(-t epsilon) E[e^(t L)] / (t (t + 1)) = sum_k delta(epsilon + k R) e^(c k R),
    t = c + 2 pi i n / R,

so the sum on the left is at least its term k = 0, delta(epsilon), and exceeds it by little if c is
the saddle point. Terms of large n are bounded by those of a loss to which a normal one has been
added, L + N(s^2 / 2, s^2), which is the loss of one release more and therefore raises delta. All
that the sum omits counts as an infinite loss. The result is an upper bound whose error is relative,
however small delta is. It needs the standard library alone, so that a device can verify it.
"""

import cmath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from math import exp, expm1, fsum, inf, log, log1p, pi, sqrt
from operator import mul
from typing import NamedTuple

OUTSIDE = 50.0
"""Counts are summed up to a tail probability of e^-50 on either side."""
PERIOD, DECAY = 9.0, 40.0
"""R in standard deviations of L, and its least value in 1 / c: both make terms of k != 0 small."""
SMOOTHING, TERMS = 1 / 200, 180
"""s in R, which raises epsilon by about 0.1 %, and largest n: omitted terms raise delta by about
1e-8."""
ROUNDING = 1 + 1e-9
"""Above all rounding errors: sums of 10^5 positive terms, and powers of at most 10^4."""
COARSE = 1 / 20
"""Counts per retained one, in standard deviations: it raises epsilon by about 0.03 %."""
LARGEST = 600.0
"""Largest exponent c L. Doubles overflow at 709."""
SECTIONS = 28
"""Golden sections, after which c is within 1e-5 of the saddle point."""


@dataclass(frozen=True, kw_only=True)
class PoissonCounts:
    """Independent Poisson counts of one `mean`.

    `gained`: number of counts that have one more under P. `lost`: the same under Q.
    """

    mean: float
    gained: int
    lost: int


class _Losses(NamedTuple):
    """Law of the loss of one count under P. `copies`: number of such counts.

    `infinite`: probability of an infinite loss, or of a count outside the range.
    """

    copies: int
    losses: list[float]
    weights: list[float]
    infinite: float


def divergence(counts: Sequence[PoissonCounts], epsilon: float) -> float:
    """Return an upper bound on delta of P against Q at `epsilon` nats, for all counts together."""
    laws = [law for some in counts for law in _laws(some) if law.copies]
    if not laws:
        return 0.0
    c = _saddle_point(laws, epsilon)
    beyond = -expm1(fsum(law.copies * log1p(-law.infinite) for law in laws))
    return min(1.0, ROUNDING * (_inversion(laws, epsilon, c) + beyond))


def _laws(counts: PoissonCounts) -> tuple[_Losses, _Losses]:
    mean, law = counts.mean, _poisson(counts.mean)
    every, outside = max(int(COARSE * sqrt(mean)), 1), 2 * exp(-OUTSIDE)
    gained = [(log((k + 1) / mean), p) for k, p in law]
    lost = [(-log(k / mean), p) for k, p in law if k]
    zero = law[0][1] if law[0][0] == 0 else 0.0
    return (
        _Losses(counts.gained, *_thinned(gained, every), outside),
        _Losses(counts.lost, *_thinned(lost, every), outside + zero),
    )


def _thinned(law: Sequence[tuple[float, float]], every: int) -> tuple[list[float], list[float]]:
    """Return one in `every` losses, with probabilities that bound delta from above.

    The probability of any other loss x is divided between its neighbours such that the mean of
    e^(-x) remains. delta is convex in e^(-x), so it can only increase (Jensen).
    """
    points = [*range(0, len(law) - 1, every), len(law) - 1]
    weights = [0.0] * len(points)
    for cell, (first, end) in enumerate(pairwise(points)):
        low, high = exp(-law[first][0]), exp(-law[end][0])
        for x, p in law[first:end]:
            share = (low - exp(-x)) / (low - high)
            weights[cell] += p * (1 - share)
            weights[cell + 1] += p * share
    weights[-1] += law[-1][1]
    return [law[point][0] for point in points], weights


def _poisson(mean: float) -> list[tuple[int, float]]:
    """Return counts and probabilities, with the probability outside the range added to them.

    The range follows from P(|X - mean| >= w) <= 2 exp(-w^2 / (2 (mean + w / 3))).
    """
    width = sqrt(2 * OUTSIDE * mean) + OUTSIDE
    first, mode, last = max(0, int(mean - width)), int(mean), int(mean + width) + 1
    below = accumulate(range(mode, first, -1), lambda p, k: p * k / mean, initial=1.0)
    above = accumulate(range(mode + 1, last + 1), lambda p, k: p * mean / k, initial=1.0)
    relative = [*list(below)[:0:-1], *above]
    total = fsum(relative)
    return [(first + j, p / total) for j, p in enumerate(relative)]


def _log_moment(laws: Sequence[_Losses], c: float) -> float:
    """Return log E[e^(c L); L finite]."""
    return fsum(law.copies * log(fsum(_raised(law, c))) for law in laws)


def _raised(law: _Losses, c: float) -> Iterator[float]:
    """Yield the probability of each loss, times e^(c L)."""
    return map(mul, law.weights, map(exp, map(mul, repeat(c), law.losses)))


def _saddle_point(laws: Sequence[_Losses], epsilon: float) -> float:
    """Return c that minimizes E[e^(c L)] e^(-c epsilon) / (c (c + 1)), by golden sections of log c.

    Any c is valid. The best one gives the least error.
    """

    def exponent(log_c: float) -> float:
        c = exp(log_c)
        return _log_moment(laws, c) - c * epsilon - log_c - log(c + 1)

    steepest = max(max(map(abs, law.losses)) for law in laws)
    low, high = log(1e-3), log(LARGEST / steepest)
    golden = (sqrt(5) - 1) / 2
    inner, outer = high - golden * (high - low), low + golden * (high - low)
    at_inner, at_outer = exponent(inner), exponent(outer)
    for _ in range(SECTIONS):
        if at_inner < at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - golden * (high - low)
            at_inner = exponent(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + golden * (high - low)
            at_outer = exponent(outer)
    return exp((low + high) / 2)


def _inversion(laws: Sequence[_Losses], epsilon: float, c: float) -> float:
    """Return the sum over n, which bounds delta without the infinite losses."""
    tilted = [_tilted(law, c) for law in laws]
    deviation = sqrt(fsum(law.copies * _variance(law) for law in tilted))
    period = max(PERIOD * deviation, DECAY / c)
    step, s = 2 * pi / period, SMOOTHING * period
    total = -0.5 * (1 / (c * (c + 1))) * exp(s * s * c * (c + 1) / 2)
    for n, moment in enumerate(_ratios(tilted, step)):
        t = complex(c, n * step)
        normal = cmath.exp(s * s * t * (t + 1) / 2 - complex(0, n * step * epsilon))
        total += (moment * normal / (t * (t + 1))).real
    cut = TERMS * step
    omitted = exp(s * s * (c * c + c - cut * cut) / 2) / cut**2 / expm1(s * s * step * cut)
    log_scale = _log_moment(laws, c) - c * epsilon
    return inf if log_scale > LARGEST else exp(log_scale) * (step / pi) * (total + omitted)


def _tilted(law: _Losses, c: float) -> _Losses:
    """Return the law with density e^(c L) / E[e^(c L)]."""
    raised = list(_raised(law, c))
    total = fsum(raised)
    return law._replace(weights=[p / total for p in raised])


def _variance(law: _Losses) -> float:
    mean = fsum(p * x for x, p in zip(law.losses, law.weights, strict=True))
    return fsum(p * (x - mean) ** 2 for x, p in zip(law.losses, law.weights, strict=True))


def _ratios(tilted: Sequence[_Losses], step: float) -> Iterator[complex]:
    """Yield E[e^(t L)] / E[e^(c L)] at t = c + i n step, n = 0 .. TERMS."""
    terms = [[complex(p) for p in law.weights] for law in tilted]
    turns = [[cmath.exp(complex(0, step * x)) for x in law.losses] for law in tilted]
    for _ in range(TERMS + 1):
        moment = complex(1)
        for law, term in zip(tilted, terms, strict=True):
            moment *= sum(term) ** law.copies
        yield moment
        terms = [list(map(mul, term, each)) for term, each in zip(terms, turns, strict=True)]
