"""Channel tables: one row per input, one column per output symbol, rows summing to 2^w.

Sampling is exact, epsilon is checked in integers, and estimators use the same numbers as
likelihood. Standard library only: devices and providers share this module.
"""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from tacit.errors import RequestError
from tacit.notebook import card, heat
from tacit.scale import shortest

FORMAT = "tacit-channel-1"
MISSING = "?"
MOST_SYMBOLS = 1 << 15


LOG_DIGITS = 50
"""Digits of logarithms of probabilities."""


@dataclass(frozen=True)
class Channel:
    """A finite local randomizer: input x yields symbol y with probability weights[x][y] / 2^w.

    Inputs are the rating `levels` in order, preceded by "missing" if `missing` is true. Symbols are
    column indices; `outputs[y]` is the public number of a symbol (None for the symbol "missing").
    `epsilon` is a decimal string, in nats per value (per slot with `missing`): a claim about the
    table, checked by `tacit.channels.certificate.certify`, never trusted.
    """

    levels: tuple[Decimal, ...]
    outputs: tuple[Decimal | None, ...]
    weights: tuple[tuple[int, ...], ...]
    epsilon: str
    missing: bool = False
    word_bits: int = 64

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.levels) + self.missing:
            raise RequestError(
                f"A channel over {len(self.levels)} levels must have one row per level, plus one "
                f"for missing if protected, got {len(self.weights)}."
            )
        if any(len(row) != len(self.outputs) for row in self.weights):
            raise RequestError(f"Every row of a channel must have {len(self.outputs)} weights.")
        if not 0 < len(self.outputs) <= MOST_SYMBOLS:
            raise RequestError(
                f"A channel must have 1 to {MOST_SYMBOLS} symbols, got {len(self.outputs)}."
            )

    def __repr__(self) -> str:
        return (
            f"<Channel: {self._rows} by {len(self.outputs)} symbols, epsilon {self._claim}, "
            f"{self.id[:12]}>"
        )

    def _repr_html_(self) -> str:
        """Show its properties, and its table as a picture."""
        words = f"Probabilities of {len(self.outputs)} symbols, one line per input."
        lines = (
            ("inputs", self._rows),
            ("symbols", len(self.outputs)),
            ("epsilon", self._claim),
            ("id", self.id[:12]),
        )
        return card("Channel", lines, picture=heat(self.likelihood, words))

    @property
    def _rows(self) -> str:
        levels = "1 level" if len(self.levels) == 1 else f"{len(self.levels)} levels"
        return f"{levels}{' and missing' if self.missing else ''}"

    @property
    def _claim(self) -> str:
        return f"{self.epsilon} per {'slot' if self.missing else 'value'}"

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical text of the table, in hexadecimal.

        Epsilon is omitted: it is a claim about the table and does not affect it.
        """
        outputs = (MISSING if y is None else shortest(y) for y in self.outputs)
        text = "\n".join(
            (
                FORMAT,
                ",".join(shortest(level) for level in self.levels),
                "1" if self.missing else "0",
                ",".join(outputs),
                str(self.word_bits),
                "\n".join(",".join(str(weight) for weight in row) for row in self.weights),
            )
        )
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def bounds(self) -> tuple[tuple[int, ...], ...]:
        """End of each symbol's part of [0, 2^w), row by row, without the last (2^w itself).

        The symbol of a word u is the number of bounds of its row that are at most u.
        """
        return tuple(tuple(accumulate(row[:-1])) for row in self.weights)

    def row(self, rating: Decimal | None) -> int:
        """Return the row of a rating, or of "missing" if `rating` is None.

        Raises `RequestError` for a rating off the scale, before any draw. It is never moved to the
        nearest level, because a table proves nothing about values that are not its inputs.
        """
        if rating is None and self.missing:
            return 0
        if rating not in self.levels:
            known = ", ".join(shortest(level) for level in self.levels)
            raise RequestError(f"rating must be an input of this channel ({known}), got {rating}.")
        return self.levels.index(rating) + self.missing

    @cached_property
    def worst_ratio(self) -> Fraction:
        """Largest P(y | x) / P(y | x') over all inputs and symbols: e to the exact epsilon."""
        return max(Fraction(max(column), min(column)) for column in zip(*self.weights, strict=True))

    @property
    def exact_epsilon(self) -> float:
        """Actual epsilon of the table, in nats: log of `worst_ratio`, rounded up."""
        ratio = self.worst_ratio
        with localcontext(Context(prec=LOG_DIGITS)):
            exact = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
        near = float(exact)
        # Both logarithms are correctly rounded, and far finer than a float.
        return near if Decimal(near) > exact or ratio == 1 else math.nextafter(near, math.inf)

    @cached_property
    def likelihood(self) -> tuple[tuple[float, ...], ...]:
        """P(symbol | input) as floats, for estimation: rows inputs, columns symbols."""
        total = 1 << self.word_bits
        return tuple(tuple(weight / total for weight in row) for row in self.weights)

    def mean(self, row: int) -> Fraction:
        """Return E[output | input row], exact; the symbol "missing" counts as zero."""
        return self._moment(row, 1)

    def bias(self, row: int) -> Fraction:
        """Return E[output | input row] minus the true level, exact."""
        return self.mean(row) - Fraction(self.levels[row - self.missing])

    def variance(self, row: int) -> Fraction:
        """Return Var[output | input row], exact."""
        return self._moment(row, 2) - self._moment(row, 1) ** 2

    def information(self, prior: Sequence[float] | None = None) -> float:
        """Return the mutual information between rating and report, in nats, under a public prior.

        I = sum_x pi(x) sum_y P(y|x) log(P(y|x) / P(y)). Default: uniform over the rows.
        """
        rows = self.likelihood
        pi = prior if prior is not None else [1 / len(rows)] * len(rows)
        total = [
            sum(p * row[y] for p, row in zip(pi, rows, strict=True)) for y in range(len(rows[0]))
        ]
        return sum(
            p * row[y] * math.log(row[y] / total[y])
            for p, row in zip(pi, rows, strict=True)
            for y in range(len(total))
            if p > 0 and row[y] > 0
        )

    def _moment(self, row: int, power: int) -> Fraction:
        outputs = (Fraction(0) if y is None else Fraction(y) for y in self.outputs)
        pairs = zip(self.weights[row], outputs, strict=True)
        return sum((weight * y**power for weight, y in pairs), Fraction(0)) / (1 << self.word_bits)


# Drawing of a report from one word of secret bits, as on a device.

Words = Callable[[], int]
"""Source of 64-bit words, uniform, independent and never reused."""


def secret_word() -> int:
    """Return 64 bits from the operating system, which has no state that a fork could copy."""
    return int.from_bytes(os.urandom(8), "little")


def draw(channel: Channel, row: int, words: Words = secret_word) -> int:
    """Return the symbol that leaves the device for input `row` (see `Channel.row`).

    The top w bits u of one word select symbol y for exactly weights[row][y] of their 2^w values, so
    P(y | row) is exactly the table's, whatever the rating. It is a draw without rejection, every
    row takes the same number of bits, and the scan visits every bound, so neither its length nor
    its order depends on the rating. `words` is replaced in tests only.

    Raises `RequestError` for a row that the channel does not have.
    """
    if not 0 <= row < len(channel.weights):
        raise RequestError(f"row must be from 0 to {len(channel.weights) - 1}, got {row}.")
    word = words() >> (64 - channel.word_bits)
    return sum(map(word.__ge__, channel.bounds[row]))
