"""Incremental refits of `nx-map`: only neighbours that may have changed are computed again.

A fit compares items in several passes, each of rows with columns. A pass keeps more neighbours per
row than are wanted. In a refit, an item has changed if its raters, their centred ratings or their
likes have. A new rating changes its user's mean, and with it all items of that user. Then, in each
pass,

    rows that changed or are new         are compared with all columns
    other rows with changed neighbours   lose these, and have enough others left, or are compared
                                         with all columns
    columns that changed or are new      are compared with the other rows, and inserted

All others are unchanged, because a similarity depends on its two items alone. The result has the
digits of a fit from scratch. Meta-paths and replacements are computed from it anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.crossdomain.neighbours import Adjusted
from tacit.engines.engine import Engine
from tacit.kernels.layout import Side
from tacit.kernels.neighbourhood.columns import Words, fingerprints
from tacit.kernels.neighbourhood.neighbour_lists import NeighbourLists, insert
from tacit.kernels.neighbourhood.search_results import Near, Wanted, nothing, taken
from tacit.ratings import Codes, Mask
from tacit.vocabulary import Vocabulary

Positions = NDArray[np.int64]
BLANK = (-1, 0.0, 0, 0)  # of a list, where it has no neighbour
AT_ONCE = 1 << 24  # pairs whose similarities are held at a time
SPARE = 4  # a pass keeps a quarter more neighbours than are wanted
FEWEST_SPARE = 8
MOST_CHANGED = 1 / 4  # share of changed columns above which a pass is computed from scratch


class Pass(NamedTuple):
    """Result of one pass.

    `rows`, `columns`: item indices. `near`: more neighbours than are wanted, shape (rows, K).
    `complete`: whether these are all candidates of a row, shape (rows,).
    """

    rows: Codes
    columns: Codes
    near: Near
    complete: Mask


class PairTable(NamedTuple):
    """Similarities of changed items with others. `near`: shape (rows, columns)."""

    rows: Codes
    columns: Codes
    near: Near


@dataclass(frozen=True, eq=False)
class Remembered:
    """Similarities of one stage of a fit, and its passes, in their order.

    `alike`: the items. `prints`: their fingerprints. `changed`: mask of items that changed since
    the earlier fit, shape (items,). `earlier`: its passes in today's indices. `tables`: computed
    similarities, because two passes in opposite directions need the same ones.
    """

    alike: Adjusted
    prints: Words
    changed: Mask
    earlier: Mapping[int, Pass]
    passes: dict[int, Pass] = field(default_factory=dict[int, Pass])
    tables: list[PairTable] = field(default_factory=list["PairTable"])
    number: Iterator[int] = field(default_factory=count)

    @property
    def things(self) -> Side:
        """Cells of each item."""
        return self.alike.things

    def nearest(self, rows: Codes, columns: Codes, wanted: Wanted, engine: Engine) -> Near:
        """Return the most similar columns, as `Adjusted.nearest` does."""
        number = next(self.number)
        more = wanted._replace(k=wanted.k + max(FEWEST_SPARE, wanted.k // SPARE))
        before = self.earlier.get(number)
        fresh = self._fresh(columns, before)
        if before is None or len(fresh) > MOST_CHANGED * len(columns):
            one = self._compared(rows, columns, more, engine)
        else:
            one = self._refreshed(before, rows, columns, fresh, wanted.k, more, engine)
        self.passes[number] = one
        return taken(one.near, (slice(None), slice(wanted.k)))

    def _compared(self, rows: Codes, columns: Codes, more: Wanted, engine: Engine) -> Pass:
        near = self.alike.nearest(rows, columns, more, engine)
        return Pass(rows, columns, near, near.code[:, -1] < 0)

    def _fresh(self, columns: Codes, before: Pass | None) -> Codes:
        """Return the columns that changed or are new."""
        if before is None:
            return columns
        return columns[self.changed[columns] | ~np.isin(columns, before.columns)]

    def _refreshed(
        self,
        before: Pass,
        rows: Codes,
        columns: Codes,
        fresh: Codes,
        k: int,
        more: Wanted,
        engine: Engine,
    ) -> Pass:
        """Return the pass from its earlier result. `fresh`: columns that changed or are new."""
        stable = np.zeros(len(self.changed), np.bool_)
        stable[np.setdiff1d(columns, fresh, assume_unique=True)] = True
        mine, earlier = _unchanged(rows, before.rows, self.changed)
        lists_before = taken(before.near, earlier)
        near, complete = without_changed(lists_before, before.complete[earlier], stable)
        enough = complete | (np.count_nonzero(near.code >= 0, 1) >= k)
        result = Pass(rows, columns, nothing((len(rows), more.k)), np.zeros(len(rows), np.bool_))
        lists = mine[enough]
        _put(result, lists, taken(near, enough), complete[enough])
        self._insert(result, lists, fresh, more)
        again = np.setdiff1d(np.arange(len(rows)), lists, assume_unique=True)
        if len(again) * len(columns) <= AT_ONCE:
            self._compare_few(result, again, more)
            return result
        anew = self._compared(rows[again], columns, more, engine)
        _put(result, again, anew.near, anew.complete)
        return result

    def _insert(self, result: Pass, lists: Positions, fresh: Codes, more: Wanted) -> None:
        """Insert columns into the lists at these positions."""
        at_once = max(1, AT_ONCE // max(1, len(result.rows)))
        for first in range(0, len(fresh) if len(lists) else 0, at_once):
            some = fresh[first : first + at_once]
            pairs = self._pairs(some, result.rows, more)
            code = np.where(pairs.code >= 0, some[:, None], np.int32(-1))
            into = NeighbourLists(result.near, result.complete)
            insert(into, lists, pairs._replace(code=code), lists, more)

    def _compare_few(self, result: Pass, again: Positions, more: Wanted) -> None:
        """Compute the lists at these positions."""
        if not len(again) or not len(result.columns):
            result.complete[again] = True
            return
        pairs = self._pairs(result.rows[again], result.columns, more)
        result.complete[again] = True
        offers = Near(pairs.code.T, pairs.s.T, pairs.same.T, pairs.both.T)
        into = NeighbourLists(result.near, result.complete)
        insert(into, again, offers, np.arange(len(again)), more)

    def _pairs(self, rows: Codes, columns: Codes, more: Wanted) -> Near:
        """Return all candidates among the columns of each row, from an earlier table if it has
        them, shape (rows, columns)."""
        for table in self.tables:
            if np.array_equal(table.columns, columns) and np.isin(rows, table.rows).all():
                return taken(table.near, np.searchsorted(table.rows, rows))
        near = self.alike.between(rows, columns, more)
        if near.code.size <= AT_ONCE // 4:
            self.tables.append(PairTable(rows, columns, near))
        return near


class StableLists(NamedTuple):
    """Earlier neighbours that are still candidates, best first, and whether these are all."""

    near: Near
    complete: Mask


def without_changed(near: Near, complete: Mask, stable: Mask) -> StableLists:
    """Drop neighbours that changed or left the columns. `stable`: mask of other columns."""
    present = (near.code >= 0) & stable[near.code]
    blank = zip(near, BLANK, strict=True)
    result = Near(*(np.where(present, part, nothing) for part, nothing in blank))
    gaps = np.flatnonzero((present[:, 1:] & ~present[:, :-1]).any(1))
    order = np.argsort(~present[gaps], axis=1, kind="stable")
    moved = taken(result, (gaps[:, None], order))
    for part, values in zip(result, moved, strict=True):
        part[gaps] = values
    return StableLists(result, complete)


def _put(result: Pass, at: Positions, near: Near, complete: Mask) -> None:
    for part, values in zip(result.near, near, strict=True):
        part[at] = values
    result.complete[at] = complete


def _unchanged(rows: Codes, earlier: Codes, changed: Mask) -> tuple[Positions, Positions]:
    """Return the positions of unchanged rows, and their positions in the earlier pass."""
    _, mine, theirs = np.intersect1d(rows, earlier, assume_unique=True, return_indices=True)
    unchanged = ~changed[rows[mine]]
    return mine[unchanged], theirs[unchanged]


class Stage(NamedTuple):
    """What a later refit needs of one stage: fingerprints of its items, and its passes."""

    prints: Words
    passes: Mapping[int, Pass]


@dataclass(frozen=True, eq=False)
class Memory:
    """What a later refit needs of a fit. `items`: their ids. `stages`: by name."""

    items: Vocabulary
    stages: dict[str, Stage]

    @classmethod
    def empty(cls) -> Self:
        """Return the memory before the first fit."""
        return cls(Vocabulary(pl.Series("id", [], pl.String)), {})

    def recall(
        self, stage: str, alike: Adjusted, items: Vocabulary, users: Vocabulary
    ) -> Remembered:
        """Return the similarities of a stage, to be refreshed from the earlier fit."""
        names = users.ids.hash(1).to_numpy()
        prints = fingerprints(alike.witnesses, names, alike.value, alike.like, len(items))
        changed = np.ones(len(items), np.bool_)
        if stage not in self.stages or not len(self.items):
            return Remembered(alike, prints, changed, {})
        index = items.codes(self.items.ids)  # today's index of each earlier item
        present = index >= 0
        if (np.diff(index[present]) <= 0).any():  # ties would be in another order
            return Remembered(alike, prints, changed, {})
        same = (self.stages[stage].prints[present] == prints[index[present]]).all(1)
        changed[index[present]] = ~same
        passes = self.stages[stage].passes.items()
        return Remembered(alike, prints, changed, {n: _today(one, index) for n, one in passes})

    def after(self, items: Vocabulary, stages: Mapping[str, Remembered]) -> Self:
        """Return the memory after a fit."""
        fitted = {name: Stage(one.prints, one.passes) for name, one in stages.items()}
        return replace(self, items=items, stages=fitted)


def _today(one: Pass, index: Codes) -> Pass:
    """Return an earlier pass in today's indices, -1 for items that are gone."""
    rows = index[one.rows]
    code = np.where(one.near.code >= 0, index[one.near.code], np.int32(-1))
    here = rows >= 0
    near = taken(one.near._replace(code=code), here)
    return Pass(rows[here], index[one.columns], near, one.complete[here])
