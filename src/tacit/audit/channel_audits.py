"""Audits of a channel: its actual epsilon to twenty digits, and a test on sampled reports.

Sampled audit: a lower bound on a sampler's epsilon from draws, without reading its table.

The exact audit proves the table; this one tests the output. Half of the draws select, for every
ordered pair of inputs, the event that distinguishes them best. The other half bounds its odds
(Clopper-Pearson). A bound above the claim refutes it. A bound far below the claim may mean that the
audit lacks power, so every use of it must include planted faults.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import MISSING, Channel
from tacit.collection.sampler import BulkSampler
from tacit.errors import RequestError
from tacit.scale import shortest

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Symbols = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class SampledAudit:
    """With confidence 1 - `alpha` the sampler's epsilon is at least `bound` nats.

    `pair`: the rows that attain it. `event`: the symbols that favour the first row.
    """

    bound: float
    alpha: float
    pair: tuple[int, int]
    event: tuple[int, ...]

    def refutes(self, epsilon: str) -> bool:
        """Return whether the draws refute a claim of `epsilon`. `alpha`: false-positive rate."""
        return self.bound > float(epsilon)


def audit(channel: Channel, *, draws: int = 1_000_000, alpha: float = 1e-6) -> SampledAudit:
    """Audit `2 * draws` bulk draws from every row of a channel, with secret random words."""
    sampler = BulkSampler((channel,))
    samples = [
        sampler.draw(np.full(2 * draws, row, np.uint16)) for row in range(len(channel.weights))
    ]
    return audit_samples(samples, len(channel.outputs), alpha=alpha)


def audit_samples(samples: Sequence[Symbols], n_symbols: int, *, alpha: float) -> SampledAudit:
    """Return the largest lower bound on ln P(event | x) / P(event | x') over pairs of rows.

    `samples[x]`: independent symbols drawn from row x, all of one length. Events are upper sets of
    the empirical ratio on the first half; each pair's bound holds at alpha / pairs. Raises
    `RequestError` for fewer than two rows, or draws.
    """
    half = min(map(len, samples)) // 2
    if half < 1 or len(samples) < 2:
        raise RequestError(
            f"samples must have at least 2 rows of at least 2 draws each, got {len(samples)} rows "
            f"of {2 * half} draws."
        )
    picking = np.array([np.bincount(row[:half], minlength=n_symbols) for row in samples])
    judging = np.array([np.bincount(row[half : 2 * half], minlength=n_symbols) for row in samples])
    pairs = list(permutations(range(len(samples)), 2))
    level = alpha / (2 * len(pairs))
    events = [_event(picking[x], picking[other], half, level) for x, other in pairs]
    bounds = [
        float(log_odds_bound(judging[x][event].sum(), judging[other][event].sum(), half, level))
        for (x, other), event in zip(pairs, events, strict=True)
    ]
    best = int(np.argmax(bounds))
    return SampledAudit(max(0.0, bounds[best]), alpha, pairs[best], tuple(events[best].tolist()))


def log_odds_bound(hits: Any, others: Any, draws: int, level: float) -> Floats:
    """Return ln(lower(hits / draws) / upper(others / draws)), Clopper-Pearson ends at `level`.

    The ends are quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k).
    """
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

    beta: Any = stats.beta
    hit, other = np.asarray(hits), np.asarray(others)
    low: Floats = beta.ppf(level, np.maximum(hit, 1), draws - hit + 1)
    high: Floats = beta.ppf(1 - level, other + 1, np.maximum(draws - other, 1))
    usable = np.where(hit > 0, low, 1e-300), np.where(other < draws, high, 1.0)
    return np.log(usable[0]) - np.log(usable[1])


def _event(counts: Counts, others: Counts, draws: int, level: float) -> NDArray[np.int64]:
    """Return the most informative symbols, up to the maximum of the bound on the first half."""
    order = np.argsort(-(counts + 0.5) / (others + 0.5), kind="stable")
    bounds = log_odds_bound(np.cumsum(counts[order]), np.cumsum(others[order]), draws, level)
    return order[: int(np.argmax(bounds)) + 1]


DIGITS = 20


@dataclass(frozen=True)
class ExactAudit:
    """Result of an exact audit.

    `claim`: declared epsilon. `epsilon`: of the table, rounded up at the twentieth decimal. `pair`:
    the two inputs that the report `symbol` distinguishes best, the more likely one first.
    """

    claim: Decimal
    epsilon: Decimal
    pair: tuple[str, str]
    symbol: int

    @property
    def loss(self) -> Decimal:
        """Claim minus epsilon, in nats; negative where the claim is false."""
        return self.claim - self.epsilon

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        likelier, other = self.pair
        return (
            f"The table has epsilon {self.epsilon}, {abs(self.loss):.3g} "
            f"{'below' if self.loss >= 0 else 'ABOVE'} its claim {self.claim}: symbol "
            f"{self.symbol} is the strongest evidence for {likelier} over {other}."
        )


def audit_table(channel: Channel) -> ExactAudit:
    """Compute epsilon of a table: the log of the largest ratio of two weights in one column.

    Logarithms have 50 digits, so the twenty returned are correct. The certificate itself
    (`tacit.channels.certificate`) compares integers and needs no logarithm.
    """
    columns = list(zip(*channel.weights, strict=True))
    symbol = max(range(len(columns)), key=lambda y: _ratio(columns[y]))
    column = columns[symbol]
    with localcontext(prec=50):
        epsilon = Decimal(max(column)).ln() - Decimal(min(column)).ln()
        epsilon = epsilon.quantize(Decimal(1).scaleb(-DIGITS), ROUND_CEILING)
        claim = Decimal(channel.epsilon)
    inputs = [*(MISSING,) * channel.missing, *map(shortest, channel.levels)]
    pair = inputs[column.index(max(column))], inputs[column.index(min(column))]
    return ExactAudit(claim=claim, epsilon=epsilon, pair=pair, symbol=symbol)


def _ratio(column: tuple[int, ...]) -> Decimal:
    with localcontext(prec=50):
        return Decimal(max(column)) / min(column)
