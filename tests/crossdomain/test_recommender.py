"""AlterEgos and predictions, beside the formulas written out."""

import numpy as np
import pytest

from tacit.crossdomain.neighbours import (
    POINT_BITS,
    Neighbours,
    TargetProfiles,
    age,
    all_ratings,
    compare_profiles,
    own,
    predict_by_items,
    predict_by_people,
    target_items,
)
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.replacement import NOTHING, alteregos, averaged, best
from tacit.kernels.neighbourhood.search_results import Near

HOW = Neighbours(k=6, decay=0.2, damping=20)


@pytest.fixture
def replacement(trial):
    """A target item for two source items out of three."""
    chance = np.random.default_rng(3)
    n = trial.domains.ratings.n_items
    chosen = chance.choice(target_items(trial), n).astype(np.int32)
    chosen[target_items(trial)] = NOTHING
    chosen[chance.random(n) < 1 / 3] = NOTHING
    return chosen


def naive_alteregos(trial, chosen):
    """{person: {item: points}}."""
    ratings, mapped, told = trial.domains.ratings, {}, {}
    rows = zip(ratings.users.tolist(), ratings.items.tolist(), ratings.levels.tolist(),
               trial.in_target.tolist(), strict=True)  # fmt: skip
    for user, item, level, target in rows:
        if target:
            told.setdefault(user, {})[item] = level * 2**POINT_BITS
        elif chosen[item] != NOTHING:
            mapped.setdefault((user, int(chosen[item])), []).append(level * 2**POINT_BITS)
    for (user, item), points in mapped.items():
        told.setdefault(user, {}).setdefault(item, np.floor(np.mean(points) + 0.5))
    return told


def test_alteregos_are_mapped_averaged_and_give_way_to_own_ratings(trial, replacement):
    everybody = np.ones(trial.domains.ratings.n_users, np.bool_)
    profile = alteregos(trial, replacement, everybody)
    told = {}
    for user, item, points in zip(profile.users, profile.items, profile.points, strict=True):
        assert item not in told.setdefault(int(user), {})
        told[int(user)][int(item)] = points
    assert told == naive_alteregos(trial, replacement)
    nobody = alteregos(trial, replacement, ~everybody)
    assert all((a == b).all() for a, b in zip(nobody, own(trial), strict=True))


def test_a_mean_of_ratings_keeps_the_latest_time():
    same = np.zeros(3, np.int32)
    told = averaged(TargetProfiles(same, same + 4, np.array([0, 256, 257]), np.array([5, 9, 7])))
    assert [field.tolist() for field in told] == [[0], [4], [171], [9]]


def test_age_counts_different_times():
    users = np.array([0, 0, 0, 1], np.int32)
    profile = TargetProfiles(users, users, np.zeros(4, np.int64), np.array([30, 10, 30, 50]))
    assert age(profile).tolist() == [1, 2, 1, 1]


def test_a_profile_without_times_does_not_age():
    users, none = np.zeros(3, np.int32), np.zeros(3, np.int64)
    assert age(TargetProfiles(users, users, none, none)).tolist() == [1, 1, 1]


def naive_by_items(profile, near, trial, decay, prior):
    points = profile.points / 2**POINT_BITS
    mean = {i: points[profile.items == i].mean() for i in np.unique(profile.items)}
    rows = {int(i): r for r, i in enumerate(target_items(trial))}
    for user, item in zip(trial.users.tolist(), trial.items.tolist(), strict=True):
        mine = profile.users == user
        rated = dict(zip(profile.items[mine].tolist(), zip(points[mine], age(profile)[mine],
                     strict=True), strict=True))  # fmt: skip
        top = bottom = 0.0
        row = rows[item]
        for j, s in zip(near.code[row].tolist(), near.s[row].tolist(), strict=True):
            if j in rated:
                weight = np.exp(-decay * rated[j][1])
                top += s * (rated[j][0] - mean[j]) * weight
                bottom += abs(s) * weight
        yield mean.get(item, points.mean()) + (top / (bottom + prior) if bottom else 0), bottom > 0


def naive_by_people(profile, near, trial, prior):
    points = profile.points / 2**POINT_BITS
    mean = {u: points[profile.users == u].mean() for u in np.unique(profile.users)}
    rows = {int(u): r for r, u in enumerate(trial.people)}
    for user, item in zip(trial.users.tolist(), trial.items.tolist(), strict=True):
        top = bottom = 0.0
        row = rows[user]
        for other, s in zip(near.code[row].tolist(), near.s[row].tolist(), strict=True):
            told = points[(profile.users == other) & (profile.items == item)]
            if other >= 0 and len(told):
                top += s * (told[0] - mean[other])
                bottom += abs(s)
        yield mean.get(user, points.mean()) + (top / (bottom + prior) if bottom else 0), bottom > 0


def check(predicted, naive):
    values, covered = (np.array(column) for column in zip(*naive, strict=True))
    assert predicted.values == pytest.approx(1 + values, abs=1e-9)
    assert (predicted.covered == covered).all()
    assert covered.any()


def test_item_neighbours_tell_what_the_formula_tells(trial, engine):
    profile = all_ratings(trial)._replace(times=np.arange(len(trial.in_target)) // 3)
    items = target_items(trial)
    near = compare_profiles(profile, trial, "item").nearest(items, items, HOW.wanted, engine)
    told = predict_by_items(profile, near, trial, HOW, engine)
    check(told, naive_by_items(profile, near, trial, HOW.decay, 5 / 20))


def test_people_tell_what_the_formula_tells(trial, engine):
    profile = own(trial)
    everybody = np.arange(trial.domains.ratings.n_users, dtype=np.int32)
    alike = compare_profiles(profile, trial, "user")
    near = alike.nearest(trial.people, everybody, HOW.wanted, engine)
    told = predict_by_people(profile, near, trial, HOW, engine)
    check(told, naive_by_people(profile, near, trial, 5 / 20))


def test_one_noisy_neighbour_gives_their_rating_away(trial, engine):
    """PNCF with k = 1: whatever the noise on the similarity, it cancels but for its sign."""
    profile = own(trial)
    person = trial.people[0]
    other = next(int(u) for u in np.unique(profile.users) if u != person)
    theirs = profile.items[profile.users == other]
    asked = Trial(trial.domains, trial.target, np.array([person]), np.full(len(theirs), person),
                  theirs)  # fmt: skip
    points = profile.points / 2**POINT_BITS
    mean = points[profile.users == person].mean()
    raw = points[profile.users == other]
    outputs = set()
    for noisy in (0.3, -0.02, 17.0):
        near = Near(np.array([[other]], np.int32), np.array([[noisy]]), *2 * [None])
        values = predict_by_people(profile, near, asked, Neighbours(1), engine).values - 1
        assert values == pytest.approx(mean + np.sign(noisy) * (raw - raw.mean()), abs=1e-9)
        outputs.add(np.round(values, 9).tobytes())
    assert len(outputs) == 2


def test_the_best_replacement_is_the_first_of_the_largest(engine):
    from tacit.crossdomain.x_map.extender import Extension
    from tacit.kernels.neighbourhood.paths import Found

    found = Found(np.array([0, 3, 3, 4]), np.array([5, 6, 7, 6], np.int32),
                  np.array([0.2, 0.9, 0.9, -1.0]))  # fmt: skip
    extension = Extension(None, np.array([0, 1, 2], np.int32), found)
    assert best(extension, 8).tolist() == [6, -1, 6, -1, -1, -1, -1, -1]


def test_nobody_near_means_the_mean(trial, engine):
    profile, items = own(trial), target_items(trial)
    none = Near(np.full((len(items), 3), -1, np.int32), np.zeros((len(items), 3)), *2 * [None])
    told = predict_by_items(profile, none, trial, Neighbours(3), engine)
    assert not told.covered.any()
