"""The generator: maps a source profile to an AlterEgo in the target, item by item.

    j*(i) = argmax over j in I(i) of X-Sim(i, j),  I(i): target items with a path to i   [NX-Map, 4]
    AlterEgo(u) = {(j*(i), r_ui): i a source item that u rated}, and u's own target ratings

Ratings with the same replacement are averaged. A user's own rating of a target item takes
precedence over mapped ones.
"""

import numpy as np

from tacit.crossdomain.neighbours.target_profiles import TargetProfiles, own, profile_of
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.extender import Extension
from tacit.ratings import Codes, Mask

NOTHING = -1


def best(extension: Extension, n_items: int) -> Codes:
    """Return the replacement of each item, shape (items,), -1 for target items and those without
    one."""
    start, other, s = extension.found
    row = np.repeat(np.arange(len(extension.sources)), np.diff(start))
    order = np.lexsort((other, -s, row))
    first = order[start[:-1][np.diff(start) > 0]]
    chosen = np.full(n_items, NOTHING, np.int32)
    chosen[extension.sources[row[first]]] = other[first]
    return chosen


def alteregos(trial: Trial, replacement: Codes, users: Mask) -> TargetProfiles:
    """Return all target ratings, and the mapped ratings of `users`, a mask of shape (people,)."""
    ratings = trial.domains.ratings
    to = replacement[ratings.items]
    mapped = ~trial.in_target & users[ratings.users] & (to != NOTHING)
    return _united(own(trial), averaged(profile_of(trial, mapped, to)), ratings.n_items)


def averaged(profile: TargetProfiles) -> TargetProfiles:
    """Average the points of each user and item, rounded half up. One row each."""
    if len(profile.users) == 0:
        return profile
    fresh = (np.diff(profile.users, prepend=-1) != 0) | (np.diff(profile.items, prepend=-1) != 0)
    at = np.flatnonzero(fresh)
    count = np.diff(np.append(at, len(fresh)))
    total = np.add.reduceat(profile.points, at)
    latest = np.maximum.reduceat(profile.times, at)
    points = (2 * total + count) // (2 * count)
    return TargetProfiles(profile.users[at], profile.items[at], points, latest)


def _united(first: TargetProfiles, second: TargetProfiles, n_items: int) -> TargetProfiles:
    """Merge two profiles. `first` has precedence for the same user and item."""
    keys = [part.users.astype(np.int64) * n_items + part.items for part in (first, second)]
    fresh = ~np.isin(keys[1], keys[0])
    order = np.argsort(np.concatenate([keys[0], keys[1][fresh]]), kind="stable")
    return TargetProfiles(
        np.concatenate([first.users, second.users[fresh]])[order],
        np.concatenate([first.items, second.items[fresh]])[order],
        np.concatenate([first.points, second.points[fresh]])[order],
        np.concatenate([first.times, second.times[fresh]])[order],
    )
