"""Neighbourhood methods: adjusted cosine similarity, profiles and predictions.

Adjusted cosine similarity: ratings are centred by the rater's mean.

    s(i, j) = sum over u in Y_i n Y_j of (r_ui - r_u)(r_uj - r_u) / (||i|| ||j||)       [X-Map, 3.1]
    ||i||^2 = sum over u in Y_i of (r_ui - r_u)^2, over all raters of i, not only those of i and j
    S_ij = number of users in Y_i n Y_j who rate both at least at their means, or both below

Centred ratings are integers on a grid of 2^-20 of a step of the scale.

Neighbourhood predictions of target ratings, for users with an AlterEgo.

    item  Pred_A(i) = r_i + sum_j s_ij (r_Aj - r_j) w_Aj / sum_j |s_ij| w_Aj    [X-Map, 3.4]
          j among the k items most similar to i and rated by A; w_Aj = e^(-decay (t - t_Aj))
    user  Pred_A(i) = r_A + sum_B s_AB (r_Bi - r_B) / sum_B |s_AB|
          B among the k users most similar to A, with a rating of i

Similarities are adjusted cosines over complete profiles. t_Aj is the rank of a rating in A's order
of time (equal times have equal ranks), t the rank after the last. Without a contributing neighbour
the prediction is the mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.trial import Predicted, Trial
from tacit.engines.engine import Engine, cut
from tacit.errors import RequestError
from tacit.kernels.layout import Side, by_user, layout, starts
from tacit.kernels.neighbourhood.columns import centre, item_sums, likes
from tacit.kernels.neighbourhood.predictions import (
    Circle,
    NeighbourPredictions,
    Profiles,
    Requests,
    Shared,
    by_items,
    by_people,
)
from tacit.kernels.neighbourhood.search_results import Near, Wanted, best_of, nothing, stacked
from tacit.kernels.neighbourhood.similar import Things, between, nearest, selected
from tacit.ratings import Codes, Mask
from tacit.scale import OWN_BIAS_RIDGE

Longs = NDArray[np.int64]
POINT_BITS = 8
"""Fractional bits of a mean of several ratings, in steps of the scale."""
GRID_BITS = 20


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Sparse ratings of things (such as items) by witnesses (such as users), indexed from both
    sides, centred by witness.

    `value`: centred rating on the grid. `like`: whether a rating is at least the mean of its thing.
    Both in canonical order, shape (n,). `root`: norm of each thing.
    """

    things: Side
    witnesses: Side
    value: NDArray[np.int32]
    like: NDArray[np.uint8]
    root: NDArray[np.float64]

    @classmethod
    def of(cls, things: Codes, witnesses: Codes, points: Longs, n: int, n_witnesses: int) -> Self:
        """Build from one row per rating. `points`: steps of the scale times 2^8, shape (rows,).

        Raises `RequestError` if a sum exceeds 64 bits.
        """
        cells, order = layout(witnesses, things, n_witnesses, n)
        witness, thing, points = witnesses[order], cells.users.other, points[order]
        value = centred(points, witness, cells.users.counts)
        sums = item_sums(thing, points, value, n)
        if sums.about.max(initial=0) >= 2.0**62:
            raise RequestError(
                f"Sums over {int(cells.items.counts.max())} ratings of one item overflow 64-bit "
                "integers on this scale; leave out users or use a scale with fewer levels."
            )
        like = likes(thing, points, cells.items.counts, sums.points)
        return cls(cells.items, cells.users, value, like, np.sqrt(sums.squares))

    def nearest(self, rows: Codes, columns: Codes, wanted: Wanted, engine: Engine) -> Near:
        """Return the most similar `columns` of each of `rows`, both ascending indices of things."""
        if len(rows) == 0 or len(columns) == 0:
            return nothing((len(rows), wanted.k))
        parts = engine.across(
            nearest,
            [self.rows(rows[run]) for run in cut(len(rows), engine.blocks)],
            [self.columns(columns[run]) for run in cut(len(columns), engine.blocks)],
            wanted,
        )
        return stacked([best_of(row, wanted) for row in parts])

    def between(self, rows: Codes, columns: Codes, wanted: Wanted) -> Near:
        """Return all candidates among `columns` of each of `rows`, both ascending; shape (rows,
        columns), computed in this process."""
        return between(self.rows(rows), self.columns(columns), wanted)

    def rows(self, codes: Codes) -> Things:
        """Return things with their cells, indexed by thing."""
        counts = self.things.counts[codes]
        start = starts(counts)
        first: Longs = np.repeat(self.things.start[codes] - start[:-1], counts)
        at = np.arange(len(first)) + first
        cell = self.things.cell[at]
        return Things(
            codes.astype(np.int32), self.root[codes], start, self.things.other[at],
            self.value[cell], self.like[cell],
        )  # fmt: skip

    def columns(self, codes: Codes) -> Things:
        """Return things with their cells, indexed by witness."""
        index = np.full(len(self.root), -1, np.int32)
        index[codes] = np.arange(len(codes))
        start, places, value, like = selected(self.witnesses, index, self.value, self.like)
        return Things(codes.astype(np.int32), self.root[codes], start, places, value, like)


def centred(points: Longs, owner: Codes, counts: Longs) -> NDArray[np.int32]:
    """Return points minus the owner's mean, in 2^-20 of a step of the scale.

    Exact, rounded half up. All of shape (n,), except `counts`: (owners,). Raises `RequestError` if
    the range of the ratings exceeds the grid.
    """
    shift = GRID_BITS - POINT_BITS
    if np.ptp(points) >= 1 << (30 - shift) if len(points) else False:
        raise RequestError(
            f"The range of the ratings is {np.ptp(points) >> POINT_BITS} steps, "
            "which exceeds the grid; use a scale with fewer levels."
        )
    return centre(points, owner, counts, shift)


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


def all_ratings(trial: Trial) -> TargetProfiles:
    """Return the known ratings in all domains, untranslated."""
    return profile_of(trial, np.ones(len(trial.in_target), np.bool_), trial.domains.ratings.items)


def profile_of(trial: Trial, rows: Mask, items: Codes) -> TargetProfiles:
    """Return the ratings where `rows` is true, as ratings of `items`, both of shape (n,)."""
    ratings = trial.domains.ratings
    times = np.zeros(len(ratings), np.int64) if ratings.times is None else ratings.times
    _, order = by_user(ratings.users[rows], items[rows], ratings.n_users, ratings.n_items)
    points = ratings.levels[rows].astype(np.int64) << POINT_BITS
    return TargetProfiles(
        ratings.users[rows][order], items[rows][order], points[order], times[rows][order]
    )


Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbours:
    """Settings of a neighbourhood method.

    `k`: number of most similar items or users. `decay`: rate at which a user's older ratings lose
    weight, per rank in time, 0 for none. `damping`: similarities are multiplied by
    min(n, damping) / damping, with n common raters or items, 0 for none, as in the paper.

    With little data, damped similarities are small. The sum of weights is therefore damped as well,
    by the weight of five agreeing raters, the ridge of user biases in Tacit.
    """

    k: int = 50
    decay: float = 0.0
    damping: int = 0

    @property
    def prior(self) -> float:
        """Constant added to the sum of weights."""
        return OWN_BIAS_RIDGE / self.damping if self.damping else 0.0

    @property
    def wanted(self) -> Wanted:
        """Criteria of the neighbour search, which include negative similarities."""
        return Wanted(self.k, self.damping, signed=True, same=False)


def compare_profiles(profile: TargetProfiles, trial: Trial, variant: str) -> Adjusted:
    """Compare items by their raters, or ("user") users by their items."""
    n_users, n_items = trial.domains.ratings.n_users, trial.domains.ratings.n_items
    if variant == "user":
        return Adjusted.of(profile.users, profile.items, profile.points, n_users, n_items)
    return Adjusted.of(profile.items, profile.users, profile.points, n_items, n_users)


def predict_by_items(
    profile: TargetProfiles, near: Near, trial: Trial, how: Neighbours, engine: Engine
) -> Predicted:
    """Predict the queried cells. `near`: the nearest items of each target item, in their order."""
    ratings, items = trial.domains.ratings, target_items(trial)
    means = means_of(profile, profile.items, ratings.n_items)
    above = profile.points / 2**POINT_BITS - means[profile.items]
    weight = np.exp(-how.decay * age(profile)) if how.decay else np.ones(len(above))
    return _ask(
        by_items, trial, _profiles(profile, above, weight, ratings.n_users),
        Circle(_rows(items, ratings.n_items), near.code, near.s, means, how.prior), engine,
    )  # fmt: skip


def predict_by_people(
    profile: TargetProfiles,
    near: Near,
    trial: Trial,
    how: Neighbours,
    engine: Engine,
    own: TargetProfiles | None = None,
) -> Predicted:
    """Predict the queried cells. `near`: the nearest users of each of `trial.people`, in their
    order.

    `own`: ratings for the users' means, those of `profile` by default.
    """
    ratings, mine = trial.domains.ratings, own or profile
    means = means_of(mine, mine.users, ratings.n_users)
    above = profile.points / 2**POINT_BITS - means[profile.users]
    return _ask(
        by_people, trial, _profiles(profile, above, np.ones(len(above)), ratings.n_users),
        Circle(_rows(trial.people, ratings.n_users), near.code, near.s, means, how.prior), engine,
    )  # fmt: skip


def target_items(trial: Trial) -> Codes:
    """Return the indices of the target's items, shape (items of the target,)."""
    bounds = trial.domains.bounds
    return np.arange(bounds[trial.target], bounds[trial.target + 1], dtype=np.int32)


def age(profile: TargetProfiles) -> Doubles:
    """Return t - t_Aj of every row: the number of the user's distinct times from there on."""
    order = np.lexsort((profile.times, profile.users))
    users, times = profile.users[order], profile.times[order]
    person = np.diff(users, prepend=-1) != 0
    rank = np.cumsum(person | (np.diff(times, prepend=-1) != 0))
    last = np.append(np.flatnonzero(person)[1:], len(users)) - 1
    ages = np.empty(len(users))
    ages[order] = 1 + rank[last][np.cumsum(person) - 1] - rank
    return ages


def _ask(
    kernel: Callable[[Requests, Shared], NeighbourPredictions],
    trial: Trial,
    profiles: Profiles,
    circle: Circle,
    engine: Engine,
) -> Predicted:
    """Run a kernel on the queried cells, in blocks of users. Results are in the original order."""
    order = np.lexsort((trial.items, trial.users))
    users, items = trial.users[order], trial.items[order]
    people, start = np.unique(users, return_index=True)
    ends = np.append(start, len(users))
    blocks = [
        Requests(people[run], ends[run.start : run.stop + 1] - ends[run.start],
              items[ends[run.start] : ends[run.stop]])
        for run in cut(len(people), engine.blocks)
    ]  # fmt: skip
    answers = engine.over(kernel, blocks, Shared(profiles, circle))
    steps, covered = np.empty(len(users)), np.zeros(len(users), np.bool_)
    steps[order] = np.concatenate([answer.value for answer in answers])
    covered[order] = np.concatenate([answer.covered for answer in answers])
    scale = trial.domains.ratings.scale
    return Predicted(float(scale.low) + float(scale.step) * steps, covered)


def means_of(profile: TargetProfiles, of: Codes, n: int) -> Doubles:
    """Return mean points in steps of the scale, shape (n,), and the global mean for groups without
    ratings.

    `of`: group of each row, shape (rows,).
    """
    counts, totals = np.bincount(of, minlength=n), np.zeros(n, np.int64)
    np.add.at(totals, of, profile.points)
    overall = totals.sum() / max(1, counts.sum())
    return np.where(counts > 0, totals / np.maximum(counts, 1), overall) / 2**POINT_BITS


def _profiles(profile: TargetProfiles, above: Doubles, weight: Doubles, n_users: int) -> Profiles:
    counts = np.bincount(profile.users, minlength=n_users)
    start = starts(counts)
    return Profiles(start, profile.items, above, weight)


def _rows(codes: Codes, n: int) -> Codes:
    rows = np.full(n, -1, np.int32)
    rows[codes] = np.arange(len(codes))
    return rows
