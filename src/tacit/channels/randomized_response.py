"""k-ary randomized response (Warner 1965, Kairouz et al. 2016)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.channels.certificate import exp_lower
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(AbstractMechanism):
    """k-ary randomized response (Warner 1965, Kairouz et al. 2016).

    Inputs and symbols are the levels and, with `missing`, the answer "missing".

    P(y | x) = e^epsilon / (e^epsilon + k - 1) for y = x, 1 / (e^epsilon + k - 1) otherwise: Zheng's
    second mechanism. With `missing` one table protects presence and value together. In integers,
    with a rational R <= e^epsilon: b = ceil(2^w / (R + k - 1)) for every false answer and a = 2^w -
    (k - 1) b for the true one, so a <= R b by construction. At epsilon 0 every row is the uniform
    law, up to integer rounding, and reports carry no information.
    """

    missing: bool = False

    may_tell_nothing: ClassVar[bool] = True

    @property
    def serves_one_level(self) -> bool:
        """Whether `missing` is set: the table then has the inputs missing and there."""
        return self.missing

    def table(self) -> Channel:
        """Return e^epsilon at the true answer, 1 elsewhere; certified at `epsilon` nats."""
        count = self.scale.n_levels + self.missing
        rows = self._alike(count) if self.epsilon == "0" else self._rows(count)
        return Channel(
            levels=self.scale.levels,
            outputs=(None,) * self.missing + self.scale.levels,
            weights=rows,
            epsilon=self.claim,
            missing=self.missing,
            word_bits=self.word_bits,
        )

    def _alike(self, count: int) -> Rows:
        each, more = divmod(1 << self.word_bits, count)
        return (tuple(each + (y < more) for y in range(count)),) * count

    def _rows(self, count: int) -> Rows:
        true, false = self._weights(count)
        return tuple(tuple(true if y == x else false for y in range(count)) for x in range(count))

    def _weights(self, count: int) -> tuple[int, int]:
        ratio, total = exp_lower(Fraction(self.epsilon)), 1 << self.word_bits
        false = -(-total * ratio.denominator // (ratio.numerator + (count - 1) * ratio.denominator))
        true = total - (count - 1) * false
        if true < false:
            raise RequestError(
                f"A word of {self.word_bits} bits is too short for {count} outputs; use 64."
            )
        return true, false
