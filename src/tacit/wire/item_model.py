"""The item model: what a provider publishes and a device downloads. Standard library only.

    theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i,   x_u ~ N(prior, 1 / precision)

for each of 1 to 32 draws; a prediction is the mean over draws of the link. It is computed from
reports alone, so publishing it costs nobody anything beyond what their reports already did.

A device reads it as it reads anything of a provider's: sizes are compared with the bytes that are
there before anything is built, and a number that is none is refused.
"""

from dataclasses import dataclass
from typing import Any, Self

from tacit.errors import DataError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import binary, item_model_header
from tacit.wire.binary import Floats, Numbers
from tacit.wire.item_model_header import Header

MAGIC = b"tacit-item-model-1\n"


@dataclass(frozen=True)
class ItemDraw:
    """One draw of the item side; float32 arrays, row by row.

    `item_bias`: n. `item_factors`: n x K. `precision`: 1 + K, bias first. `prior_weights`:
    features x (1 + K), from presence features to the mean of the person's row; empty for zero.
    """

    mu: float
    item_bias: Floats
    item_factors: Floats
    precision: Floats
    prior_weights: Floats


@dataclass(frozen=True)
class ItemPresence:
    """How a device turns its owner's list of rated items, which is public, into features.

    Features: [(log(1 + N) - log_mean) / log_scale, sum of the items' vectors / (N + damping)
    - centre]. `vectors`: n x d, row by row. `centre`: d.
    """

    vectors: Floats
    centre: Floats
    log_mean: float
    log_scale: float
    damping: float


@dataclass(frozen=True)
class ItemModel:
    """`items`: raw ids, in the order of every array. `factors`: K. `link`: "linear" or "cells"
    (cuts half way between levels, normal noise of deviation `sigma`)."""

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    draws: tuple[ItemDraw, ...]
    guarantee: Guarantee
    presence: ItemPresence | None = None

    def to_bytes(self) -> bytes:
        """Magic line, length of the header, JSON header, one little-endian float32 block."""
        blocks: list[Floats] = []
        for draw in self.draws:
            blocks += [draw.item_bias, draw.item_factors, draw.precision, draw.prior_weights]
        if self.presence is not None:
            blocks += [self.presence.vectors, self.presence.centre]
        return binary.joined(MAGIC, self._header(), blocks)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model that `to_bytes` wrote; raises `DataError` when it is cut or something else."""
        text, numbers = binary.parted(MAGIC, data, "item model")
        header = item_model_header.loads(text)
        numbers.require(4 * header.floats)
        return cls._of(header, numbers)

    def _header(self) -> dict[str, Any]:
        presence = self.presence
        return {
            "scale": str(self.scale),
            "items": list(self.items),
            "factors": self.factors,
            "link": self.link,
            "sigma": self.sigma,
            "mu": [draw.mu for draw in self.draws],
            "features": len(self.draws[0].prior_weights) // (1 + self.factors),
            "presence": presence
            and {
                "log_mean": presence.log_mean,
                "log_scale": presence.log_scale,
                "damping": presence.damping,
            },
            "guarantee": self.guarantee.to_dict(),
        }

    @classmethod
    def _of(cls, header: Header, numbers: Numbers) -> Self:
        n, K, features = len(header.items), header.factors, header.features
        draws = tuple(
            ItemDraw(
                mu,
                numbers.floats(n),
                numbers.floats(n * K),
                numbers.floats(1 + K),
                numbers.floats(features * (1 + K)),
            )
            for mu in header.mu
        )
        if any(min(draw.precision) <= 0 for draw in draws):
            raise DataError("A precision of this item model is not above 0.")
        presence = header.presence and ItemPresence(
            numbers.floats(n * (features - 1)), numbers.floats(features - 1), *header.presence
        )
        return cls(
            header.scale, header.items, K, header.link, header.sigma, draws, header.guarantee,
            presence,
        )  # fmt: skip
