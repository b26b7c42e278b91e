"""Which ratings are held out: a share at random, folds, or the latest."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.errors import RequestError
from tacit.ratings import Mask, Ratings


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """How ratings are held out, and how often: every seed, and in it every fold.

    `kind`: "random" or "time". `folds`: how many, or None to hold out `share` once a seed; by
    time there are none. Raises `RequestError` when a figure cannot be met.
    """

    kind: str = "random"
    share: float = 0.1
    folds: int | None = None
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.kind not in ("random", "time"):
            raise RequestError(f"There is no split '{self.kind}'; choose random or time.")
        if not 0 < self.share < 1:
            raise RequestError(f"The test share {self.share:g} is not between 0 and 1.")
        if self.seeds < 1 or (self.folds is not None and self.folds < 2):
            raise RequestError(
                f"{self.seeds} seeds and {self.folds} folds cannot be run; give at least one "
                f"seed and two folds."
            )
        if self.kind == "time" and self.folds is not None:
            raise RequestError("Folds are drawn at random; leave out --folds or --split time.")

    @property
    def words(self) -> str:
        """What is held out, as a sentence goes on: seeds aside, all that the split depends on."""
        if self.folds:
            return f"each of {self.folds} random folds in turn"
        return f"{self.share:.4g} of the ratings, " + (
            "drawn at random" if self.kind == "random" else "the latest"
        )

    def places(self) -> Iterator[tuple[int, int | None]]:
        """Every (seed, fold) in order; fold is None where there are no folds."""
        for seed in range(self.seeds):
            yield from ((seed, fold) for fold in (range(self.folds) if self.folds else [None]))

    def test(self, ratings: Ratings, seed: int, fold: int | None) -> Mask:
        """Which rows are held out; raises `RequestError` when none or all of them are."""
        if self.kind == "time":
            mask = latest(ratings, self.share)
        elif fold is None or self.folds is None:
            mask = at_random(len(ratings), self.share, seed)
        else:
            mask = fold_of(len(ratings), self.folds, seed) == fold
        if mask.all() or not mask.any():
            raise RequestError(
                f"Of {len(ratings)} ratings {int(mask.sum())} would be held out; give more "
                f"ratings or another share."
            )
        return mask


def at_random(n: int, share: float, seed: int) -> Mask:
    """Each of `n` rows in file order is held out with probability `share`.

    Exactly `numpy.random.default_rng(seed).random(n) < share`, so that anybody can redo it.
    The mask: shape (n,).
    """
    return np.random.default_rng(seed).random(n) < share


def fold_of(n: int, folds: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The fold of each of `n` rows: a random order dealt out in turn, sizes equal to within one."""
    return np.random.default_rng(seed).permutation(n) % folds


def latest(ratings: Ratings, share: float) -> Mask:
    """The latest `share` of all ratings, by time; among equal times the later rows.

    Raises `RequestError` for ratings without times. Shape (ratings,).
    """
    if ratings.times is None:
        raise RequestError(f"{ratings.name} has no times to split by; leave out --split time.")
    order = np.argsort(ratings.times, kind="stable")
    mask = np.zeros(len(ratings), np.bool_)
    mask[order[len(ratings) - round(share * len(ratings)) :]] = True
    return mask
