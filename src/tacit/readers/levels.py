"""From numbers in a file to levels of a rating scale: checking, rounding, inferring."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.ratings import Mask
from tacit.scale import THERE, RatingScale

Rounding = Literal["nearest", "stochastic"]
Floats = NDArray[np.float64]
Levels = NDArray[np.unsignedinteger[Any]]

# A float32 of a decimal with four digits is within this share of a step of .001.
OFF_GRID = 1e-3
STEPS = tuple(Decimal(step) for step in ("1", "0.5", "0.25", "0.2", "0.1"))
MOST_LEVELS = 201


@dataclass(frozen=True)
class DeclaredScale:
    """A declared scale, and what becomes of a rating that lies between two of its levels.

    With `rounding` None such a rating is refused; "nearest" takes the nearest level, the higher of
    two equally near; "stochastic" takes one of the two neighbours so that the mean is kept. On the
    scale `there` every finite number stands at the one level: it is a weight, and is ignored.
    """

    scale: RatingScale
    rounding: Rounding | None = None

    def admits(self, ratings: Floats) -> Mask:
        """Which ratings are on the scale; NaN and infinity never are. Shape (n,)."""
        place = self._place(ratings)
        with np.errstate(invalid="ignore"):
            inside = (place >= -OFF_GRID) & (place <= self.scale.n_levels - 1 + OFF_GRID)
            if self.rounding is None:
                inside &= np.abs(place - np.rint(place)) <= OFF_GRID
        return inside

    def levels(self, ratings: Floats, rng: np.random.Generator) -> Levels:
        """The level number of each admitted rating, as uint8 where it fits, else uint16."""
        place = self._place(ratings)
        lift = rng.random(len(place)) if self.rounding == "stochastic" else 0.5
        # A rating on the grid stays where it is, whatever its float's last bit says.
        on_grid = np.abs(place - np.rint(place)) <= OFF_GRID
        level = np.where(on_grid, np.rint(place), np.floor(place + lift))
        dtype = np.uint8 if self.scale.n_levels <= 256 else np.uint16
        return np.clip(level, 0, self.scale.n_levels - 1).astype(dtype)

    def _place(self, ratings: Floats) -> Floats:
        if self.scale.has_one_level:
            return np.where(np.isfinite(ratings), 0.0, np.nan)
        return (ratings - float(self.scale.low)) / float(self.scale.step)


def infer(distinct: Floats, where: str) -> RatingScale:
    """The scale from the lowest to the highest of the `distinct` ratings seen.

    The step is the widest of 1, 1/2, 1/4, 1/5 and 1/10 whose multiples they all are. Raises
    `DataError` when there is none, or a single rating: then the scale must be declared. `distinct`:
    shape (n,).
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
        odd, more = f"all ratings are {low:g}", f", or --scale {THERE} for interactions"
    else:
        odd, more = f"ratings such as {distinct[1]:g} fit no common step", ""
    raise DataError(
        f"{where}: no scale can be inferred ({odd}); declare it, as in --scale 1:5:1{more}."
    )
