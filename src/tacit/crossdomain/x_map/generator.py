"""The generator: a profile in the source becomes an AlterEgo in the target, item by item.

    j*(i) = argmax over j in I(i) of X-Sim(i, j),  I(i): target items with a path to i   [NX-Map, 4]
    AlterEgo(u) = {(j*(i), r_ui): i a source item that u rated}, and u's own target ratings

Where several items have one replacement, their ratings are averaged; u's own rating of a target
item takes precedence over any mapped one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.adjusted import POINT_BITS
from tacit.crossdomain.x_map.extender import Extension
from tacit.ratings import Codes, Mask

Longs = NDArray[np.int64]
NOTHING = -1


class TargetProfiles(NamedTuple):
    """Ratings of target items, sorted by person, then item; a row each.

    `points`: steps of the scale from its lowest level, times 2^8. `times`: Unix seconds, of a mean
    the latest; 0 where none are known.
    """

    users: Codes
    items: Codes
    points: Longs
    times: Longs


def best(extension: Extension, n_items: int) -> Codes:
    """The replacement of each item, shape (items,); -1 for target items and those without any."""
    start, other, s = extension.found
    row = np.repeat(np.arange(len(extension.sources)), np.diff(start))
    order = np.lexsort((other, -s, row))
    first = order[start[:-1][np.diff(start) > 0]]
    chosen = np.full(n_items, NOTHING, np.int32)
    chosen[extension.sources[row[first]]] = other[first]
    return chosen


def own(trial: Trial) -> TargetProfiles:
    """What people rated in the target themselves."""
    return _profile(trial, trial.in_target, trial.domains.ratings.items)


def elsewhere(trial: Trial) -> TargetProfiles:
    """What people rated in the sources, as it is."""
    return _profile(trial, ~trial.in_target, trial.domains.ratings.items)


def whole(trial: Trial) -> TargetProfiles:
    """What people rated in any domain, as it is."""
    return _profile(trial, np.ones(len(trial.in_target), np.bool_), trial.domains.ratings.items)


def alteregos(trial: Trial, replacement: Codes, whose: Mask) -> TargetProfiles:
    """Everybody's own target ratings, and mapped ones of the people in `whose`, shape (people,)."""
    ratings = trial.domains.ratings
    to = replacement[ratings.items]
    mapped = ~trial.in_target & whose[ratings.users] & (to != NOTHING)
    return _united(own(trial), averaged(_profile(trial, mapped, to)), ratings.n_items)


def averaged(profile: TargetProfiles) -> TargetProfiles:
    """One row for each person and item, with the mean of the points, rounded half up."""
    if len(profile.users) == 0:
        return profile
    fresh = (np.diff(profile.users, prepend=-1) != 0) | (np.diff(profile.items, prepend=-1) != 0)
    at = np.flatnonzero(fresh)
    count = np.diff(np.append(at, len(fresh)))
    total = np.add.reduceat(profile.points, at)
    latest = np.maximum.reduceat(profile.times, at)
    points = (2 * total + count) // (2 * count)
    return TargetProfiles(profile.users[at], profile.items[at], points, latest)


def _profile(trial: Trial, rows: Mask, items: Codes) -> TargetProfiles:
    ratings = trial.domains.ratings
    times = np.zeros(len(ratings), np.int64) if ratings.times is None else ratings.times
    order = np.lexsort((items[rows], ratings.users[rows]))
    points = ratings.levels[rows].astype(np.int64) << POINT_BITS
    return TargetProfiles(
        ratings.users[rows][order], items[rows][order], points[order], times[rows][order]
    )


def _united(first: TargetProfiles, second: TargetProfiles, n_items: int) -> TargetProfiles:
    """Both; of one person's two ratings of an item that of `first`."""
    keys = [part.users.astype(np.int64) * n_items + part.items for part in (first, second)]
    fresh = ~np.isin(keys[1], keys[0])
    order = np.argsort(np.concatenate([keys[0], keys[1][fresh]]), kind="stable")
    return TargetProfiles(
        np.concatenate([first.users, second.users[fresh]])[order],
        np.concatenate([first.items, second.items[fresh]])[order],
        np.concatenate([first.points, second.points[fresh]])[order],
        np.concatenate([first.times, second.times[fresh]])[order],
    )
