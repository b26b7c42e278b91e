"""Item model: published by a provider and downloaded by devices. Standard library only.

    theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i,   x_u ~ N(prior, 1 / precision)

for each of 1 to 32 draws; a prediction is the mean over draws of the link. Where the reports
already contain a user's ratings, the item rows depend on them, and `shrinkage` of every own rating
is added to the precision of x_u[1:]. In that case (format 2) factors and vectors are halves, else
(format 1) all numbers are singles. The model is computed from reports alone, so publishing it has
no privacy cost beyond theirs.

A cross-domain model (`ItemTarget`) recommends the last items alone. It predicts their median level,
which is as many levels above the lowest as cuts lie at or below the mean prediction.

A device reads it as untrusted input: declared sizes are compared with the available bytes before
anything is allocated, and infinite values and NaN are rejected.
"""

from array import array
from dataclasses import dataclass, field
from typing import Any, Self

from tacit.errors import DataError, RequestError, must_be
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import binary, model_header, strict
from tacit.wire.binary import Floats, Numbers
from tacit.wire.model_header import MOST_FACTORS

# Header of an item model: the meaning of its arrays, and their sizes.

KEYS = (
    "scale", "items", "factors", "link", "sigma", "mu", "features", "presence", "guarantee",
)  # fmt: skip
PRESENCE = ("log_mean", "log_scale", "damping")
TARGET = ("first", "cuts")
LINKS = ("linear", "cells")
MOST_DRAWS = 32
MOST_CUTS = 1 << 10
WHAT = "The item model's header"


@dataclass(frozen=True)
class ItemTarget:
    """Target domain of a cross-domain model: its items are those from the index `first` on.

    `cuts`: mean predictions of a target item from which on the median rating is a level higher,
    non-decreasing, one per level but the lowest. Empty to predict means.
    """

    first: int
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Header:
    """`presence`: log_mean, log_scale and damping."""

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    mu: tuple[float, ...]
    features: int
    presence: tuple[float, float, float] | None
    guarantee: Guarantee
    target: ItemTarget | None

    def size(self, shrinking: bool) -> int:
        """Return how many bytes follow the header, in format 2 (`shrinking`) or format 1."""
        n, K, row, d = len(self.items), self.factors, 1 + self.factors, self.features - 1
        wide = 2 if shrinking else 4
        drawn = wide * n * K + 4 * (n + row + self.features * row + n * shrinking)
        return len(self.mu) * drawn + (0 if self.presence is None else (wide * n + 4) * d)


def parse_header(text: bytes) -> Header:
    """Parse a header from JSON. Raises `DataError` for a malformed one."""
    document = strict.parse(text, WHAT, model_header.LONGEST)
    known = strict.fields(document, WHAT, KEYS, ("target",))
    header = Header(
        scale=_scale(known),
        items=model_header.item_ids(known, WHAT),
        factors=model_header.count(known, "factors", MOST_FACTORS, WHAT),
        link=strict.typed(known, "link", str, WHAT),
        sigma=model_header.one(known, "sigma", strict.real, WHAT),
        mu=strict.listed(known["mu"], "mu", strict.real, WHAT, MOST_DRAWS),
        features=model_header.one(known, "features", strict.integral, WHAT),
        presence=_presence(known["presence"]),
        guarantee=model_header.guarantee(known["guarantee"], WHAT),
        target=_target(known["target"]) if "target" in known else None,
    )
    for wrong, sentence in (*_flaws(header), *_target_flaws(header)):
        if wrong:
            raise DataError(f"{WHAT} is malformed: {sentence}.")
    return header


def _flaws(header: Header) -> tuple[tuple[bool, str], ...]:
    presence = header.presence
    least = 1 if presence else 0
    most = MOST_FACTORS if presence else 0
    return (
        (
            header.scale.has_one_level,
            f"a rating scale must have at least two levels, got {header.scale}",
        ),
        (header.link not in LINKS, "its link is unknown"),
        (not header.mu, f"it must have 1 to {MOST_DRAWS} draws"),
        (
            header.sigma < 0 or (header.sigma > 0) != (header.link == "cells"),
            "sigma must be above 0 for the link cells and 0 for the link linear",
        ),
        (
            not least <= header.features <= most,
            "its number of features does not match its presence",
        ),
        (
            presence is not None and (presence[1] <= 0 or presence[2] < 0),
            "log_scale must be above 0, and damping 0 or more",
        ),
    )


def _target_flaws(header: Header) -> tuple[tuple[bool, str], ...]:
    target = header.target
    if target is None:
        return ()
    return (
        (
            not 0 < target.first < len(header.items),
            "a target domain must leave at least one item to it and to the sources",
        ),
        (
            len(target.cuts) not in (0, header.scale.n_levels - 1),
            "it must have a cut per level but the lowest, or none",
        ),
        (list(target.cuts) != sorted(target.cuts), "its cuts must not decrease"),
    )


def _scale(known: dict[str, Any]) -> RatingScale:
    text = strict.typed(known, "scale", str, WHAT)
    try:
        scale = RatingScale.parse(text)
    except RequestError as error:
        raise DataError(f"{WHAT} is malformed: {error}") from None
    if str(scale) != text:
        raise DataError(f"{WHAT} has the scale {text[:60]!r}, which must be written {scale}.")
    return scale


def _presence(value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    known = strict.fields(value, f"{WHAT}'s presence", PRESENCE)
    log_mean, log_scale, damping = (
        model_header.one(known, key, strict.real, WHAT) for key in PRESENCE
    )
    return log_mean, log_scale, damping


def _target(value: Any) -> ItemTarget:
    known = strict.fields(value, f"{WHAT}'s target", TARGET)
    return ItemTarget(
        first=model_header.one(known, "first", strict.integral, WHAT),
        cuts=strict.listed(known["cuts"], "cuts", strict.real, WHAT, MOST_CUTS),
    )


MAGIC, SHRINKING = b"tacit-item-model-1\n", b"tacit-item-model-2\n"


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
    `sigma`).
    """

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    draws: tuple[ItemDraw, ...]
    guarantee: Guarantee
    presence: ItemPresence | None = None
    target: ItemTarget | None = None

    def __repr__(self) -> str:
        return (
            f"<ItemModel: {len(self.items):,} items, {self.factors} factors, scale {self.scale}, "
            f"{self.guarantee.brief}>"
        )

    def to_bytes(self) -> bytes:
        """Return magic line, length of the header, JSON header, and one little-endian block."""
        shrinking = bool(self.draws[0].shrinkage)
        blocks: list[Floats | bytes] = []
        for draw in self.draws:
            blocks += [draw.item_bias, binary.rounded(draw.item_factors, half=shrinking)]
            blocks += [draw.precision, draw.prior_weights, draw.shrinkage]
        if self.presence is not None:
            blocks.append(binary.rounded(self.presence.vectors, half=shrinking))
            blocks.append(self.presence.centre)
        return binary.joined(SHRINKING if shrinking else MAGIC, self._header(), blocks)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Parse a model from `to_bytes`.

        Raises `DataError` for truncated and other documents, `RequestError` for an argument that is
        not bytes.
        """
        must_be(bytes, data, "the bytes of an item model", "pass what `to_bytes` returns")
        shrinking = data.startswith(SHRINKING)
        text, numbers = binary.parted(SHRINKING if shrinking else MAGIC, data, "item model")
        header = parse_header(text)
        numbers.require(header.size(shrinking))
        return cls._of(header, numbers, shrinking)

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
        return header | {"target": {"first": target.first, "cuts": list(target.cuts)}}

    @classmethod
    def _of(cls, header: Header, numbers: Numbers, shrinking: bool) -> Self:
        n, K, features = len(header.items), header.factors, header.features
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
        return cls(
            header.scale, header.items, K, header.link, header.sigma, draws, header.guarantee,
            presence, header.target,
        )  # fmt: skip
