"""The item model: what a provider publishes and a device downloads. Standard library only.

    theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i,   x_u ~ N(prior, 1 / precision)

for each of 1 to 32 draws; a prediction is the mean over draws of the link. It is computed from
reports alone, so publishing it costs nobody anything beyond what their reports already did.

A device reads it as it reads anything of a provider's: sizes are compared with the bytes that are
there before anything is built, and a number that is none is refused.
"""

import json
import sys
from array import array
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import DataError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import item_model_header
from tacit.wire.item_model_header import Header

MAGIC = b"tacit-item-model-1\n"
if TYPE_CHECKING:
    Floats = array[float]  # subscripting it at run time needs a later Python
else:
    Floats = array


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
        header = json.dumps(self._header()).encode()
        body = b"".join(_little(block).tobytes() for block in blocks)
        return MAGIC + len(header).to_bytes(4, "little") + header + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model that `to_bytes` wrote; raises `DataError` when it is cut or something else."""
        if not data.startswith(MAGIC):
            raise DataError(f"This is not an item model: it begins with {data[:18]!r}.")
        at = len(MAGIC) + 4
        end = at + int.from_bytes(data[len(MAGIC) : at], "little")
        if len(data) < end or (len(data) - end) % 4:
            raise _cut()
        header = item_model_header.loads(data[at:end])
        return cls._of(header, _Reader(memoryview(data)[end:], header.floats))

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
    def _of(cls, header: Header, block: "_Reader") -> Self:
        n, K, features = len(header.items), header.factors, header.features
        draws = tuple(
            ItemDraw(mu, block.take(n), block.take(n * K), block.take(1 + K),
                     block.take(features * (1 + K)))
            for mu in header.mu
        )  # fmt: skip
        if any(min(draw.precision) <= 0 for draw in draws):
            raise DataError("A precision of this item model is not above 0.")
        presence = header.presence and ItemPresence(
            block.take(n * (features - 1)), block.take(features - 1), *header.presence
        )
        return cls(
            header.scale, header.items, K, header.link, header.sigma, draws, header.guarantee,
            presence,
        )  # fmt: skip


class _Reader:
    """Takes a block of `count` floats apart from the front; raises `DataError` when it is short or
    long, and for a number that is none."""

    def __init__(self, block: memoryview, count: int) -> None:
        if len(block) < 4 * count:
            raise _cut()
        if len(block) > 4 * count:
            raise DataError("This item model is longer than its header says; download it again.")
        self._block, self._at = block, 0

    def take(self, count: int) -> Floats:
        part = array("f")
        part.frombytes(self._block[self._at : self._at + 4 * count])
        self._at += 4 * count
        floats = _little(part)
        if not isfinite(sum(floats)):  # in doubles, which no sum of singles leaves
            raise DataError("A number of this item model is infinite, or none.")
        return floats


def _cut() -> DataError:
    return DataError("This item model is cut short; download it again.")


def _little(floats: Floats) -> Floats:
    if sys.byteorder == "little":
        return floats
    swapped = array("f", floats)
    swapped.byteswap()
    return swapped
