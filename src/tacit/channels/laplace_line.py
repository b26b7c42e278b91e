"""Discrete Laplace noise on a line of public cells, for the unbounded Laplace channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tacit.errors import RequestError
from tacit.scale import RatingScale

RAREST = 24
"""No cell beyond an end is rarer than 2^-24 under any input, except the last one, with 2^-25 at the
largest epsilon. The effect of rounding to 2^-64 is then negligible."""


@dataclass(frozen=True)
class LaplaceLine:
    """r + n with n discrete Laplace on a grid of gap g: P(n = k g) = (1 - q) / (1 + q) q^|k|.

    The grid divides the scale's step by `fine` and contains every level; q = exp(-g / b). All cells
    beyond an end of the scale distinguish inputs on it equally well, so merging them loses no
    information: beyond each end they are merged into runs that start `starts` gaps from it, nearest
    first. The output of a merged cell is its conditional mean, which is the same for every input on
    the scale (the tail is memoryless), so E[output | r] = r still.
    """

    scale: RatingScale
    q: Decimal
    fine: int
    starts: Sequence[int]

    @property
    def last(self) -> int:
        """Grid index of the scale's high end; its low end has index 0."""
        return (self.scale.n_levels - 1) * self.fine

    def outputs(self) -> tuple[Decimal, ...]:
        """Return the output of each cell, in stars, lowest first."""
        gap = self.scale.step / self.fine
        beyond = [gap * _run_mean(self.q, start, stop) for start, stop in _spans(self.starts)]
        return (
            *(self.scale.low - far for far in reversed(beyond)),
            *(self.scale.low + k * gap for k in range(self.last + 1)),
            *(self.scale.high + far for far in beyond),
        )

    def row(self, at: int) -> list[Decimal]:
        """Return probabilities of the cells for noise around grid index `at`; they sum to 1."""
        q, last = self.q, self.last

        def side(reach: int) -> list[Decimal]:
            return [
                q ** (reach + start) * (1 if stop is None else 1 - q ** (stop - start))
                for start, stop in _spans(self.starts)
            ]

        inside = [(1 - q) * q ** abs(k - at) for k in range(last + 1)]
        return [share / (1 + q) for share in (*reversed(side(at)), *inside, *side(last - at))]


def laplace_line(
    scale: RatingScale, spread: Decimal, *, symbols: int, rarest: Decimal, finest: int = 1
) -> LaplaceLine:
    """Return a line of at most `symbols` cells for noise of scale b = `spread` stars.

    The grid is as fine as a power of two allows with half of the cells reserved for the tails, and
    at least `finest`. The tails are divided into about equally likely runs, which are then merged
    until none is rarer than `rarest` from the far end. Raises `RequestError` if `symbols` are too
    few.
    """
    steps = scale.n_levels - 1
    if symbols < steps * finest + 3:
        raise RequestError(
            f"symbols must be at least {steps * finest + 3} for Laplace noise on {scale}, got "
            f"{symbols}: one per grid point of the levels and one beyond each end."
        )
    fine = finest
    while steps * 2 * fine + 1 <= symbols // 2:
        fine *= 2
    q = (-scale.step / fine / spread).exp()
    cells = (symbols - steps * fine - 1) // 2
    return LaplaceLine(scale, q, fine, _merged(q, steps * fine, cells, rarest))


def _merged(q: Decimal, last: int, cells: int, rarest: Decimal) -> list[int]:
    shares = (1 - Decimal(k) / cells for k in range(cells))
    starts = sorted({1 + int(share.ln() / q.ln()) for share in shares})
    # From the far end of the scale the tail beyond distance d has q^(last + d) / (1 + q).
    merged, inner = list[int](), Decimal(0)
    for start in reversed(starts):
        tail = q ** (last + start) / (1 + q)
        if tail - inner >= rarest:
            merged, inner = [start, *merged], tail
    # The remainder nearest the end joins the cell that follows it.
    return [1, *merged[1:]]


def _spans(starts: Sequence[int]) -> list[tuple[int, int | None]]:
    return list(zip(starts, [*starts[1:], None], strict=True))


def _run_mean(q: Decimal, start: int, stop: int | None) -> Decimal:
    """Return the mean distance in [start, stop) under weights q^d; `stop` None is infinity."""
    mean = start + q / (1 - q)
    if stop is None:
        return mean
    cut = q ** (stop - start)
    return mean - (stop - start) * cut / (1 - cut)
