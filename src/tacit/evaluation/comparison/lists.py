"""The figures of lists in a result row: over the whole catalogue less what a person has."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.metrics.lists import LENGTH, ListFigures, list_figures
from tacit.ratings import Codes, Ratings

MOST_SCORES = 1 << 27
"""Of people times items, where a model has to predict each; of more, some people are measured."""
Lister = Callable[[Any, Ratings, str, int], Codes]
"""Everybody's list by a fitted model, from `own` true ratings or from reports, so many items."""


def list_columns(
    lister: Lister, fitted: Any, train: Ratings, test: Ratings, where: str
) -> dict[str, Any]:
    """Six columns of a result row; `test`: the rows that a list ought to show.

    Where the catalogue is so large that not everybody is measured, as many people as 2^27 scores
    allow are, evenly spread over the codes.
    """
    most = max(1, MOST_SCORES // max(1, train.n_items))
    step = -(-train.n_users // most)
    own, held = _of(train, step), _of(test, step)
    lists = lister(fitted, own, where, LENGTH)
    counts = np.bincount(train.items, minlength=train.n_items)
    return figure_columns(list_figures(lists, held.users, held.items, counts))


def figure_columns(found: ListFigures) -> dict[str, float]:
    """Figures of lists of 20 by the names that they have in result rows."""
    return {
        "ndcg_at_20": found.ndcg,
        "recall_at_20": found.recall,
        "mrr": found.mrr,
        "hit_rate_at_20": found.hit_rate,
        "coverage_at_20": found.coverage,
        "popularity_at_20": found.popularity,
    }


def _of(ratings: Ratings, step: int) -> Ratings:
    """The rows of every `step`th person."""
    return ratings if step == 1 else ratings.where(ratings.users % step == 0)
