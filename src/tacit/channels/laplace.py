"""Laplace: unbounded noise on a public grid, its far cells merged."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.laplace_law import AbstractLaplace, laplace_below, laplace_density
from tacit.channels.table import Channel
from tacit.errors import RequestError

RAREST = 24
"""No symbol is rarer than 2^-24 under any rating: rounding to 2^-64 then stays invisible."""


@dataclass(frozen=True, kw_only=True)
class Laplace(AbstractLaplace):
    """r + n with n discrete Laplace on a grid of gap g: P(n = k g) = (1 - q) / (1 + q) q^|k|.

    q = exp(-g / b). The grid divides the scale's step by a power of two and holds every level.
    All cells beyond an end of the scale tell the ratings apart equally well, so merging them loses
    nothing: they are merged into at most `symbols` cells in all, about equally likely, the outer
    ones further until none is rarer than 2^-24 under any rating. A merged cell stands for its mean
    given that it was hit, which is the same for every rating (the tail has no memory), so
    E[output | r] = r still.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symbols < self.scale.n_levels + 2:
            raise RequestError(
                f"Laplace on {self.scale} needs at least {self.scale.n_levels + 2} symbols, "
                f"not {self.symbols}: one a level and one beyond each end."
            )

    def table(self) -> Channel:
        with localcontext(prec=PRECISION):
            fine = self._fineness()
            gap, last = self.scale.step / fine, (self.scale.n_levels - 1) * fine
            q = (-gap / self.exact_spread).exp()
            starts = self._runs(q, last)
            beyond = [gap * _run_mean(q, start, stop) for start, stop in _spans(starts)]
            outputs = (
                *(self.scale.low - far for far in reversed(beyond)),
                *(self.scale.low + k * gap for k in range(last + 1)),
                *(self.scale.high + far for far in beyond),
            )
            rows = [_row(q, k * fine, last, starts) for k in range(self.scale.n_levels)]
        return self.compiled(outputs, rows)

    def _fineness(self) -> int:
        """Grid points a step: the largest power of two that leaves half of the symbols outside."""
        fine = 1
        while (self.scale.n_levels - 1) * 2 * fine + 1 <= self.symbols // 2:
            fine *= 2
        return fine

    def _runs(self, q: Decimal, last: int) -> list[int]:
        """Where the merged cells beyond an end start, in gaps from that end, nearest first."""
        cells = (self.symbols - last - 1) // 2
        shares = (1 - Decimal(k) / cells for k in range(cells))
        starts = sorted({1 + int(share.ln() / q.ln()) for share in shares})
        # Seen from the far end of the scale the tail beyond distance d has q^(last + d) / (1 + q).
        rarest = Decimal(2) ** -min(RAREST, self.word_bits - 2)
        kept, inner = list[int](), Decimal(0)
        for start in reversed(starts):
            tail = q ** (last + start) / (1 + q)
            if tail - inner >= rarest:
                kept, inner = [start, *kept], tail
        # What is left nearest the end joins the cell that follows it.
        return [1, *kept[1:]] if kept and kept[0] != 1 else kept or [1]

    def density(self, output: float, rating: float) -> float:
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        return rating

    def below(self, output: float, rating: float) -> float:
        return laplace_below(output - rating, self.spread)


def _spans(starts: list[int]) -> list[tuple[int, int | None]]:
    return list(zip(starts, [*starts[1:], None], strict=True))


def _run_mean(q: Decimal, start: int, stop: int | None) -> Decimal:
    """Mean distance within [start, stop) under weights q^d; `stop` None is infinity."""
    mean = start + q / (1 - q)
    if stop is None:
        return mean
    cut = q ** (stop - start)
    return mean - (stop - start) * cut / (1 - cut)


def _row(q: Decimal, at: int, last: int, starts: list[int]) -> list[Decimal]:
    """Probabilities from grid point `at`, times 1 + q."""

    def side(reach: int) -> list[Decimal]:
        return [
            q ** (reach + start) * (1 if stop is None else 1 - q ** (stop - start))
            for start, stop in _spans(starts)
        ]

    inside = [(1 - q) * q ** abs(k - at) for k in range(last + 1)]
    return [*reversed(side(at)), *inside, *side(last - at)]
