"""Top-N lists in cross-domain trials: their baselines, and predictions for the whole catalogue.

Top-N lists of the target domain in a trial: the cells to predict, and the metrics.

A list ranks all target items except those that the user kept, by predicted rating, ties by item
index (lower first). The curator or the user's device makes it. Both hold the kept ratings, so the
exclusion uses no hidden information. Relevant items have hidden ratings of at least three quarters
of the scale. Every hidden interaction is relevant.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.holdout import HeldOut
from tacit.crossdomain.trial import (
    Doubles,
    Predicted,
    Trial,
    TrialPredictions,
)
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.experiments.metric_columns import MOST_SCORES, figure_columns, relevant_rating
from tacit.kernels.layout import Side, by_user
from tacit.kernels.ranking.topk import best_lists
from tacit.metrics.lists import LENGTH, ListFigures, list_figures
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.ratings import Codes
from tacit.results.comparison.row import POPULARITY, RANDOM


@dataclass(frozen=True, kw_only=True)
class ListBaseline:
    """Ranks items without predicting ratings: its scores have no rating error.

    `name`: "random", uniform with `seed`, or "popularity", the number of an item's known ratings in
    the target.
    """

    name: str
    seed: int

    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Return the scores of the queried cells, in the form of `System.predict`."""
        del engine, epsilon  # without a guarantee
        covered = np.zeros(len(trial.items), np.bool_)
        return TrialPredictions(Predicted(self._scores(trial), covered), NO_PRIVACY)

    def _scores(self, trial: Trial) -> Doubles:
        if self.name == RANDOM:
            return np.random.default_rng(self.seed).random(len(trial.items))
        ratings = trial.domains.ratings
        return np.bincount(ratings.items, minlength=ratings.n_items)[trial.items].astype(np.float64)


def list_baselines(seed: int) -> tuple[ListBaseline, ...]:
    """Return both baselines of a trial with that seed."""
    return tuple(ListBaseline(name=name, seed=seed) for name in (RANDOM, POPULARITY))


Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AskedCatalogue:
    """All test users by all items of the target, without those that they kept.

    `trial`: queries these cells, by user and item. A cell takes about 40 bytes during prediction,
    and 230 with the median over draws of `taste-map`. `hidden`: indices of the hidden ratings among
    the cells, shape (n,). `kept`: items that each of `trial.people` kept, as indices into the
    target's catalogue.
    """

    trial: Trial
    hidden: Places
    kept: Side

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """Return the cells for lists and for the hidden ratings of `trial`.

        Raises `RequestError` for more than 2^27 cells: all are predicted at once, because a system
        is fitted again in every call.
        """
        n_items, first = _items(trial), trial.domains.bounds[trial.target]
        _feasible(len(trial.people), n_items)
        known_items = _known_items(trial)
        free = np.ones((len(trial.people), n_items), np.bool_)
        free[np.repeat(np.arange(len(free)), known_items.counts), known_items.other] = False
        places = np.flatnonzero(free)
        users = trial.people[places // n_items]
        items = (places % n_items + first).astype(np.int32)
        hidden = np.searchsorted(places, _places(trial)).astype(np.int64)
        return cls(replace(trial, users=users, items=items), hidden, known_items)

    def of_hidden(self, predicted: Predicted) -> Predicted:
        """Return the predictions of the hidden ratings, in their order."""
        return Predicted(predicted.values[self.hidden], predicted.covered[self.hidden])

    def lists(self, predicted: Predicted, length: int = LENGTH) -> Codes:
        """Return each user's list by predictions of the cells, in single precision.

        Indices into the target's catalogue, shape (people, length), padded with -1. Raises
        `RequestError` for a prediction that is not finite.
        """
        n_items = _items(self.trial)
        scores = np.zeros((len(self.trial.people), n_items), np.float32)
        scores.reshape(-1)[_places(self.trial)] = predicted.values
        return best_lists(lambda some: scores[some], self.kept, n_items, length)

    def figures(self, hidden: HeldOut, predicted: Predicted) -> dict[str, float | None]:
        """Return six columns of a result row, None for missing metrics.

        Popularity is the share of users with known ratings in the target.
        """
        metrics = figure_columns(self._figures(hidden, self.lists(predicted)))
        return {name: None if math.isnan(value) else value for name, value in metrics.items()}

    def _figures(self, hidden: HeldOut, lists: Codes) -> ListFigures:
        domains, target = self.trial.domains, self.trial.target
        wanted = hidden.values >= relevant_rating(domains.ratings.scale, None)
        cells = _places(hidden.trial)[wanted]
        people, items = (part.astype(np.int32) for part in np.divmod(cells, _items(self.trial)))
        rated = domains.ratings.items[self.trial.in_target] - domains.bounds[target]
        counts = np.bincount(rated, minlength=_items(self.trial))
        raters = int(np.count_nonzero(domains.members(target)))
        return list_figures(lists, people, items, counts, counted=raters)


def _items(trial: Trial) -> int:
    """Return the number of items of the target."""
    return trial.domains.bounds[trial.target + 1] - trial.domains.bounds[trial.target]


def _feasible(people: int, n_items: int) -> None:
    if people * n_items > MOST_SCORES:
        raise RequestError(
            f"Lists for {people:,} test users and {n_items:,} items require {people * n_items:,} "
            f"predictions at once, more than {MOST_SCORES:,}; test a smaller share of users, or "
            "leave out the lists."
        )


def _places(trial: Trial) -> Places:
    """Return the queried cells as indices into a table of test users by target items."""
    rows = np.searchsorted(trial.people, trial.users).astype(np.int64)
    return rows * _items(trial) + trial.items - trial.domains.bounds[trial.target]


def _known_items(trial: Trial) -> Side:
    """Return the known target ratings of the test users."""
    ratings, first = trial.domains.ratings, trial.domains.bounds[trial.target]
    mine = trial.in_target & np.isin(ratings.users, trial.people)
    rows = np.searchsorted(trial.people, ratings.users[mine]).astype(np.int32)
    items = (ratings.items[mine] - first).astype(np.int32)
    return by_user(rows, items, len(trial.people), _items(trial))[0]
