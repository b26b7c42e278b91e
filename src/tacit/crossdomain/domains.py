"""Domains: disjoint catalogues, such as films and books, with partly overlapping users."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.privacy.guarantee import Part
from tacit.ratings import Codes, Mask, Ratings
from tacit.readers import as_ratings
from tacit.vocabulary import Vocabulary

PREFIX = "^[^/]*/"
"""Pattern of the name that `Domains.join` writes before an id."""


@dataclass(frozen=True, eq=False)
class Domains:
    """Ratings of several domains under one vocabulary of users and one of items.

    `ratings`: of all domains. `names`: of the domains. `bounds`: the items of domain d have the
    indices `bounds[d]` to `bounds[d + 1]`, exclusive, shape (domains + 1,).
    """

    ratings: Ratings
    names: tuple[str, ...]
    bounds: tuple[int, ...]

    @classmethod
    def join(cls, sources: Sequence[object]) -> Self:
        """Join the ratings of several domains, each an input of `as_ratings`. Users are matched by
        raw id.

        Items are never matched: an id that occurs in two domains is prefixed by the domain's name.
        Raises `RequestError` for fewer than two domains, one without ratings whose catalogue or
        users are not declared, two of the same name, different scales, or user ids of different
        types.
        """
        parts = [as_ratings(one, name=f"domain {k}") for k, one in enumerate(sources, 1)]
        _joinable(parts)
        user_ids, _ = Vocabulary.of(pl.concat([_people(part) for part in parts]))
        users = user_ids.codes(pl.concat([_raters(part) for part in parts]))
        bounds = np.cumsum([0, *(part.n_items for part in parts)])
        items = [part.items + start for part, start in zip(parts, bounds, strict=False)]
        timed = [part.times for part in parts if part.times is not None]
        ratings = Ratings(
            users=users,
            items=np.concatenate(items).astype(np.int32),
            levels=np.concatenate([part.levels for part in parts]),
            scale=parts[0].scale,
            user_ids=user_ids,
            item_ids=Vocabulary(_item_ids(parts)),
            times=np.concatenate(timed) if len(timed) == len(parts) else None,
            name=" + ".join(part.name for part in parts),
            undeclared=frozenset[Part]().union(*(part.undeclared for part in parts)),
            capped=any(part.capped for part in parts),
        )
        return cls(ratings, tuple(part.name for part in parts), tuple(bounds.tolist()))

    @property
    def of_item(self) -> NDArray[np.int8]:
        """The domain of each item, shape (items,)."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.bounds)).astype(np.int8)

    @property
    def checksum(self) -> str:
        """Checksum of the ratings and the division into domains."""
        return f"{self.ratings.checksum} {self.bounds}"

    def rows(self, domain: int) -> Mask:
        """Return the mask of a domain's ratings."""
        items = self.ratings.items
        return (items >= self.bounds[domain]) & (items < self.bounds[domain + 1])

    def members(self, domain: int) -> Mask:
        """Return the mask of users with a rating in a domain, shape (people,)."""
        mask = np.zeros(self.ratings.n_users, np.bool_)
        mask[self.ratings.users[self.rows(domain)]] = True
        return mask

    def straddlers(self, target: int) -> Codes:
        """Return the users with ratings in the target and in another domain, ascending."""
        others = [self.members(d) for d in range(len(self.names)) if d != target]
        both = self.members(target) & np.logical_or.reduce(others)
        return np.flatnonzero(both).astype(np.int32)

    def require_links(self, target: int) -> Codes:
        """Return the straddlers. Raises `RequestError` without any."""
        shared = self.straddlers(target)
        if not len(shared):
            others = " or ".join(n for d, n in enumerate(self.names) if d != target)
            raise RequestError(
                f"No user rated both in {self.names[target]} and in {others}, so the domains are "
                "not linked; use domains with user ids in common."
            )
        return shared

    def where(self, mask: Mask) -> Self:
        """Return the ratings where `mask` is true, with unchanged domains and vocabularies."""
        return replace(self, ratings=self.ratings.where(mask))

    @property
    def sentence(self) -> str:
        """Row counts of the domains, and the number of shared users."""
        counts = "; ".join(
            f"{name} {self.members(d).sum():,} users, {high - low:,} items, "
            f"{self.rows(d).sum():,} ratings"
            for d, (name, low, high) in enumerate(
                zip(self.names, self.bounds, self.bounds[1:], strict=False)
            )
        )
        several = sum(self.members(d).astype(np.int64) for d in range(len(self.names))) > 1
        return f"{counts}; {np.count_nonzero(several):,} users rated items of several domains."


def item_indices(items: Vocabulary, first: int, raw: pl.Series, name: str = "") -> Codes:
    """Return the index of each raw id in the items of joined domains, -1 for an unknown one.

    `items`: of the sources, then from the index `first` on of the target. Where `Domains.join`
    prefixed all ids, an id without a prefix means the item of the domain `name`. Without such
    a domain, it means the item of a source, if only one source has it.
    """
    codes, names = items.codes(raw), items.ids.cast(pl.String)
    if not names.str.contains("/", literal=True).all():
        return codes
    if names.str.starts_with(f"{name}/").any():
        return np.where(codes >= 0, codes, items.codes(f"{name}/" + raw.cast(pl.String)))
    bare = names[:first].str.replace(PREFIX, "")
    single = ~bare.is_duplicated()
    positions = Vocabulary(bare.filter(single)).codes(raw.cast(pl.String))
    sources = np.append(np.flatnonzero(single.to_numpy()), -1).astype(np.int32)[positions]
    return np.where(codes >= 0, codes, sources)


def notify_ambiguity(
    items: Vocabulary, first: int, profile: Ratings, notify: Callable[[str], None]
) -> None:
    """Call `notify` with a notice if ids of a profile are those of items of a source and of the
    target. Arguments as of `item_indices`."""
    raw = profile.item_ids.take(profile.items)
    names = items.ids.cast(pl.String)
    read = item_indices(items, first, raw, profile.name)
    bare = (items.codes(raw) < 0) & (read >= 0) & (read < first)
    same = raw.cast(pl.String).is_in(names[first:].str.replace(PREFIX, "").implode()).to_numpy()
    if names.str.starts_with(f"{profile.name}/").any() or not (bare & same).any():
        return
    target = str(names[first]).split("/")[0]
    notify(
        f"{np.count_nonzero(bare & same)} ids in {profile.name} are those of items of several "
        f"domains (the first is '{raw.filter(bare & same)[0]}'). They are read as items of a "
        f"source; write {target}/ before ids of the target."
    )


def _joinable(parts: Sequence[Ratings]) -> None:
    if len(parts) < 2:
        raise RequestError(
            f"At least 2 domains are required, a source and a target, got {len(parts)}."
        )
    for part in parts:
        # With a declared catalogue and declared users, an error would reveal that nobody rated.
        if len(part) == 0 and part.undeclared & {"catalogue", "people"}:
            raise RequestError(
                f"The domain {part.name} contains no ratings; use a domain with ratings, or "
                "declare its catalogue and users."
            )
        if part.scale != parts[0].scale:
            raise RequestError(
                f"All domains must have the same scale: {parts[0].name} has {parts[0].scale}, "
                f"{part.name} has {part.scale}."
            )
    names = [part.name for part in parts]
    if again := [name for name in names if names.count(name) > 1]:
        raise RequestError(f"Domain names must be unique, got {again[0]} twice; rename one.")
    if len({part.user_ids.ids.dtype.is_integer() for part in parts}) > 1:
        raise RequestError(
            "User ids must have the same type in all domains, got integers in one and strings in "
            "another, so no users match. Use the same ids."
        )


def _people(part: Ratings) -> pl.Series:
    """Return the declared users or, without a declaration, the raters."""
    return _raters(part) if "people" in part.undeclared else _comparable(part.user_ids.ids)


def _raters(part: Ratings) -> pl.Series:
    """Return the user of each rating."""
    return _comparable(part.user_ids.take(part.users))


def _comparable(ids: pl.Series) -> pl.Series:
    return ids.cast(pl.Int64) if ids.dtype.is_integer() else ids.cast(pl.String)


def _item_ids(parts: Sequence[Ratings]) -> pl.Series:
    ids = [part.item_ids.ids for part in parts]
    if all(series.dtype.is_integer() for series in ids):
        joined = pl.concat([series.cast(pl.Int64) for series in ids])
    else:
        joined = pl.concat([series.cast(pl.String) for series in ids])
    if joined.n_unique() < len(joined):
        named = zip(parts, ids, strict=True)
        joined = pl.concat([part.name + "/" + series.cast(pl.String) for part, series in named])
    return joined.alias("id")
