"""Split of one catalogue into two domains by genre (Guerraoui et al. 2017).

Genres are ordered by their number of items in the *catalogue*, rated or not, and assigned in
alternation: the first to the source, the second to the target, and so on. An item is on the side
with more of its genres or, for a tie, on that of its most frequent genre. The split uses only the
public catalogue, so it does not depend on ratings.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.ratings import Mask, Ratings

SIDES = ("source", "target")
NEITHER = -1  # side of an item without a genre


@dataclass(frozen=True, eq=False)
class GenreSplit:
    """`items`: columns item and genres (lists), one row per item. Repeated genres count once."""

    items: pl.DataFrame

    @cached_property
    def genres(self) -> pl.DataFrame:
        """Columns genre, items (number of items) and side (0 or 1), most frequent first, ties by
        name. Raises `DataError` for fewer than two genres."""
        counts = self._pairs.group_by("genre").agg(items=pl.len())
        if len(counts) < 2:
            raise DataError(
                f"The catalogue must have at least 2 genres to form two sides, got {len(counts)}."
            )
        ordered = counts.sort("items", "genre", descending=[True, False])
        return ordered.with_columns(side=pl.int_range(pl.len()) % 2)

    @cached_property
    def sides(self) -> pl.DataFrame:
        """Columns item and side (0 source, 1 target) of the items with a genre."""
        ranked = self._pairs.join(self.genres.with_row_index("rank"), on="genre")
        target = 2 * pl.col("side").sum().cast(pl.Int64) - pl.len().cast(pl.Int64)
        first = pl.col("side").sort_by("rank").first()
        voted = ranked.group_by("item").agg(lead=target, first=first)
        side = pl.when(pl.col("lead") == 0).then(pl.col("first")).otherwise(pl.col("lead") > 0)
        return voted.select("item", side=side.cast(pl.Int8)).sort("item")

    def of(self, ratings: Ratings) -> NDArray[np.int8]:
        """Return the side of every item of `ratings`, shape (items,), -1 for items without a
        genre."""
        sides = np.full(ratings.n_items, NEITHER, np.int8)
        codes = ratings.item_ids.codes(self.sides["item"])
        known = codes >= 0
        sides[codes[known]] = self.sides["side"].to_numpy()[known]
        return sides

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        pairs = self.items.select("item", genre="genres").explode("genre", empty_as_null=True)
        return pairs.drop_nulls().unique()


@dataclass(frozen=True, eq=False)
class Halves:
    """Ratings of each side, with the original vocabularies. `left_out`: numbers of items and
    ratings without a side."""

    source: Ratings
    target: Ratings
    left_out: tuple[int, int]

    @classmethod
    def of(cls, ratings: Ratings, split: GenreSplit) -> "Halves":
        """Split ratings. Raises `DataError` if a side would be empty."""
        side = split.of(ratings)[ratings.items]
        source, target = (ratings.where(side == number) for number in range(2))
        for name, half in zip(SIDES, (source, target), strict=True):
            if len(half) == 0:
                raise DataError(
                    f"{ratings.name} has no rating on the {name} side; name the file with the "
                    "genres of these items, as in --items movies.dat."
                )
        stray = side == NEITHER
        return cls(source, target, (len(np.unique(ratings.items[stray])), int(stray.sum())))

    @property
    def sentences(self) -> list[str]:
        """Row counts of each side, and the number of shared users."""
        counts = [
            f"{name}: {len(np.unique(half.items)):,} items, {rated(half).sum():,} users, "
            f"{len(half):,} ratings"
            for name, half in zip(SIDES, (self.source, self.target), strict=True)
        ]
        both = int((rated(self.source) & rated(self.target)).sum())
        return [*counts, f"{both:,} users rated on both sides"]


def rated(ratings: Ratings) -> Mask:
    """Return the mask of users with a rating, shape (people,)."""
    mask = np.zeros(ratings.n_users, np.bool_)
    mask[ratings.users] = True
    return mask
