"""Train-test splits: at random, by time, each user's last rating, or as published."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.ratings import Mask, Ratings

SHARE = 0.1
COLUMN = "column:"
DRAWN = ("random", "time")
"""Splits that hold out a fraction of all ratings."""


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """How ratings are held out, and how often: every seed, and in it every fold.

    `kind`: "random"; "time", the latest of all; "last", each user's latest; or "column:NAME", a
    published split in the column NAME of the data. `share`: fraction held out (default .1) once per
    seed, unless `folds` is set. `folds`: number of random folds. "last" and "column:NAME" have no
    share. Raises `RequestError` for invalid combinations.
    """

    kind: str = "random"
    share: float | None = None
    folds: int | None = None
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.kind not in (*DRAWN, "last") and not self.column:
            raise RequestError(
                f"split must be random, time, last or column:NAME, got '{self.kind}'."
            )
        if self.share is not None and self.kind not in DRAWN:
            raise RequestError(
                f"test_share cannot be set for the split {self.kind}, which defines what is held "
                f"out; leave out test_share (--test-share) or split (--split {self.kind})."
            )
        if self.share is not None and not 0 < self.share < 1:
            raise RequestError(f"test_share must be between 0 and 1, got {self.share:g}.")
        if self.seeds < 1 or (self.folds is not None and self.folds < 2):
            raise RequestError(
                f"seeds must be at least 1 and folds at least 2, got {self.seeds} seeds and "
                f"{self.folds} folds."
            )
        if self.kind != "random" and self.folds is not None:
            raise RequestError(
                f"folds are drawn at random; leave out folds (--folds) or split (--split "
                f"{self.kind})."
            )

    @property
    def column(self) -> str | None:
        """The NAME of "column:NAME", to be passed to a reader; None for another split."""
        return self.kind.removeprefix(COLUMN) if self.kind.startswith(COLUMN) else None

    @property
    def words(self) -> str:
        """Description of the held-out ratings, as part of a sentence: everything but the seed."""
        if self.folds:
            return f"{self.folds}-fold cross-validation"
        if self.column:
            return f"those flagged in the data's column {self.column}"
        if self.kind == "last":
            return "each user's latest rating"
        return f"{self.share or SHARE:.4g} of the ratings, " + (
            "drawn at random" if self.kind == "random" else "the latest"
        )

    def places(self) -> Iterator[tuple[int, int | None]]:
        """Yield every (seed, fold) in order; fold is None without folds."""
        for seed in range(self.seeds):
            yield from ((seed, fold) for fold in (range(self.folds) if self.folds else [None]))

    def test(self, ratings: Ratings, seed: int, fold: int | None) -> Mask:
        """Return which rows are held out.

        Raises `RequestError` if none or all are, and for ratings without the data of the split.
        """
        share = SHARE if self.share is None else self.share
        if self.column:
            mask = published(ratings, self.column)
        elif self.kind == "last":
            mask = last(ratings)
        elif self.kind == "time":
            mask = latest(ratings, share)
        elif fold is None or self.folds is None:
            mask = at_random(len(ratings), share, seed)
        else:
            mask = fold_of(len(ratings), self.folds, seed) == fold
        if mask.all() or not mask.any():
            raise RequestError(
                f"The split would hold out {int(mask.sum())} of {len(ratings)} ratings, "
                "but neither training nor test data may be empty. Use more ratings, "
                "another share or another split."
            )
        return mask


def at_random(n: int, share: float, seed: int) -> Mask:
    """Hold out each of `n` rows in file order with probability `share`.

    Exactly `numpy.random.default_rng(seed).random(n) < share`, so that it can be reproduced
    elsewhere. The mask: shape (n,).
    """
    return np.random.default_rng(seed).random(n) < share


def fold_of(n: int, folds: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the fold of each of `n` rows: a random permutation, sizes equal to within one."""
    return np.random.default_rng(seed).permutation(n) % folds


def latest(ratings: Ratings, share: float) -> Mask:
    """Hold out the latest `share` of all ratings, by time; among equal times the later rows.

    Raises `RequestError` for ratings without times. Shape (ratings,).
    """
    order = np.argsort(_times(ratings, "time"), kind="stable")
    mask = np.zeros(len(ratings), np.bool_)
    mask[order[len(ratings) - round(share * len(ratings)) :]] = True
    return mask


def last(ratings: Ratings) -> Mask:
    """Hold out each user's latest rating; among equal times that of the lowest item id.

    A user with a single rating has no training rating left. Raises `RequestError` for ratings
    without times. Shape (ratings,).
    """
    order = np.lexsort((-ratings.items, _times(ratings, "last"), ratings.users))
    people = ratings.users[order]
    mask = np.zeros(len(ratings), np.bool_)
    mask[order[np.append(people[1:] != people[:-1], True)[: len(order)]]] = True
    return mask


def published(ratings: Ratings, column: str) -> Mask:
    """Return the rows held out by the data's `column`, as read by a reader; shape (ratings,).

    Raises `RequestError` for ratings that were read without it.
    """
    if ratings.held_out is None:
        raise RequestError(
            f"{ratings.name} was read without the column {column}, which defines the held-out "
            f"ratings; read it with held_out='{column}'."
        )
    return ratings.held_out.copy()


def _times(ratings: Ratings, kind: str) -> NDArray[np.int64]:
    if ratings.times is None:
        raise RequestError(
            f"The split {kind} requires times, but {ratings.name} has none; leave out split "
            f"(--split {kind})."
        )
    return ratings.times
