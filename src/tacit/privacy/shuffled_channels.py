"""Amplification by shuffling: epsilon of the reports of a channel that a shuffler mixes.

Every user sends one report about a slot, drawn from the row W_x of a channel for the true value x.
A shuffler releases the reports of n honest users in random order. The module bounds delta of this
release for a given epsilon, between any two values x, x' of one user.

Let w(y) = min_x W_x(y) and gamma = sum_y w(y), the *privacy blanket* of the channel (Balle, Bell,
Gascon and Nissim 2019). Whatever its value, the report of another user is drawn from w / gamma with
probability gamma, and otherwise from the rest of its row. An attacker who also observes which
reports are of the second kind has at least the information in the release, and these reports do not
depend on the user. The others are the user's report and m blanket reports, m ~ Bin(n - 1, gamma).
With Y_i ~ w / gamma, their histogram has the likelihood

    (1 / (m + 1)) sum_i gamma W_x(Y_i) / w(Y_i)

with respect to m + 1 blanket reports, because each of them is equally likely to be the user's. With
g(y) = (W_x(y) - e^epsilon W_x'(y)) / w(y), delta is thus at most the mean over m of

    gamma / (m + 1) E[(sum_i g(Y_i))+]
        <= gamma / (m + 1) M(t)^(m + 1) / (e t),    M(t) = E[e^(t g(Y))],

for every t > 0, since s+ <= e^(t s) / (e t). The mean over m is a binomial sum, which gives

    delta <= (1 + sum_y w(y) (e^(t g(y)) - 1))^n / (e n t).

The logarithm is convex in t, and every t is valid. Standard library only.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from tacit.errors import RequestError, integer

Rows = Sequence[Sequence[int]]
SECTIONS, HALVINGS = 60, 40
ROUNDING = 1e-14
"""Bound on the relative error of a term, above 16 roundings of 2^-53 each."""


def amplified_delta(rows: Rows, *, messages: int, epsilon: float) -> float:
    """Return a bound on delta of shuffled reports at `epsilon` nats per slot.

    `rows`: weights of a channel, one row per value, such as `Channel.weights`. `messages`: number n
    of honest users whose reports about the slot are mixed, including the protected one. Raises
    `RequestError` for an invalid table, for fewer than one message, and for a negative epsilon.
    """
    integer("messages", messages, 1)
    if not 0 <= epsilon < math.inf:
        raise RequestError(f"epsilon must be at least 0, got {epsilon}.")
    pairs = list(_pairs(rows))
    if epsilon >= _local_epsilon(rows):
        return 0.0
    return max(_delta(pair, messages, epsilon) for pair in pairs)


def amplified_epsilon(rows: Rows, *, messages: int, delta: float) -> float:
    """Return a bound on epsilon of shuffled reports, in nats per slot, at `delta`.

    It is at most the epsilon of one report without a shuffler. `rows`, `messages`: as for
    `amplified_delta`. Raises `RequestError` as it does, and for a delta outside of (0, 1).
    """
    integer("messages", messages, 1)
    if not 0 < delta < 1:
        raise RequestError(f"delta must be between 0 and 1, got {delta}.")
    bound = 0.0
    for pair in _pairs(rows):
        if _delta(pair, messages, bound) > delta:
            bound = _epsilon(pair, messages, delta, bound, _local_epsilon(rows))
    return bound


class RowPair(NamedTuple):
    """Probabilities of two values of a user, and the blanket, by symbol."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    blanket: tuple[float, ...]


def _pairs(rows: Rows) -> Iterator[RowPair]:
    _check(rows)
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    table = [[weight / sum(row) for weight in row] for row in zip(*columns, strict=True)]
    blanket = tuple(map(min, zip(*table, strict=True)))
    for first, second in permutations(table, 2):
        yield RowPair(tuple(first), tuple(second), blanket)


def _check(rows: Rows) -> None:
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise RequestError("rows must be a table of at least two rows of equal length.")
    columns = list(zip(*rows, strict=True))
    if any(weight < 0 for row in rows for weight in row):
        raise RequestError("rows must not have negative weights.")
    if not any(map(any, columns)) or any(min(each) == 0 < max(each) for each in columns):
        raise RequestError(
            "rows must have symbols that are possible for all values or for none; this table has "
            "no finite epsilon."
        )


def _local_epsilon(rows: Rows) -> float:
    """Return epsilon of one report without a shuffler, rounded up."""
    totals = [sum(row) for row in rows]
    ratios = (
        math.log(one * below) - math.log(other * above)
        for column in zip(*rows, strict=True)
        if any(column)
        for (one, above), (other, below) in permutations(zip(column, totals, strict=True), 2)
    )
    return max(ratios) + 1e-12


def _epsilon(pair: RowPair, messages: int, delta: float, low: float, high: float) -> float:
    """Return the least epsilon that holds at delta between two bounds, of which `high` holds."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _delta(pair, messages, middle) <= delta else (middle, high)
    return high


def _delta(pair: RowPair, messages: int, epsilon: float) -> float:
    """Return the bound with the best t, by golden sections of its logarithm."""
    factor = math.exp(epsilon)
    losses = [(a - factor * b) / w for a, b, w in zip(*pair, strict=True)]
    sizes = [a + factor * b for a, b in zip(pair.first, pair.second, strict=True)]

    def exponent(log_t: float) -> float:
        t = math.exp(log_t)
        gains = [math.expm1(t * g) for g in losses]
        terms = [w * gain for w, gain in zip(pair.blanket, gains, strict=True)]
        errors = sum(map(abs, terms)) + t * sum(
            size * (1 + gain) for size, gain in zip(sizes, gains, strict=True)
        )
        total = math.fsum(terms) + ROUNDING * errors
        return messages * math.log1p(total) - log_t - 1 - math.log(messages)

    if max(losses) <= 0:
        return 0.0
    high = math.log(600 / max(map(abs, losses)))
    low = high - math.log(1e6 * messages)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(SECTIONS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if exponent(left) <= exponent(right) else (left, high)
    return math.exp(min(exponent((low + high) / 2), 0.0))
