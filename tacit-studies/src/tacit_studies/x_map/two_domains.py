"""What X-Map is measured on: two domains, or one catalogue that its genres cut in two."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.genres import SIDES, GenreSplit, Halves
from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit.readers import synthetic

QUICK = (600, 300, 40_000)
SHAPE = (2000, 1000, 150_000)
GENRES = ("Comedy", "Drama")


def taken(given: Sequence[Ratings], items: pl.DataFrame | None) -> Domains:
    """A source and a target, the target last; one set of ratings is cut in two by `items`' genres.

    Raises `RequestError` for one set without genres.
    """
    if len(given) > 1:
        return Domains.join(given)
    if items is None:
        raise RequestError(
            "Splitting one set of ratings into two domains requires an item table with genres; "
            "name it by --items, or name a source and a target."
        )
    halves = Halves.of(given[0], GenreSplit(items))
    both = zip(SIDES, (halves.source, halves.target), strict=True)
    return Domains.join([replace(half, name=name) for name, half in both])


def made_up(quick: bool) -> Domains:
    """Return synthetic ratings of one catalogue, with items alternately in two genres."""
    ratings = synthetic(*(QUICK if quick else SHAPE))
    genres = [[GENRES[number % 2]] for number in range(ratings.n_items)]
    items = pl.DataFrame({"item": ratings.item_ids.ids, "genres": genres})
    return taken([ratings], items)
