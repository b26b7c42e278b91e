"""Threshold channels: one bit, whether the rating is above a cut, by randomized response.

The most informative table at small epsilon is of this kind. Its rank is 2: all ratings on one side
of the cut draw from the same row, so reports cannot distinguish them. Querying different cells
about different cuts solves this: a public hash of user and item selects the cut, at no epsilon.
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
    """Two symbols: level number >= `cut`, reported truly with probability e^eps / (1 + e^eps).

    The output of a symbol is the mean rating given the symbol, under a uniform public prior.
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
        """Return the side of the cut, with odds e^epsilon; certified at `epsilon` nats."""
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
    """Return `thresholds` channels whose cuts divide the levels evenly; `which` selects one.

    With n_levels - 1 thresholds the reports identify the distribution of ratings. `epsilon`: nats
    per value, a decimal string. Raises `RequestError` for too many cuts.
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
    """Return the first 64 bits of SHA-256 of an id's text: public, equal on every machine."""
    return int.from_bytes(sha256(str(identity).encode()).digest()[:8], "little")


def which(person: object, item: object, count: int) -> int:
    """Return the channel's index for a user and an item, of `count`; independent of ratings."""
    return ((pair_key(hash_id(person), hash_id(item)) >> 32) * count) >> 32


CHOICE = 0x9E3779B97F4A7C15
"""Odd multiplier of `which`. Every other use of a pair's hash needs another multiplier."""


def pair_key(person: int, item: int, multiplier: int = CHOICE) -> int:
    """Return 64 public bits of a pair from both `hash_id`, a and b: (2a + 1)(2b + 1), mixed."""
    product = ((person << 1 | 1) * (item << 1 | 1)) & (1 << 64) - 1
    return (product ^ product >> 32) * multiplier & (1 << 64) - 1
