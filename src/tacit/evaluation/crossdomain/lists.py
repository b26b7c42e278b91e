"""Lists of the target's catalogue in a trial: what a system is asked for them, and their figures.

A list is of the whole target less what the person kept there, by predicted rating, best first, ties
by item code (lower first). The curator or the person's device makes it, and both hold the kept
ratings, so leaving them out uses nothing that is hidden from either. A hidden rating of three
quarters up the scale or more is what a list ought to show.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.holdout import HeldOut
from tacit.crossdomain.trial import Predicted, Trial
from tacit.errors import RequestError
from tacit.evaluation.comparison.lists import MOST_SCORES, figure_columns
from tacit.kernels.layout import Side, by_user
from tacit.kernels.lists.topk import best_lists
from tacit.metrics.accuracy import relevant_from
from tacit.metrics.lists import LENGTH, ListFigures, list_figures
from tacit.ratings import Codes

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AskedCatalogue:
    """Every tested person by every item of the target, less what they kept there.

    `trial`: asks for these cells, by person and item; a cell takes some 40 bytes while a system
    tells it, and 230 where `taste-map` takes the median of its draws. `hidden`: where among them
    the hidden ratings are, shape (n,). `kept`: what each of `trial.people` kept, as places in the
    catalogue.
    """

    trial: Trial
    hidden: Places
    kept: Side

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """What lists need beside the hidden ratings that `trial` asks for.

        Raises `RequestError` where that is more than 2^27 cells: all are predicted at once, since a
        system learns anew each time it is asked.
        """
        n_items, first = _items(trial), trial.domains.bounds[trial.target]
        _feasible(len(trial.people), n_items)
        kept = _kept(trial)
        free = np.ones((len(trial.people), n_items), np.bool_)
        free[np.repeat(np.arange(len(free)), kept.counts), kept.other] = False
        places = np.flatnonzero(free)
        users = trial.people[places // n_items]
        items = (places % n_items + first).astype(np.int32)
        hidden = np.searchsorted(places, _places(trial)).astype(np.int64)
        return cls(replace(trial, users=users, items=items), hidden, kept)

    def of_hidden(self, predicted: Predicted) -> Predicted:
        """What was predicted of the hidden ratings, in their order."""
        return Predicted(predicted.values[self.hidden], predicted.covered[self.hidden])

    def lists(self, predicted: Predicted, length: int = LENGTH) -> Codes:
        """Each person's list by predictions of the cells, in single precision.

        Places in the catalogue; -1 from where a list is shorter. Shape (people, length). Raises
        `RequestError` for a prediction that is not finite.
        """
        n_items = _items(self.trial)
        scores = np.zeros((len(self.trial.people), n_items), np.float32)
        scores.reshape(-1)[_places(self.trial)] = predicted.values
        return best_lists(lambda some: scores[some], self.kept, n_items, length)

    def figures(self, hidden: HeldOut, predicted: Predicted) -> dict[str, float | None]:
        """Six columns of a result row, None for a figure that does not exist.

        Popularity is among those who have known ratings of the target.
        """
        found = figure_columns(self._figures(hidden, self.lists(predicted)))
        return {name: None if math.isnan(value) else value for name, value in found.items()}

    def _figures(self, hidden: HeldOut, lists: Codes) -> ListFigures:
        domains, target = self.trial.domains, self.trial.target
        wanted = hidden.values >= relevant_from(domains.ratings.scale)
        cells = _places(hidden.trial)[wanted]
        people, items = (part.astype(np.int32) for part in np.divmod(cells, _items(self.trial)))
        rated = domains.ratings.items[self.trial.in_target] - domains.bounds[target]
        counts = np.bincount(rated, minlength=_items(self.trial))
        raters = int(np.count_nonzero(domains.members(target)))
        return list_figures(lists, people, items, counts, counted=raters)


def _items(trial: Trial) -> int:
    """How many items the target has."""
    return trial.domains.bounds[trial.target + 1] - trial.domains.bounds[trial.target]


def _feasible(people: int, n_items: int) -> None:
    if people * n_items > MOST_SCORES:
        raise RequestError(
            f"Lists for {people:,} test users and {n_items:,} items require {people * n_items:,} "
            f"predictions at once, more than {MOST_SCORES:,}; test a smaller share of users, or "
            "leave out the lists."
        )


def _places(trial: Trial) -> Places:
    """The asked cells as places in a table of tested people by items of the target."""
    rows = np.searchsorted(trial.people, trial.users).astype(np.int64)
    return rows * _items(trial) + trial.items - trial.domains.bounds[trial.target]


def _kept(trial: Trial) -> Side:
    """What is known of the tested people in the target."""
    ratings, first = trial.domains.ratings, trial.domains.bounds[trial.target]
    mine = trial.in_target & np.isin(ratings.users, trial.people)
    rows = np.searchsorted(trial.people, ratings.users[mine]).astype(np.int32)
    items = (ratings.items[mine] - first).astype(np.int32)
    return by_user(rows, items, len(trial.people), _items(trial))[0]
