"""The recommender: ratings of target items from neighbours, for people who have an AlterEgo.

    item  Pred_A(i) = r_i + sum_j s_ij (r_Aj - r_j) w_Aj / sum_j |s_ij| w_Aj    [X-Map, 3.4]
          j among the k items most like i and rated by A; w_Aj = e^(-decay (t - t_Aj))
    user  Pred_A(i) = r_A + sum_B s_AB (r_Bi - r_B) / sum_B |s_AB|
          B among the k people most like A, with a rating of i

Similarities are adjusted cosines over all of a profile. t_Aj is the place of a rating in A's
order of time (equal times share one), t the place after the last. Where no neighbour has a say the
mean is predicted.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours.adjusted_cosine import POINT_BITS, Adjusted
from tacit.crossdomain.neighbours.target_profiles import TargetProfiles
from tacit.crossdomain.trial import Predicted, Trial
from tacit.engines.engine import Engine, cut
from tacit.kernels.layout import starts
from tacit.kernels.neighbours import (
    Asked,
    Circle,
    NeighbourPredictions,
    Profiles,
    Shared,
    by_items,
    by_people,
)
from tacit.kernels.similar import Near, Wanted
from tacit.public_priors import OWN_BIAS_RIDGE
from tacit.ratings import Codes

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbours:
    """`k`: most similar items or people. `decay`: by how much less a person's older ratings
    count, per place in their order of time; 0 for not at all. `damping`: similarities count
    min(n, damping) / damping, n the raters or items shared; 0 for not at all, as printed.

    Damped similarities are small where little is known, so their sum is damped, too: by what five
    agreeing raters weigh, the five by which levels are damped everywhere.
    """

    k: int = 50
    decay: float = 0.0
    damping: int = 0

    @property
    def prior(self) -> float:
        """What is added to the sum of weights."""
        return OWN_BIAS_RIDGE / self.damping if self.damping else 0.0

    @property
    def wanted(self) -> Wanted:
        """The most similar things, whether raters agree on them or not."""
        return Wanted(self.k, self.damping, signed=True, same=False)


def compare_profiles(profile: TargetProfiles, trial: Trial, variant: str) -> Adjusted:
    """Items by the people who rated them, or ("user") people by the items they rated."""
    n_users, n_items = trial.domains.ratings.n_users, trial.domains.ratings.n_items
    if variant == "user":
        return Adjusted.of(profile.users, profile.items, profile.points, n_users, n_items)
    return Adjusted.of(profile.items, profile.users, profile.points, n_items, n_users)


def predict_by_items(
    profile: TargetProfiles, near: Near, trial: Trial, how: Neighbours, engine: Engine
) -> Predicted:
    """The asked ratings; `near`: the items most like each of the target's, in their order."""
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
    """The asked ratings; `near`: the people most like each of `trial.people`, in their order.

    `own`: the ratings whose mean is a person's own, if not those of `profile`.
    """
    ratings, mine = trial.domains.ratings, own or profile
    means = means_of(mine, mine.users, ratings.n_users)
    above = profile.points / 2**POINT_BITS - means[profile.users]
    return _ask(
        by_people, trial, _profiles(profile, above, np.ones(len(above)), ratings.n_users),
        Circle(_rows(trial.people, ratings.n_users), near.code, near.s, means, how.prior), engine,
    )  # fmt: skip


def target_items(trial: Trial) -> Codes:
    """The codes of the target's items. Shape (items of the target,)."""
    bounds = trial.domains.bounds
    return np.arange(bounds[trial.target], bounds[trial.target + 1], dtype=np.int32)


def age(profile: TargetProfiles) -> Doubles:
    """t - t_Aj of every row: how many different times lie between it and the present."""
    order = np.lexsort((profile.times, profile.users))
    users, times = profile.users[order], profile.times[order]
    person = np.diff(users, prepend=-1) != 0
    place = np.cumsum(person | (np.diff(times, prepend=-1) != 0))
    last = np.append(np.flatnonzero(person)[1:], len(users)) - 1
    ages = np.empty(len(users))
    ages[order] = 1 + place[last][np.cumsum(person) - 1] - place
    return ages


def _ask(
    kernel: Callable[[Asked, Shared], NeighbourPredictions],
    trial: Trial,
    profiles: Profiles,
    circle: Circle,
    engine: Engine,
) -> Predicted:
    """The asked cells by person, in blocks of people; answers in the order they were asked in."""
    order = np.lexsort((trial.items, trial.users))
    users, items = trial.users[order], trial.items[order]
    people, start = np.unique(users, return_index=True)
    ends = np.append(start, len(users))
    blocks = [
        Asked(people[run], ends[run.start : run.stop + 1] - ends[run.start],
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
    """Mean points in steps of the scale; for what has none, that of all ratings.

    `of`: whose each row is, shape (rows,); the result: (n,).
    """
    counts, totals = np.bincount(of, minlength=n), np.zeros(n, np.int64)
    np.add.at(totals, of, profile.points)
    whole = totals.sum() / max(1, counts.sum())
    return np.where(counts > 0, totals / np.maximum(counts, 1), whole) / 2**POINT_BITS


def _profiles(profile: TargetProfiles, above: Doubles, weight: Doubles, n_users: int) -> Profiles:
    counts = np.bincount(profile.users, minlength=n_users)
    start = starts(counts)
    return Profiles(start, profile.items, above, weight)


def _rows(codes: Codes, n: int) -> Codes:
    rows = np.full(n, -1, np.int32)
    rows[codes] = np.arange(len(codes))
    return rows
