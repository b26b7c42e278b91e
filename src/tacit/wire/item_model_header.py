"""The header of an item model: what its arrays mean, and how long they have to be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from tacit.errors import DataError, RequestError
from tacit.privacy.guarantee import Guarantee, Trust, Unit
from tacit.scale import RatingScale
from tacit.wire import strict
from tacit.wire.task import MOST_ITEMS, item

KEYS = (
    "scale", "items", "factors", "link", "sigma", "mu", "features", "presence", "guarantee",
)  # fmt: skip
PRESENCE = ("log_mean", "log_scale", "damping")
PROMISE, DETAILS = (
    ("epsilon", "unit", "trust", "released"),
    ("delta", "public", "assumptions", "exact", "fails", "uncovered"),
)
"""The keys of a guarantee; the second ones may be left out."""
LINKS = ("linear", "cells")
LONGEST = 1 << 26
"""Bytes a header may have."""
MOST_DRAWS, MOST_FACTORS = 32, 1024
WHAT = "The item model's header"
T = TypeVar("T")


@dataclass(frozen=True)
class Header:
    """`presence`: log_mean, log_scale and damping. `floats`: how many numbers have to follow."""

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    mu: tuple[float, ...]
    features: int
    presence: tuple[float, float, float] | None
    guarantee: Guarantee

    @property
    def floats(self) -> int:
        """How many numbers of four bytes follow the header."""
        n, row, d = len(self.items), 1 + self.factors, self.features - 1
        drawn = n * row + row + self.features * row
        return len(self.mu) * drawn + (0 if self.presence is None else (n + 1) * d)


def loads(text: bytes) -> Header:
    """The header in that JSON; raises `DataError` for what is none."""
    known = strict.fields(strict.parse(text, WHAT, LONGEST), WHAT, KEYS)
    header = Header(
        scale=_scale(known),
        items=strict.listed(known["items"], "items", item_id, WHAT, MOST_ITEMS),
        factors=_one(known, "factors", strict.integral),
        link=strict.typed(known, "link", str, WHAT),
        sigma=_one(known, "sigma", strict.real),
        mu=strict.listed(known["mu"], "mu", strict.real, WHAT, MOST_DRAWS),
        features=_one(known, "features", strict.integral),
        presence=_presence(known["presence"]),
        guarantee=_guarantee(known["guarantee"]),
    )
    for wrong, sentence in _flaws(header):
        if wrong:
            raise DataError(f"{WHAT} is malformed: {sentence}.")
    return header


def item_id(value: Any) -> int | str:
    """The id of an item, whichever way a whole number is spelled; raises `ValueError`."""
    return item(strict.text(value) if isinstance(value, str) else strict.integral(value))


def _flaws(header: Header) -> tuple[tuple[bool, str], ...]:
    presence, ids = header.presence, set(map(str, header.items))
    least = 1 if presence else 0
    most = MOST_FACTORS if presence else 0
    return (
        (not header.items, "it has no items"),
        (header.scale.has_one_level, f"its scale {header.scale} has one level, and it has ratings"),
        (len(ids) != len(header.items), "an item id occurs twice"),
        (not 0 <= header.factors <= MOST_FACTORS, f"factors are not 0 to {MOST_FACTORS}"),
        (header.link not in LINKS, "its link is none"),
        (not header.mu, f"it has not 1 to {MOST_DRAWS} draws"),
        (
            header.sigma < 0 or (header.sigma > 0) != (header.link == "cells"),
            "sigma is above 0 where the link is cells, and 0 where it is linear",
        ),
        (not least <= header.features <= most, "its features do not go with its presence"),
        (
            presence is not None and (presence[1] <= 0 or presence[2] < 0),
            "log_scale is not above 0, or damping is below",
        ),
    )


def _scale(known: dict[str, Any]) -> RatingScale:
    text = strict.typed(known, "scale", str, WHAT)
    try:
        scale = RatingScale.parse(text)
    except RequestError as error:
        raise DataError(f"{WHAT} is malformed: {error}") from None
    if str(scale) != text:
        raise DataError(f"{WHAT} has the scale {text[:60]!r}, which is spelled {scale}.")
    return scale


def _presence(value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    known = strict.fields(value, f"{WHAT}'s presence", PRESENCE)
    log_mean, log_scale, damping = (_one(known, key, strict.real) for key in PRESENCE)
    return log_mean, log_scale, damping


def _guarantee(value: Any) -> Guarantee:
    known = strict.fields(value, f"{WHAT}'s guarantee", PROMISE, DETAILS)
    for key in known.keys() & {"public", "assumptions", "uncovered"}:
        strict.listed(known[key], key, strict.text, WHAT)
    for key in known.keys() & {"epsilon", "fails"}:
        _one(known, key, lambda one: None if one is None else strict.text(one))
    for key in known.keys() & {"released", "delta"}:
        _one(known, key, strict.text)
    if known["unit"] not in get_args(Unit) or known["trust"] not in get_args(Trust):
        raise DataError(f"{WHAT}'s guarantee has another unit or trust than there are.")
    if type(known.get("exact", False)) is not bool:
        raise DataError(f"{WHAT}'s guarantee says neither that it is exact nor that it is not.")
    return Guarantee.from_dict(known)


def _one(known: dict[str, Any], key: str, read: Callable[[Any], T]) -> T:
    return strict.listed([known[key]], key, read, WHAT)[0]
