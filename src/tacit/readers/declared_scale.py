"""Levels of a declared rating scale from numbers: validation, rounding, counts and inference."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError
from tacit.ratings import Mask
from tacit.scale import RatingScale

Rounding = Literal["nearest", "stochastic"]
Floats = NDArray[np.float64]
Levels = NDArray[np.unsignedinteger[Any]]

# A float32 of a decimal with four digits is within this share of a step of .001.
OFF_GRID = 1e-3
STEPS = tuple(Decimal(step) for step in ("1", "0.5", "0.25", "0.2", "0.1"))
MOST_LEVELS = 201
COUNTS = "counts"
"""Prefix of a scale of interaction counts, as in `counts:5`."""
MOST_COUNTS = 1 << 16


@dataclass(frozen=True)
class DeclaredScale:
    """A declared scale, and the rounding of ratings between two levels.

    `rounding`: None rejects such a rating. "nearest" rounds to the nearest level, ties upwards.
    "stochastic" rounds to one of the two neighbouring levels without bias. On the scale `there`
    every finite number has the single level: it is a weight, and is ignored. `counts`: numbers are
    counts of interactions, 1 in rows without one. The counts of a (user, item) pair are added, and
    a sum above the highest level is recorded as that level.
    """

    scale: RatingScale
    rounding: Rounding | None = None
    counts: bool = False

    @classmethod
    def parse(cls, text: str, rounding: Rounding | None = None) -> "DeclaredScale":
        """Parse the text of a scale, or `counts:N`: counts of interactions, at most N.

        Raises `RequestError` for other texts, for N outside 2 to 65,536, and for rounded counts.
        """
        prefix, colon, most = str(text).partition(":")
        if prefix != COUNTS:
            return cls(RatingScale.parse(text), rounding)
        if not (colon and most.isascii() and most.isdecimal() and 2 <= int(most) <= MOST_COUNTS):
            raise RequestError(
                f"scale must be {COUNTS}:N with N from 2 to {MOST_COUNTS:,}, the count that stands "
                f"for all higher ones, got '{text[:60]}'; write {COUNTS}:5."
            )
        if rounding is not None:
            raise RequestError(f"Counts are not rounded, got rounding '{rounding}'; leave it out.")
        return cls(RatingScale.parse(f"1:{int(most)}:1"), counts=True)

    @property
    def has_interactions(self) -> bool:
        """Whether rows are interactions, whose numbers are weights or counts."""
        return self.counts or self.scale.has_one_level

    def admits(self, ratings: Floats) -> Mask:
        """Return the mask of ratings on the scale, shape (n,). False for NaN and infinity.

        Every integer is a count.
        """
        if self.counts:
            return np.isfinite(ratings) & (ratings == np.rint(ratings))
        position = self._position(ratings)
        with np.errstate(invalid="ignore"):
            inside = (position >= -OFF_GRID) & (position <= self.scale.n_levels - 1 + OFF_GRID)
            if self.rounding is None:
                inside &= np.abs(position - np.rint(position)) <= OFF_GRID
        return inside

    def levels(self, ratings: Floats, rng: np.random.Generator) -> Levels:
        """Return the level index of each admitted rating, as uint8 if it fits, otherwise uint16."""
        position = self._position(ratings)
        lift = rng.random(len(position)) if self.rounding == "stochastic" else 0.5
        # A rating on the grid keeps its level in spite of floating-point error.
        on_grid = np.abs(position - np.rint(position)) <= OFF_GRID
        level = np.where(on_grid, np.rint(position), np.floor(position + lift))
        dtype = np.uint8 if self.scale.n_levels <= 256 else np.uint16
        return np.clip(level, 0, self.scale.n_levels - 1).astype(dtype)

    def _position(self, ratings: Floats) -> Floats:
        if self.scale.has_one_level:
            return np.where(np.isfinite(ratings), 0.0, np.nan)
        return (ratings - float(self.scale.low)) / float(self.scale.step)


def infer(distinct: Floats, where: str) -> RatingScale:
    """Infer the scale from the `distinct` ratings, shape (n,), from the lowest to the highest.

    The step is the largest of 1, 1/2, 1/4, 1/5 and 1/10 that divides all of them. Raises
    `DataError` without one, and for a single distinct rating: the scale must then be declared.
    """
    low, high = distinct.min(), distinct.max()
    for step in STEPS:
        multiple = distinct / float(step)
        if np.abs(multiple - np.rint(multiple)).max() <= OFF_GRID and low < high:
            bottom, top = (Decimal(round(x / float(step))) * step for x in (low, high))
            scale = RatingScale(bottom, top, step)
            if scale.n_levels <= MOST_LEVELS:
                return scale
    if low == high:
        odd, more = f"all ratings are {low:g}", ", or scale='there' (--implicit) for interactions"
    else:
        odd, more = f"ratings such as {distinct[1]:g} fit no common step", ""
    raise DataError(
        f"{where}: no scale can be inferred ({odd}); declare it, as in scale='1:5:1' (--scale "
        f"1:5:1){more}."
    )
