"""Thresholds: one bit, "is it above the cut?", answered with randomized response.

The best table at small epsilon is such a question. Its rank is 2: every rating on one side of the
cut draws from the same row, so no number of reports tells them apart. Asking different cells about
different cuts mends it: a public hash of person and item picks the cut, which costs no epsilon.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from hashlib import sha256

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.scale import RatingScale


@dataclass(frozen=True, kw_only=True)
class Threshold(AbstractMechanism):
    """Two symbols: level number >= `cut`, told truly with probability e^eps / (1 + e^eps).

    A symbol stands for the mean rating given the symbol, under a uniform public prior.
    """

    cut: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.cut < self.scale.n_levels:
            raise RequestError(
                f"cut must be from 1 to {self.scale.n_levels - 1}, got {self.cut}: neither side "
                "may be empty."
            )

    def table(self) -> Channel:
        """Which side of the cut, with odds e^epsilon; certified at `epsilon` nats per report."""
        levels = self.scale.levels
        with localcontext(prec=PRECISION):
            odds, one = Decimal(self.epsilon).exp(), Decimal(1)
            below = [odds if number < self.cut else one for number in range(len(levels))]
            above = [odds + 1 - weight for weight in below]
            outputs = [
                sum((w * level for w, level in zip(column, levels, strict=True)), Decimal(0))
                / sum(column)
                for column in (below, above)
            ]
        return self.compiled(outputs, list(zip(below, above, strict=True)))


def threshold_mix(
    *, epsilon: str, scale: RatingScale, thresholds: int = 2, word_bits: int = 64
) -> tuple[Channel, ...]:
    """`thresholds` channels whose cuts split the levels evenly; `which` says which one is asked.

    With n_levels - 1 thresholds the reports determine the whole distribution of ratings. `epsilon`:
    nats per value, a decimal string. Raises `RequestError` for more cuts than fit.
    """
    scale.require_stars("A threshold")
    if not 0 < thresholds < scale.n_levels:
        raise RequestError(
            f"thresholds must be from 1 to {scale.n_levels - 1} on a scale of {scale.n_levels} "
            f"levels, got {thresholds}."
        )
    cuts = [round(scale.n_levels * (k + 1) / (thresholds + 1)) for k in range(thresholds)]
    return tuple(
        Threshold(epsilon=epsilon, scale=scale, cut=cut, word_bits=word_bits).table()
        for cut in cuts
    )


def hash_id(identity: object) -> int:
    """The first 64 bits of SHA-256 of an id's text: public, and the same on every machine."""
    return int.from_bytes(sha256(str(identity).encode()).digest()[:8], "little")


def which(person: object, item: object, count: int) -> int:
    """Which of `count` channels a person is asked through on an item; no rating enters it."""
    return ((pair_key(hash_id(person), hash_id(item)) >> 32) * count) >> 32


CHOICE = 0x9E3779B97F4A7C15
"""The odd multiplier behind `which`; another use of a pair's hash needs another multiplier."""


def pair_key(person: int, item: int, multiplier: int = CHOICE) -> int:
    """64 public bits of a pair from the `hash_id` a and b of both: (2a + 1)(2b + 1), mixed."""
    product = ((person << 1 | 1) * (item << 1 | 1)) & (1 << 64) - 1
    return (product ^ product >> 32) * multiplier & (1 << 64) - 1
