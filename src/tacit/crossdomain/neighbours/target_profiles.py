"""Profiles that systems compare and predict from: everybody's ratings, sorted, in whole points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours.adjusted_cosine import POINT_BITS
from tacit.crossdomain.trial import Trial
from tacit.ratings import Codes, Mask

Longs = NDArray[np.int64]


class TargetProfiles(NamedTuple):
    """Ratings of target items, sorted by person, then item; a row each.

    `points`: steps of the scale from its lowest level, times 2^8. `times`: Unix seconds, of a mean
    the latest; 0 where none are known.
    """

    users: Codes
    items: Codes
    points: Longs
    times: Longs


def own(trial: Trial) -> TargetProfiles:
    """What people rated in the target themselves."""
    return profile_of(trial, trial.in_target, trial.domains.ratings.items)


def elsewhere(trial: Trial) -> TargetProfiles:
    """What people rated in the sources, as it is."""
    return profile_of(trial, ~trial.in_target, trial.domains.ratings.items)


def whole(trial: Trial) -> TargetProfiles:
    """What people rated in any domain, as it is."""
    return profile_of(trial, np.ones(len(trial.in_target), np.bool_), trial.domains.ratings.items)


def profile_of(trial: Trial, rows: Mask, items: Codes) -> TargetProfiles:
    """The ratings where `rows` holds, as ratings of `items`, both of shape (n,)."""
    ratings = trial.domains.ratings
    times = np.zeros(len(ratings), np.int64) if ratings.times is None else ratings.times
    order = np.lexsort((items[rows], ratings.users[rows]))
    points = ratings.levels[rows].astype(np.int64) << POINT_BITS
    return TargetProfiles(
        ratings.users[rows][order], items[rows][order], points[order], times[rows][order]
    )
