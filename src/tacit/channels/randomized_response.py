"""Randomized response: the truth with one probability, any other answer with another."""

from dataclasses import dataclass
from fractions import Fraction

from tacit.channels.certificate import exp_lower
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(AbstractMechanism):
    """k-ary randomized response over the levels and, where `missing`, the answer "missing".

    P(y | x) = e^epsilon / (e^epsilon + k - 1) for y = x, 1 / (e^epsilon + k - 1) otherwise: Zheng's
    second mechanism. With `missing` one table protects presence and value together. In integers,
    with a rational R <= e^epsilon: b = ceil(2^w / (R + k - 1)) for every false answer and
    a = 2^w - (k - 1) b for the true one, so a <= R b by construction.
    """

    missing: bool = False

    def table(self) -> Channel:
        """e^epsilon at the true answer, 1 elsewhere; certified at `epsilon` nats per report."""
        count = self.scale.n_levels + self.missing
        true, false = self._weights(count)
        rows = (tuple(true if y == x else false for y in range(count)) for x in range(count))
        return Channel(
            levels=self.scale.levels,
            outputs=(None,) * self.missing + self.scale.levels,
            weights=tuple(rows),
            epsilon=self.claim,
            missing=self.missing,
            word_bits=self.word_bits,
        )

    def _weights(self, count: int) -> tuple[int, int]:
        ratio, whole = exp_lower(Fraction(self.epsilon)), 1 << self.word_bits
        false = -(-whole * ratio.denominator // (ratio.numerator + (count - 1) * ratio.denominator))
        true = whole - (count - 1) * false
        if true < false:
            raise RequestError(
                f"A word of {self.word_bits} bits is too short for {count} answers; use 64."
            )
        return true, false
