"""Header of an item model: the meaning of its arrays, and their sizes."""

from dataclasses import dataclass
from typing import Any

from tacit.errors import DataError, RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import model_header, strict
from tacit.wire.model_header import MOST_FACTORS

KEYS = (
    "scale", "items", "factors", "link", "sigma", "mu", "features", "presence", "guarantee",
)  # fmt: skip
PRESENCE = ("log_mean", "log_scale", "damping")
LINKS = ("linear", "cells")
MOST_DRAWS = 32
WHAT = "The item model's header"


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

    def size(self, shrinking: bool) -> int:
        """Return how many bytes follow the header, in format 2 (`shrinking`) or format 1."""
        n, K, row, d = len(self.items), self.factors, 1 + self.factors, self.features - 1
        wide = 2 if shrinking else 4
        drawn = wide * n * K + 4 * (n + row + self.features * row + n * shrinking)
        return len(self.mu) * drawn + (0 if self.presence is None else (wide * n + 4) * d)


def loads(text: bytes) -> Header:
    """Parse a header from JSON. Raises `DataError` for a malformed one."""
    known = strict.fields(strict.parse(text, WHAT, model_header.LONGEST), WHAT, KEYS)
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
    )
    for wrong, sentence in _flaws(header):
        if wrong:
            raise DataError(f"{WHAT} is malformed: {sentence}.")
    return header


def _flaws(header: Header) -> tuple[tuple[bool, str], ...]:
    presence = header.presence
    least = 1 if presence else 0
    most = MOST_FACTORS if presence else 0
    return (
        (header.scale.has_one_level, f"its scale {header.scale} has one level, and it has ratings"),
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
    log_mean, log_scale, damping = (
        model_header.one(known, key, strict.real, WHAT) for key in PRESENCE
    )
    return log_mean, log_scale, damping
