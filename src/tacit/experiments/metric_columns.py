"""Columns of a result row: errors of predicted ratings, and top-N metrics."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError, must_be, number
from tacit.metrics.accuracy import mae, ranking, relevant_from, rmse
from tacit.metrics.accuracy import slices as slices_of
from tacit.metrics.lists import LENGTH, ListFigures, list_figures, ndcg_of, niche_users
from tacit.models import Fitted, FittedLists, device_predict
from tacit.models.lists.exclusion import PRESENCE_PUBLIC
from tacit.models.top_n import top_n
from tacit.ratings import Codes, Ratings
from tacit.reports import Reports
from tacit.results.comparison.row import METRICS, STARS
from tacit.scale import RatingScale

NO_RATINGS: dict[str, Any] = {**dict.fromkeys(STARS, math.nan), "predict_seconds": 0.0}
"""Columns of a list model."""


def relevant_rating(scale: RatingScale, minimum: float | None) -> float:
    """Return the minimum rating of relevant items: on a one-level scale, that level.

    Raises `RequestError` for one outside the scale: all items or none would be relevant.
    """
    if scale.has_one_level and minimum is None:
        return scale.values[0]
    if minimum is None:
        return relevant_from(scale)
    minimum = number("relevant", minimum, "4")
    if not scale.values[0] <= minimum <= scale.values[-1]:
        low, high = scale.levels[0], scale.levels[-1]
        raise RequestError(
            f"relevant must be a rating from {low} to {high} on the scale {scale}, got {minimum:g}."
        )
    return minimum


def evaluate(
    fitted: Fitted | FittedLists,
    train: Ratings,
    test: Ratings,
    *,
    where: str = "device",
    relevant: float | None = None,
) -> dict[str, float]:
    """Evaluate a fitted model on held-out true ratings.

    Parameters
    ----------
    fitted
        A model of `tacit.fit`.
    train
        True training ratings of the users: the input of a device, and the items that no list
        contains.
    test
        Held-out true ratings of the same users and items.
    where
        Who predicts: "provider" from reports only, "device" with its user's training ratings, or
        "curator".
    relevant
        Minimum rating of relevant items. Default: three quarters of the scale.

    Returns
    -------
    dict
        Metrics by the names of the columns of `tacit compare`: errors of predicted ratings, without
        those of a top-N model, and metrics of top-20 lists over the complete catalogue.

    Raises
    ------
    RequestError
        For a value of `relevant` outside the scale, for a test set without ratings, and for
        arguments of other types.
    """
    _check_arguments(fitted, train, test)
    known = train.aligned(fitted.user_ids, fitted.item_ids)
    held_out = test.aligned(fitted.user_ids, fitted.item_ids)
    minimum = relevant_rating(test.scale, relevant)
    figures: dict[str, Any] = {}
    if isinstance(fitted, Fitted):
        users, items = held_out.users, held_out.items
        on_device = where == "device"
        predicted = (
            device_predict(fitted, known, users, items)
            if on_device
            else fitted.predict_codes(users, items)
        )
        figures |= rating_columns(predicted, known, held_out, minimum)
    figures |= list_columns(
        partial(top_n, fitted, where=where),
        known,
        held_out.where(held_out.values >= minimum),
        where,
    )
    return {name: value for name, value in figures.items() if name in METRICS and value == value}


def _check_arguments(fitted: object, train: object, test: object) -> None:
    if not isinstance(fitted, Fitted | FittedLists):
        raise RequestError(
            f"Expected a fitted model, got {type(fitted).__name__}; pass what `fit` returns."
        )
    must_be(Ratings, train, "`Ratings`", "pass what `as_ratings` returns")
    if not len(must_be(Ratings, test, "`Ratings`", "pass what `as_ratings` returns")):
        raise RequestError("test must contain at least one rating, got none.")


def rating_columns(
    predicted: NDArray[np.floating[Any]],
    train: Ratings,
    test: Ratings,
    relevant: float,
    *,
    slices: bool = False,
) -> dict[str, Any]:
    """Return columns of a result row. `predicted`: ratings of the test rows, shape (n,).

    Errors use predictions clipped to the scale. `relevant`: minimum rating of relevant items.
    Columns that need the non-private row are NaN here.
    """
    true = test.values
    best = ranking(test.users, test.items, predicted, true >= relevant)
    bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
    mean = np.full(len(test), train.values.mean(dtype=np.float64))
    return {
        "rmse": rmse(true, bounded),
        "mae": mae(true, bounded),
        "rmse_of_mean": rmse(true, mean),
        "information_efficiency": math.nan,
        "precision_at_10": best.precision,
        "recall_at_10": best.recall,
        "f_score_at_10": best.f_score,
        "slices": slices_of(train, test, bounded) if slices else None,
    }


MOST_SCORES = 1 << 27
"""Maximum number of predicted scores; above it, a sample of the users is evaluated."""


def list_columns(
    lists: Callable[[Ratings, int], Codes],
    train: Ratings,
    test: Ratings,
    where: str,
    *,
    reports: Ratings | Reports | None = None,
) -> dict[str, Any]:
    """Return the columns of top-N metrics of a result row.

    `lists`: rows that identify the users and the items to exclude, and a length -> lists of all
    users. `test`: the relevant rows. `reports`: the data that the model was fitted to, None for
    `train`. Users without a training row are excluded from every result row (`cold_users` counts
    them), because most models have no data to rank by. Above 2^27 scores (users times items), as
    many users as that allows are evaluated, evenly spaced by index.
    """
    users = _measured(train)
    known = _known_rows(where, train, reports)
    known = known.where(_among(users, known))
    relevant = test.where(_among(users, test))
    counts = np.bincount(train.items, minlength=train.n_items)
    ranked = lists(known, LENGTH)[users]
    people, items = np.searchsorted(users, relevant.users).astype(np.int32), relevant.items
    figures = list_figures(ranked, people, items, counts, counted=len(np.unique(train.users)))
    niche = niche_users(train.users, train.items, counts, train.n_users)[users]
    return {
        **figure_columns(figures),
        "niche_ndcg_at_20": ndcg_of(niche, ranked, people, items, len(counts)),
    }


def figure_columns(metrics: ListFigures) -> dict[str, float]:
    """Return the metrics of top-20 lists by their names in result rows."""
    return {
        "ndcg_at_20": metrics.ndcg,
        "recall_at_20": metrics.recall,
        "mrr": metrics.mrr,
        "hit_rate_at_20": metrics.hit_rate,
        "coverage_at_20": metrics.coverage,
        "popularity_at_20": metrics.popularity,
    }


def cold_users(train: Ratings, test: Ratings) -> int | None:
    """Return how many users have a test row and no training row; None for none."""
    return len(np.setdiff1d(test.users, train.users)) or None


def _measured(train: Ratings) -> Codes:
    """Return the users with a training row, or every few of them, as `MOST_SCORES` allows."""
    step = -(-train.n_users // max(1, MOST_SCORES // max(1, train.n_items)))
    users = np.unique(train.users)
    return users[users % step == 0]


def _known_rows(where: str, train: Ratings, reports: Ratings | Reports | None) -> Ratings:
    """Return the training rows that the maker of the lists holds.

    A provider that observes presence holds the reported rows, fewer under a cap. A provider that
    does not observe presence gets all rows only to identify the users: no item is excluded.
    """
    if where != "provider" or not isinstance(reports, Reports):
        return train
    if reports.guarantee.unit not in PRESENCE_PUBLIC or len(reports) == len(train):
        return train
    return train.where(np.isin(_pairs(train), _pairs(reports)))


def _pairs(rows: Ratings | Reports) -> NDArray[np.int64]:
    return rows.users.astype(np.int64) * rows.n_items + rows.items


def _among(users: Codes, rows: Ratings) -> NDArray[np.bool_]:
    """Return which rows are of these users."""
    chosen = np.zeros(rows.n_users, np.bool_)
    chosen[users] = True
    return chosen[rows.users]
