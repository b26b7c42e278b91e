"""Profiles for similarities and predictions: sorted ratings of all users, in integer points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours.adjusted_cosine import POINT_BITS
from tacit.crossdomain.trial import Trial
from tacit.ratings import Codes, Mask

Longs = NDArray[np.int64]


class TargetProfiles(NamedTuple):
    """Ratings sorted by user, then item, one row each.

    `points`: steps above the lowest level of the scale, times 2^8. `times`: Unix seconds, the
    latest one for a mean, 0 if unknown.
    """

    users: Codes
    items: Codes
    points: Longs
    times: Longs


def own(trial: Trial) -> TargetProfiles:
    """Return the known ratings in the target."""
    return profile_of(trial, trial.in_target, trial.domains.ratings.items)


def elsewhere(trial: Trial) -> TargetProfiles:
    """Return the ratings in the sources, untranslated."""
    return profile_of(trial, ~trial.in_target, trial.domains.ratings.items)


def whole(trial: Trial) -> TargetProfiles:
    """Return the known ratings in all domains, untranslated."""
    return profile_of(trial, np.ones(len(trial.in_target), np.bool_), trial.domains.ratings.items)


def profile_of(trial: Trial, rows: Mask, items: Codes) -> TargetProfiles:
    """Return the ratings where `rows` is true, as ratings of `items`, both of shape (n,)."""
    ratings = trial.domains.ratings
    times = np.zeros(len(ratings), np.int64) if ratings.times is None else ratings.times
    order = np.lexsort((items[rows], ratings.users[rows]))
    points = ratings.levels[rows].astype(np.int64) << POINT_BITS
    return TargetProfiles(
        ratings.users[rows][order], items[rows][order], points[order], times[rows][order]
    )
