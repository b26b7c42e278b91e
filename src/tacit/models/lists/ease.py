"""EASE (Steck 2019): linear item-item autoencoder.

    B = I - P diag(P)^-1,    P = (G + ridge I)^-1,    s = x B,    diag(B) = 0

minimises |X - X B|^2 + ridge |B|^2. It uses second moments G alone, so reports can replace the true
data: unbiased, denoised, and shrunk to popularity where held-out users do not gain from B
(`tacit.models.lists.shrinkage`). The provider scores by noisy rows C and minimises |X - C B|^2,
which adds a slot's variance, summed over users, to the ridge. Or it regresses X on C within the
directions above the noise, if the held-out error is then smaller
(`tacit.models.lists.ease_solution.ReportRegression`).

Public features of items are a prior of G: an item with few reports has the weights of similar items
(`tacit.models.lists.ease_from_reports`). Their weight is chosen from the reports too.

A warm fit reuses the choices of the last search (`tacit.models.evidence.tuning`), and computes
in single precision, as the search does.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.engine import Engine, Local
from tacit.errors import RequestError
from tacit.models.evidence.item_features import item_features, item_similarity
from tacit.models.evidence.tuning import Tuning, tuning_for
from tacit.models.lists.co_occurrence import CoOccurrence, co_occurrence
from tacit.models.lists.denoised import Precision
from tacit.models.lists.ease_from_reports import (
    PRIORS,
    at_ridge,
    prior_factors,
    searched,
    shrunk,
)
from tacit.models.lists.ease_solution import (
    Array,
    Doubles,
    exact_loss,
    exact_weights,
    retained,
    ridge_at,
    smallest_step,
)
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.lists.shrinkage import FOLDS, fold_of_users

MOST_ITEMS = 10_000
TABLES = 8
"""Item-by-item tables of doubles that a fit holds in memory at once."""


@dataclass(frozen=True, kw_only=True)
class EASE:
    """EASE (Steck 2019): linear item-item autoencoder.

    `ridge`: in users, like G; None to choose it, the emphasis of popular items in denoising, and
    the shrinkage to popularity from the reports. With a ridge, nothing is shrunk.

    `item_table`: public item metadata, used as features of items; None for none.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.

    `warm`: an earlier `ease` of fewer reports, whose choices this fit reuses. It searches again if
    the number of reports doubled or halved since the search, if their noise changed by a quarter,
    if only one of both fits has an item table, and if the model was saved without its choices.

    Raises `RequestError` for a ridge that is not above 0, and for one with `warm` or `item_table`.
    """

    ridge: float | None = None
    item_table: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)
    warm: FittedLists | None = field(default=None, repr=False, compare=False)
    name = "ease"

    def __post_init__(self) -> None:
        if self.ridge is not None and not self.ridge > 0:
            raise RequestError(
                f"ridge must be above 0, got {self.ridge:g}: EASE is undefined without it."
            )
        if self.ridge is not None and self.warm is not None:
            raise RequestError(
                f"A ridge excludes warm, which reuses the ridge of the model, got {self.ridge:g}; "
                "leave one of them out."
            )
        if self.ridge is not None and self.item_table is not None:
            raise RequestError(
                "A ridge excludes item_table, whose weight is chosen with the ridge, got "
                f"{self.ridge:g}; leave one of them out."
            )

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Fit weights between all items. `rng`: seed of the held-out users when a ridge is chosen.

        Raises `RequestError` above 10,000 items, with the memory required; for an engine without
        `state`, for a folder of another fit, for a `warm` of another model or of users or items
        that are not in `data`, and as `tacit.models.evidence.item_features` for an item table.
        """
        _bounded(data.n_items)
        one_part = np.zeros(len(data.user_ids), np.int64)
        if self.ridge is not None:
            (everybody,) = self._moments(data, one_part, rng)
            return FittedLists.of(self.name, data, _at_ridge(everybody, self.ridge))
        similarity = self._similarity(data)
        tuning = tuning_for(self.warm, self.name, data, self._settings)
        if tuning is not None:
            (everybody,) = self._moments(data, one_part, rng, "warm-")
            return _tuned(data, everybody, tuning, similarity, np.float32)
        everybody, tuning = self._searched(data, similarity, rng)
        return _tuned(data, everybody, tuning, similarity, np.float64)

    @property
    def _settings(self) -> tuple[float, ...]:
        """Settings for which a choice holds: whether there is an item table."""
        return () if self.item_table is None else (1.0,)

    def _similarity(self, data: Interactions) -> Doubles:
        """Return S of the items, shape (items, d)."""
        table, items = self.item_table, data.item_ids
        return item_similarity([] if table is None else item_features(table, items), len(items))

    def _searched(
        self, data: Interactions, similarity: Doubles, rng: int
    ) -> tuple[CoOccurrence, Tuning]:
        """Return the second moments of all users, and what their folds chose."""
        fold, presence = _folds(len(data.user_ids), rng), data.presence
        if presence.noisy:
            parts = list(self._moments(data, fold, rng))
            tuning = searched(presence, fold, parts, similarity)
            return sum(parts[1:], parts[0]), replace(tuning, settings=self._settings)
        held, known = self._moments(data, np.minimum(fold, 1), rng)
        step, prior = _chosen(known, similarity, presence.where(fold == 0).reported)
        return known + held, Tuning.of(presence, self._settings, step=step, prior=prior)

    def _moments(
        self, data: Interactions, part: NDArray[np.int64], rng: int, kind: str = ""
    ) -> Iterator[CoOccurrence]:
        """Yield the second moments of each part of the users, numbered from 0."""
        engine, tables = self.engine or Local(), data.tables(self, rng)
        for number in range(part.max() + 1):
            some = data.presence.where(part == number)
            yield co_occurrence(some, engine, tables.within(f"{kind}part-{number}"))


def _folds(people: int, rng: int) -> NDArray[np.int64]:
    """Return each user's fold."""
    if people < FOLDS:
        who = "1 user is" if people == 1 else f"{people} users are"
        raise RequestError(
            f"{who} too few to select a ridge, which requires {FOLDS}; choose graph-filter or "
            "popularity, or set EASE's ridge."
        )
    return fold_of_users(people, rng)


def _tuned(
    data: Interactions,
    everybody: CoOccurrence,
    tuning: Tuning,
    similarity: Doubles,
    precision: Precision,
) -> FittedLists:
    """Return the model at what a search chose."""
    if data.presence.noisy:
        weights = shrunk(everybody, tuning, similarity, precision)
    else:
        gram = _with_prior(everybody, similarity, tuning.prior, precision)
        weights = (_exact(gram, ridge_at(everybody, tuning.step)),)
    return FittedLists.of(EASE.name, data, *weights, tuning=tuning)


def _at_ridge(everybody: CoOccurrence, ridge: float) -> ItemWeights:
    """Return weights that are not shrunk."""
    return at_ridge(everybody, ridge) if everybody.edge else _exact(everybody.gram, ridge)


def _exact(gram: Array, ridge: float) -> ItemWeights:
    """Return the weights without noise, in the precision of `gram`."""
    nothing = np.zeros(len(gram), np.float32)
    return ItemWeights(popularity=nothing, between=exact_weights(gram, ridge))


def _with_prior(
    moments: CoOccurrence, similarity: Doubles, weight: float, precision: Precision
) -> Array:
    """Return G + w E."""
    gram = moments.gram
    if weight:
        expected = prior_factors(moments, similarity, weight)
        gram = gram + expected @ expected.T
    return gram if precision is np.float64 else gram.astype(np.float32)


def _chosen(known: CoOccurrence, similarity: Doubles, held_out: csr_array) -> tuple[int, float]:
    """Return the ridge and the weight of features of least squared error of the held-out users.

    All in single precision. The weight is chosen at the best ridge without features: the smallest
    that retains 99 % of the gain of the best, for the same reason as the ridge.
    """
    without = float(held_out.nnz)

    def loss(step: int, prior: float) -> float:
        gram = _with_prior(known, similarity, prior, np.float32)
        return exact_loss(gram, ridge_at(known, step), held_out)

    def chosen_step(prior: float) -> int:
        @cache
        def at(step: int) -> float:
            return loss(step, prior)

        return smallest_step(at, without)[1]

    step = chosen_step(PRIORS[0])
    if not similarity.shape[1]:
        return step, PRIORS[0]
    losses = {prior: loss(step, prior) for prior in PRIORS}
    bound = retained(min(losses.values()), without)
    prior = next(prior for prior, each in losses.items() if each <= bound)
    return (chosen_step(prior), prior) if prior else (step, prior)


def _bounded(n: int) -> None:
    if n > MOST_ITEMS:
        size = TABLES * 8 * n * n / 1e9
        raise RequestError(
            f"EASE on {n:,} items requires {size:,.0f} GB for item-item matrices; "
            f"choose graph-filter, or a catalogue of at most {MOST_ITEMS:,} items."
        )
