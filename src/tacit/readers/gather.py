"""Batches of raw columns, combined into `Ratings` in a few times the memory of the result."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import DataError, integer
from tacit.privacy.guarantee import Part
from tacit.ratings import Codes, Mask, Ratings
from tacit.readers.declared_scale import DeclaredScale, infer
from tacit.readers.format import Notify
from tacit.readers.repeats import with_counts, without_repeats
from tacit.scale import THERE, RatingScale
from tacit.vocabulary import Vocabulary, as_integers, strip_spaces

Numbers = NDArray[np.float32] | NDArray[np.float64]
ROWS = 1 << 20
MOST_DISTINCT = 4096


class Encoder:
    """Encodes ids as indices, batch by batch, in order of first appearance. `finish` sorts them.

    `blanks`: number of ids whose leading or trailing spaces were removed.
    """

    def __init__(self) -> None:
        self.blanks = 0
        self._known: pl.DataFrame | None = None
        self._batches: list[Codes] = []

    def add(self, ids: pl.Series) -> None:
        """Encode one more batch of ids."""
        raw = self._of_one_type(ids)
        self._learn(raw.unique(maintain_order=True).alias("id"))
        joined = (
            raw.alias("id").to_frame().join(self._table, on="id", how="left", maintain_order="left")
        )
        self._batches.append(joined["code"].to_numpy())

    def finish(self) -> tuple[Vocabulary, Codes]:
        """Return the sorted vocabulary, and the concatenated indices of all batches."""
        ids = self._table["id"]
        order = ids.arg_sort().to_numpy()
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        codes = np.concatenate([rank[batch] for batch in self._batches])
        self._batches.clear()
        return Vocabulary(ids.gather(order)), codes

    @property
    def _table(self) -> pl.DataFrame:
        assert self._known is not None, "a batch comes first"
        return self._known

    def _of_one_type(self, ids: pl.Series) -> pl.Series:
        """Return the batch as integers while all ids so far are canonical, else as strings."""
        plain, blanks = strip_spaces(ids)
        self.blanks += blanks
        if self._known is None or self._known["id"].dtype.is_integer():
            if (integers := as_integers(plain)) is not None:
                return integers
            if self._known is not None:
                self._known = self._known.cast({"id": pl.String})
        return plain.cast(pl.String)

    def _learn(self, ids: pl.Series) -> None:
        if self._known is not None:
            ids = ids.to_frame().join(self._known, on="id", how="anti", maintain_order="left")["id"]
        start = 0 if self._known is None else len(self._known)
        codes = np.arange(start, start + len(ids), dtype=np.int32)
        fresh = pl.DataFrame({"id": ids, "code": codes})
        self._known = fresh if self._known is None else pl.concat([self._known, fresh])


def coalesced(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Combine frames into batches of about a million rows, for speed with many small files."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) >= ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def gather(
    frames: Iterator[pl.DataFrame],
    grid: DeclaredScale | None,
    *,
    name: str,
    where: str,
    rng: int,
    notify: Notify,
    positive_only: bool = False,
    may_be_empty: bool = False,
) -> Ratings:
    """Combine frames with columns user, item and optionally rating, timestamp and held_out into
    `Ratings`, in their order.

    `grid`: the declared scale. With None it is inferred from the distinct ratings, and is `there`
    without ratings. A repeated (user, item) pair keeps its latest row, or the sum of its counts.
    `positive_only`: drop interactions whose weight is 0 or below, which raise `DataError`
    otherwise. Raises `DataError` without a scale, and without a row unless the data `may_be_empty`:
    with declared catalogue, users and scale, an error would reveal that the only user with ratings
    is absent.
    """
    integer("rng", rng, 0)
    users, items = Encoder(), Encoder()
    numbers: list[Numbers] = []
    times: list[NDArray[np.int64]] = []
    held_out: list[Mask] = []
    distinct: set[float] = set()
    first, frames = _some(coalesced(frames))
    if first is None:
        if not may_be_empty or grid is None:
            raise DataError(f"{where} contains no ratings; name a file with at least one row.")
        notify(f"{where}: the data contain no ratings; only user-level trainers accept such data.")
        return _no_ratings(grid, name)
    grid = _of_interactions(first, grid, where, notify)
    dropped = 0
    for batch in frames:
        frame = _positive_rows(batch, grid, where, positive_only)
        dropped += len(batch) - len(frame)
        users.add(frame["user"])
        items.add(frame["item"])
        numbers.append(_ratings(frame, grid))
        if "timestamp" in frame.columns:
            times.append(frame["timestamp"].to_numpy())
        if "held_out" in frame.columns:
            held_out.append(frame["held_out"].to_numpy())
        if grid is None:
            distinct |= _distinct(numbers[-1], distinct, where)
    if dropped:
        notify(f"{where}: dropped {dropped:,} rows with a weight of 0 or below.")
    undeclared: set[Part] = {"catalogue", "people"}
    if grid is None:
        undeclared.add("scale")
        grid = DeclaredScale(infer(np.array(sorted(distinct)), where))
        notify(
            f"{where}: the scale {grid.scale} was inferred from the ratings; pass "
            f"scale='{grid.scale}' (--scale {grid.scale}) to fix it."
        )
    generator = np.random.default_rng(rng)
    levels = np.concatenate([grid.levels(part.astype(np.float64), generator) for part in numbers])
    if not grid.counts:
        numbers.clear()
    if blanks := users.blanks + items.blanks:
        notify(f"{where}: removed leading or trailing spaces from {blanks:,} ids.")
    user_ids, user_codes = users.finish()
    item_ids, item_codes = items.finish()
    ratings = Ratings(
        users=user_codes,
        items=item_codes,
        levels=levels,
        scale=grid.scale,
        user_ids=user_ids,
        item_ids=item_ids,
        times=np.concatenate(times) if times else None,
        name=name,
        undeclared=frozenset(undeclared),
        held_out=np.concatenate(held_out) if held_out else None,
    )
    if grid.counts:
        return with_counts(ratings, np.concatenate(numbers), where, notify)
    return without_repeats(ratings, where, notify)


def _some(
    frames: Iterator[pl.DataFrame],
) -> tuple[pl.DataFrame | None, Iterator[pl.DataFrame]]:
    first = next((frame for frame in frames if len(frame)), None)
    return first, frames if first is None else chain([first], frames)


def _no_ratings(grid: DeclaredScale, name: str) -> Ratings:
    none, ids = np.empty(0, np.int32), Vocabulary(pl.Series("id", [], pl.Int64))
    levels = np.empty(0, np.uint8)
    return Ratings(none, none, levels, grid.scale, ids, ids, name=name, capped=grid.counts)


def _of_interactions(
    first: pl.DataFrame, grid: DeclaredScale | None, where: str, notify: Notify
) -> DeclaredScale | None:
    """Return the scale `there` for rows without ratings, even undeclared, otherwise `grid`."""
    if "rating" not in first.columns and grid is None:
        notify(
            f"{where}: no rating column was found, so each row is an interaction (implicit "
            "feedback)."
        )
        return DeclaredScale(RatingScale.parse(THERE))
    if "rating" in first.columns and grid is not None and grid.scale.has_one_level:
        notify(f"{where}: ratings or weights are ignored, because the data are implicit feedback.")
    return grid


def _positive_rows(
    frame: pl.DataFrame, grid: DeclaredScale | None, where: str, positive_only: bool
) -> pl.DataFrame:
    """Drop interactions whose weight is 0 or below. Raises `DataError` unless `positive_only`."""
    if grid is None or not grid.has_interactions or "rating" not in frame.columns:
        return frame
    positive = frame.filter(pl.col("rating") > 0)
    if len(positive) < len(frame) and not positive_only:
        raise DataError(
            f"{where}: {len(frame) - len(positive):,} of {len(frame):,} weights are 0 or below; "
            "drop these rows with positive_only=True or --positive-only."
        )
    return positive


def _ratings(frame: pl.DataFrame, grid: DeclaredScale | None) -> Numbers:
    """Return the ratings in half the memory, where that distinguishes the levels of the grid."""
    has_weights = "rating" in frame.columns
    if grid is not None and (grid.scale.has_one_level or not has_weights):
        return np.ones(len(frame), np.float32)
    numbers = frame["rating"].to_numpy()
    return numbers.astype(np.float64) if _is_fine(grid) else numbers.astype(np.float32)


def _is_fine(grid: DeclaredScale | None) -> bool:
    """Return whether single precision may move a rating to another level of the grid."""
    if grid is None:
        return False
    values = np.asarray(grid.scale.values)
    step, largest = np.diff(values).min(initial=np.inf), np.abs(values).max()
    return bool(step < 8 * np.finfo(np.float32).eps * largest)


def _distinct(part: Numbers, seen: set[float], where: str) -> set[float]:
    fresh = {float(value) for value in np.unique(part)}
    if len(seen | fresh) > MOST_DISTINCT:
        raise DataError(
            f"{where}: no scale can be inferred (more than {MOST_DISTINCT} distinct ratings); "
            "declare it, as in scale='-10:10:1' with rounding='nearest' (--scale -10:10:1 "
            "--rounding nearest)."
        )
    return fresh
