"""Header of an item model: the meaning of its arrays, and their sizes. Standard library only."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.errors import DataError, RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire import exposure, model_header, strict
from tacit.wire.model_header import MOST_FACTORS
from tacit.wire.tasks.catalogue import MOST_ITEMS

KEYS = (
    "scale", "items", "factors", "link", "sigma", "mu", "features", "presence", "guarantee",
)  # fmt: skip
WITH_EXPOSURE = (*KEYS, "shrinking", "exposure")
"""Keys of format 3."""
WITH_HIDDEN = (*WITH_EXPOSURE, "hidden")
"""Keys of format 4, whose exposure may be null."""
PRESENCE = ("log_mean", "log_scale", "damping")
EXPOSURE = ("directions", "popularity")
TARGET, TITLES = ("first", "cuts"), "titles"
LINKS = ("linear", "cells")
MOST_DRAWS = 32
MOST_CUTS = 1 << 10
WHAT = "The item model's header"


@dataclass(frozen=True)
class ItemTarget:
    """Target domain of a cross-domain model: its items are those from the index `first` on.

    `cuts`: mean predictions of a target item from which on the median rating is a level higher,
    non-decreasing, one per level but the lowest. Empty to predict means. `titles`: of the target
    items, which no task of a source has. Empty without titles.
    """

    first: int
    cuts: tuple[float, ...] = ()
    titles: tuple[str, ...] = ()


class ExposureShape(NamedTuple):
    """`directions`: K. `popularity`: whether items have popularities."""

    directions: int
    popularity: bool


@dataclass(frozen=True)
class Header:
    """`presence`: log_mean, log_scale and damping.

    `shrinking`: whether factors and vectors are halves and items have a shrinkage.
    """

    scale: RatingScale
    items: tuple[int | str, ...]
    factors: int
    link: str
    sigma: float
    mu: tuple[float, ...]
    features: int
    presence: tuple[float, float, float] | None
    guarantee: Guarantee
    shrinking: bool
    exposure: ExposureShape | None
    target: ItemTarget | None
    hidden: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of bytes that follow the header."""
        n, K, row, d = len(self.items), self.factors, 1 + self.factors, self.features - 1
        wide = 2 if self.shrinking else 4
        drawn = wide * n * K + 4 * (n + row + self.features * row + n * self.shrinking)
        presence = 0 if self.presence is None else (wide * n + 4) * d
        shape = self.exposure
        exposed = exposure.size(n, shape.directions, popularity=shape.popularity) if shape else 0
        return len(self.mu) * drawn + presence + exposed


def parse_header(text: bytes, version: int) -> Header:
    """Parse a header of format 1 to 4 from JSON. Raises `DataError` for a malformed one."""
    keys = (KEYS, KEYS, WITH_EXPOSURE, WITH_HIDDEN)[version - 1]
    document = strict.parse(text, WHAT, model_header.LONGEST)
    known = strict.fields(document, WHAT, keys, ("target",))
    items = model_header.item_ids(known, WHAT)
    header = Header(
        scale=_scale(known),
        items=items,
        factors=model_header.count(known, "factors", MOST_FACTORS, WHAT),
        link=strict.typed(known, "link", str, WHAT),
        sigma=model_header.one(known, "sigma", strict.real, WHAT),
        mu=strict.listed(known["mu"], "mu", strict.real, WHAT, MOST_DRAWS),
        features=model_header.one(known, "features", strict.integral, WHAT),
        presence=_presence(known["presence"]),
        guarantee=model_header.guarantee(known["guarantee"], WHAT),
        shrinking=strict.typed(known, "shrinking", bool, WHAT) if version >= 3 else version == 2,
        exposure=_exposure(known["exposure"], version) if version >= 3 else None,
        target=_target(known["target"]) if "target" in known else None,
        hidden=model_header.hidden_items(known["hidden"], items, WHAT) if version == 4 else (),
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
        (
            len(target.titles) not in (0, len(header.items) - target.first),
            "it must have a title per target item, or none",
        ),
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


def _exposure(value: Any, version: int) -> ExposureShape | None:
    if value is None and version == 4:
        return None
    what = f"{WHAT}'s exposure"
    known = strict.fields(value, what, EXPOSURE)
    directions = model_header.count(known, "directions", MOST_FACTORS, what)
    return ExposureShape(directions, strict.typed(known, "popularity", bool, what))


def _target(value: Any) -> ItemTarget:
    known = strict.fields(value, f"{WHAT}'s target", TARGET, (TITLES,))
    titles = known.get(TITLES, [])
    return ItemTarget(
        first=model_header.one(known, "first", strict.integral, WHAT),
        cuts=strict.listed(known["cuts"], "cuts", strict.real, WHAT, MOST_CUTS),
        titles=strict.listed(titles, TITLES, strict.text, WHAT, MOST_ITEMS),
    )
