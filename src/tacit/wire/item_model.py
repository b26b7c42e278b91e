"""Item model: published by a provider and downloaded by devices. Standard library only.

    theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i,   x_u ~ N(prior, 1 / precision)

for each of 1 to 32 draws; a prediction is the mean over draws of the link. Where the reports
already contain a user's ratings, the item rows depend on them, and `shrinkage` of every own rating
is added to the precision of x_u[1:]. In that case (format 2) factors and vectors are halves, else
(format 1) all numbers are singles. Format 3 is either of them with an exposure
(`tacit.wire.exposure`), and format 4 is any of them with hidden items. The model is computed from
reports alone, so publishing it has no privacy cost beyond theirs.

A cross-domain model (`ItemTarget`) recommends the last items alone. It predicts their median level,
which is as many levels above the lowest as cuts lie at or below the mean prediction.

A device reads it as untrusted input: declared sizes are compared with the available bytes before
anything is allocated, and infinite values and NaN are rejected.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from tacit.errors import DataError, must_be
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import binary
from tacit.wire.binary import Bytes, Floats, Numbers
from tacit.wire.exposure import ItemExposure
from tacit.wire.item_header import Header, ItemTarget, parse_header
from tacit.wire.model_header import indices_of

MAGICS = tuple(b"tacit-item-model-%d\n" % version for version in (1, 2, 3, 4))
"""First lines of formats 1 to 4."""


@dataclass(frozen=True)
class ItemDraw:
    """One draw of the item side; float32 arrays, row by row.

    `item_bias`: n. `item_factors`: n x K. `precision`: 1 + K, bias first. `prior_weights`: features
    x (1 + K), from presence features to the mean of the user's row; empty for zero. `shrinkage`: n,
    added to the precision of factors per rated item; empty for zero.
    """

    mu: float
    item_bias: Floats
    item_factors: Floats
    precision: Floats
    prior_weights: Floats
    shrinkage: Floats = field(default_factory=lambda: array("f"))


@dataclass(frozen=True)
class ItemPresence:
    """Map from a user's rated items, which are public, to features on the device.

    Features: [(log(1 + N) - log_mean) / log_scale, sum of the items' vectors / (N + damping) -
    centre]. `vectors`: n x d, row by row. `centre`: d.
    """

    vectors: Floats
    centre: Floats
    log_mean: float
    log_scale: float
    damping: float


@dataclass(frozen=True)
class ItemModel:
    """`items`: raw ids, in the order of every array. `factors`: K.

    `link`: "linear" or "cells" (bounds at midpoints between levels, normal noise of deviation
    `sigma`). `hidden`: indices of items that no device recommends, ascending. Ratings of them
    remain inputs.
    """

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    draws: tuple[ItemDraw, ...]
    guarantee: Guarantee
    presence: ItemPresence | None = None
    exposure: ItemExposure | None = None
    target: ItemTarget | None = None
    hidden: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<ItemModel: {len(self.items):,} items, {self.factors} factors, scale {self.scale}, "
            f"{self.guarantee.brief}>"
        )

    def hiding(self, ids: Iterable[object]) -> Self:
        """Return the model with these items hidden, and no others. Unknown ids are ignored."""
        return replace(self, hidden=indices_of(self.items, ids))

    def to_bytes(self) -> bytes:
        """Return magic line, length of the header, JSON header, and one little-endian block."""
        shrinking = bool(self.draws[0].shrinkage)
        blocks: list[Floats | Bytes] = []
        for draw in self.draws:
            blocks += [draw.item_bias, binary.rounded(draw.item_factors, half=shrinking)]
            blocks += [draw.precision, draw.prior_weights, draw.shrinkage]
        if self.presence is not None:
            blocks.append(binary.rounded(self.presence.vectors, half=shrinking))
            blocks.append(self.presence.centre)
        if self.exposure is None and not self.hidden:
            return binary.joined(MAGICS[shrinking], self._header(), blocks)
        header = self._header() | {"shrinking": shrinking, "exposure": _shape(self.exposure)}
        if self.exposure is not None:
            blocks += self.exposure.parts
        if self.hidden:
            return binary.joined(MAGICS[3], header | {"hidden": list(self.hidden)}, blocks)
        return binary.joined(MAGICS[2], header, blocks)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Parse a model from `to_bytes`.

        Raises `DataError` for truncated and other documents, `RequestError` for an argument that is
        not bytes.
        """
        must_be(bytes, data, "the bytes of an item model", "pass what `to_bytes` returns")
        magic = next((each for each in MAGICS if data.startswith(each)), MAGICS[0])
        text, numbers = binary.parted(magic, data, "item model")
        header = parse_header(text, 1 + MAGICS.index(magic))
        numbers.require(header.size)
        return cls._of(header, numbers)

    def _header(self) -> dict[str, Any]:
        presence, target = self.presence, self.target
        header: dict[str, Any] = {
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
        if target is None:
            return header
        titles = {"titles": list(target.titles)} if target.titles else {}
        return header | {"target": {"first": target.first, "cuts": list(target.cuts)} | titles}

    @classmethod
    def _of(cls, header: Header, numbers: Numbers) -> Self:
        n, K, features = len(header.items), header.factors, header.features
        shrinking, shape = header.shrinking, header.exposure
        draws = tuple(
            ItemDraw(
                mu,
                numbers.floats(n),
                numbers.rounded(n * K, half=shrinking),
                numbers.floats(1 + K),
                numbers.floats(features * (1 + K)),
                numbers.floats(n if shrinking else 0),
            )
            for mu in header.mu
        )
        if any(min(draw.precision) <= 0 for draw in draws):
            raise DataError("Precisions of an item model must be above 0.")
        if any(min(draw.shrinkage, default=0) < 0 for draw in draws):
            raise DataError("Shrinkages of an item model must be at least 0.")
        presence = header.presence and ItemPresence(
            numbers.rounded(n * (features - 1), half=shrinking),
            numbers.floats(features - 1),
            *header.presence,
        )
        exposure = shape and ItemExposure.read(
            numbers, n, shape.directions, popularity=shape.popularity
        )
        return cls(
            header.scale, header.items, K, header.link, header.sigma, draws, header.guarantee,
            presence, exposure, header.target, header.hidden,
        )  # fmt: skip


def _shape(exposure: ItemExposure | None) -> dict[str, Any] | None:
    if exposure is None:
        return None
    return {"directions": len(exposure.spectrum), "popularity": bool(exposure.popularity)}
