"""Base class of mechanisms: frozen settings that compile to a channel."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from tacit.channels.certificate import DECIMAL
from tacit.channels.compiler import PRECISION, compile_weights, public_numbers
from tacit.channels.table import Channel
from tacit.errors import RequestError, shown
from tacit.scale import RatingScale, shortest

DIGITS = re.compile(r"[0-9]+(\.[0-9]+)?")

MOST_EPSILON = Decimal(16)
"""Largest epsilon. At larger ones a report misstates fewer than one rating in nine million."""

MOST_LEVELS = 256
"""Most levels of a scale. Devices hold the tables; finer scales add little information."""


@dataclass(frozen=True, kw_only=True)
class AbstractMechanism(ABC):
    """Settings of one local randomizer over a public scale.

    `epsilon` is a decimal string, in nats: one report of one rating is epsilon-locally private.
    `word_bits` is the length w of the random word of a draw, 1 to 64 (64 outside tests). A subclass
    defines probabilities; compiling and verifying are shared.
    """

    epsilon: str
    scale: RatingScale
    word_bits: int = 64

    may_tell_nothing: ClassVar[bool] = False
    """Whether a table at epsilon 0, with equal rows, is allowed."""

    def __post_init__(self) -> None:
        if not (self.may_tell_nothing and self.epsilon == "0"):
            check_epsilon(self.epsilon)
        if not 1 <= self.word_bits <= 64:
            raise RequestError(f"word_bits must be from 1 to 64, got {self.word_bits}; use 64.")
        if self.scale.n_levels > MOST_LEVELS:
            raise RequestError(
                f"The scale {self.scale} has {self.scale.n_levels} levels, more than "
                f"{MOST_LEVELS}; use a larger step."
            )
        if self.scale.has_one_level and not self.serves_one_level:
            raise RequestError(
                "For implicit feedback, only presence can be protected; use randomized-response or "
                "optimal with missing=True, and the plan catalogue or sample:K."
            )

    @property
    def serves_one_level(self) -> bool:
        """Whether there are tables over the scale `there`, which protect presence alone."""
        return False

    @abstractmethod
    def table(self) -> Channel:
        """Return the mechanism as a certified channel."""

    @cached_property
    def claim(self) -> str:
        """Declared epsilon of the table between any two ratings, as the shortest decimal."""
        return shortest(Decimal(self.epsilon))

    @property
    def middle(self) -> Decimal:
        """Middle of the scale."""
        return (self.scale.low + self.scale.high) / 2

    @property
    def width(self) -> Decimal:
        """Range of the scale, high - low, in stars."""
        return self.scale.high - self.scale.low

    def compiled(
        self,
        outputs: Sequence[Decimal | Fraction | None],
        rows: Sequence[Sequence[Decimal]],
    ) -> Channel:
        """Return the channel of unnormalised `rows`, one per input, proved at `claim`.

        An output None is the symbol "missing"; with it the input "missing" is row 0.
        """
        with localcontext(prec=PRECISION):
            weights = compile_weights(rows, word_bits=self.word_bits, epsilon=self.claim)
        silent = [output for output in outputs if output is None]
        return Channel(
            levels=self.scale.levels,
            outputs=(*silent, *public_numbers([y for y in outputs if y is not None])),
            weights=weights,
            epsilon=self.claim,
            missing=bool(silent),
            word_bits=self.word_bits,
        )


def check_epsilon(epsilon: object) -> None:
    """Raise `RequestError` unless `epsilon` is a plain decimal string in (0, 16].

    Nats, per value or slot.
    """
    text = epsilon if isinstance(epsilon, str) else ""
    if DIGITS.fullmatch(text) and not _in_range(Decimal(text)):
        raise RequestError(
            f"Epsilon must be above 0 and at most {MOST_EPSILON}, got {epsilon}; for no privacy, "
            "use the channel 'identity'."
        )
    if not DECIMAL.fullmatch(text):
        raise RequestError(
            f"Epsilon must be a decimal string such as '0.5', got {shown(epsilon)}; write at most "
            "three digits before the point and 18 after it, without sign or exponent."
        )


def _in_range(epsilon: Decimal) -> bool:
    return 0 < epsilon <= MOST_EPSILON
