"""Compiler from probabilities to integer weights. It proposes; the verifier decides.

This module is not trusted. Rounding to the nearest table violates e^epsilon about every second
time, by as little as one unit, so every proposal is verified.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from tacit.channels.certificate import flaw
from tacit.errors import RequestError

PRECISION = 60
"""Decimal digits of the mechanisms' probabilities: 2^-64 has twenty."""

_FINE = 1 << 192
_TOTAL = 1 << 128

Weights = tuple[tuple[int, ...], ...]


def compile_weights(rows: Sequence[Sequence[Decimal]], *, word_bits: int, epsilon: str) -> Weights:
    """Return integer rows summing to 2^w, proportional to `rows`, that the verifier accepts.

    A rejected proposal is mixed with its average row: P <- (1 - g) P + g mean(P) lowers every
    ratio. The guard g doubles from 2^(2 - w) until the integers are accepted (at g = 1 all rows are
    equal, so it terminates), then the interval to the last failure is bisected down to 2^(4 - w).
    At w = 64 that costs less than 1e-12 of epsilon. `epsilon`: nats, a decimal string. Raises
    `RequestError` if no table of so few bits is accepted.
    """
    exact = [_normalised(row) for row in rows]
    mean = [sum(column) // len(exact) for column in zip(*exact, strict=True)]

    def attempt(guard: int) -> Weights | None:
        mixed = ([_blend(p, m, guard) for p, m in zip(row, mean, strict=True)] for row in exact)
        weights = tuple(_rounded(row, word_bits) for row in mixed)
        return weights if flaw(weights, word_bits, epsilon) is None else None

    failed, guard, unit = 0, 0, _TOTAL >> word_bits
    best = attempt(0)
    while best is None:
        failed, guard = guard, max(4 * unit, 2 * guard)
        if guard > _TOTAL:
            raise RequestError(
                f"No table of {word_bits}-bit words has epsilon {epsilon}; use more bits."
            )
        best = attempt(guard)
    while guard - failed > 16 * unit:
        middle = (failed + guard) // 2
        better = attempt(middle)
        failed, guard = (middle, guard) if better is None else (failed, middle)
        best = better or best
    return best


def public_numbers(values: Sequence[Decimal | Fraction]) -> tuple[Decimal, ...]:
    """Return the numeric outputs of symbols: six decimals, more where values span less than 1.

    A duplicate number is increased by one unit in its last place, so that outputs are distinct.
    """
    with localcontext(prec=PRECISION):
        exact = [_decimal(value) for value in values]
        unit = Decimal(1).scaleb(min(0, (max(exact) - min(exact)).adjusted()) - 6)
        numbers: list[Decimal] = []
        for value in exact:
            number = value.quantize(unit)
            while number in numbers:
                number += unit
            numbers.append(number)
    return tuple(number.normalize() + 0 for number in numbers)


def _decimal(value: Decimal | Fraction) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(value.numerator) / value.denominator


def _normalised(row: Sequence[Decimal]) -> list[int]:
    scale = _FINE / sum(row, Decimal(0))
    return [int(weight * scale) for weight in row]


def _blend(share: int, mean: int, guard: int) -> int:
    return share * (_TOTAL - guard) + mean * guard


def _rounded(row: Sequence[int], word_bits: int) -> tuple[int, ...]:
    """Round by largest remainders: down, then one unit up for the largest losses; minimum 1."""
    total, units = sum(row), 1 << word_bits
    floors = [max(1, share * units // total) for share in row]
    left = units - sum(floors)
    order = sorted(range(len(row)), key=lambda y: floors[y] * total - row[y] * units)
    for y in order[: max(0, left)]:
        floors[y] += 1
    if left < 0:
        floors[floors.index(max(floors))] += left
    return tuple(floors)
