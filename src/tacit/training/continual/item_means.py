"""Item means in several releases."""

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.scale import RATING_SPREAD
from tacit.training.continual.contributions import amount_sensitivity
from tacit.training.continual.list_models import SQUARES, item_counts, weight_bound
from tacit.training.continual.series import Series
from tacit.training.continual.state_file import SeriesState
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.fitted_model import ItemSide
from tacit.training.person.item_means import (
    ITEM_SPREAD,
    LABELS,
    item_levels,
    noisy_level,
    own_levels,
)

Doubles = NDArray[np.float64]
LEVEL, COUNTS, LABELLED = 0.02, 0.28, 0.7
"""Budget fractions of the mean rating, which is released once, of weights and of labels."""
LEAST = 0.5
"""Least sum of weights of an item, in deviations of its noise."""


def item_mean(series: Series) -> tuple[Fitted, SeriesState]:
    """Release sums of weights and of weighted labels per item. Means are their shrunk ratios.

    A label is a rating around the mean rating and the user's own level, which is relative to the
    item means of the release before. It is set when the rating is first present, and never changes.
    """
    account, ratings, state = series.account, series.ratings, series.state
    ratings.scale.require_stars("A trainer that predicts ratings")
    _require_scale(series)
    account.allot({"level": LEVEL, "counts": COUNTS, "labels": LABELLED})
    canonical = CanonicalRatings.of(ratings)
    # The level of the first release stays the origin of all labels, or sums would mix origins.
    centre = state.centre if state.done else noisy_level(canonical, account)
    bound = weight_bound(min(series.room("counts", 2), series.room("labels", 4)))
    labels, most = _labels(series, canonical, centre), LABELS * canonical.half
    counts, _, added = item_counts(series, labels, bound)
    totals = added.totals(added.amounts, series.prefix, state.done, ratings.n_items)
    sensitivity = amount_sensitivity(bound, series.prefix)
    sums, noise = series.measure("labels", totals, sensitivity=sensitivity)
    weights = np.maximum(counts, LEAST * noise / bound)
    share = SQUARES * ratings.n_users / max(float(weights.sum()), 1.0)
    spread = (RATING_SPREAD * 2 * canonical.half) ** 2 * share * weights
    variances = (noise * most / bound) ** 2 + spread
    group = np.zeros(ratings.n_items, np.int64)
    means = item_levels(
        weights, sums * most / bound, variances, ITEM_SPREAD * canonical.half, group
    )
    side = ItemSide(state.terms.model, ratings, centre, means[:, None])
    after = series.after(scale=str(ratings.scale), centre=centre, means=means)
    return side.fitted(series.closed()), after


def _require_scale(series: Series) -> None:
    """Raise `RequestError` unless the ratings have the scale of the earlier releases.

    The centre and all labels of the series are relative to its middle and range.
    """
    scale, before = str(series.ratings.scale), series.state.scale
    if before not in (None, scale):
        raise RequestError(
            f"scale must be that of the earlier releases of {series.folder}, {before}, got {scale}."
        )


def _labels(series: Series, canonical: CanonicalRatings, centre: float) -> Doubles:
    """Return the label of every rating, from -1 to 1, shape (n,)."""
    means = np.zeros(series.ratings.n_items)
    means[: len(series.state.means)] = series.state.means
    levels = own_levels(canonical, centre, means)[canonical.person]
    most = LABELS * canonical.half
    return np.clip((canonical.values - centre - levels) / most, -1, 1)
