"""Every system of the registry keeps its promises; each baseline equals its naive twin."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.crossdomain import KNN, MEMBERS, ItemMeans, RemoteUser, XMap, changed, systems
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.replacement import Draws
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.person import dpals

KINDS = [pytest.param(m, id=f"{m.name}-{m.variant}-{m.mode}") for m in MEMBERS]


def predict(system, trial, engine=None, epsilon="2"):
    given = None if system.mode == "none" else epsilon
    return system.predict(trial, engine=engine or Local(), epsilon=given)


def known(trial):
    ratings = trial.domains.ratings
    return list(zip(ratings.users.tolist(), ratings.items.tolist(), ratings.values, strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("system", KINDS)
def test_a_system_tells_every_asked_rating_and_says_what_it_promises(system, trial):
    predicted, guarantee = predict(system, trial)
    assert predicted.values.shape == predicted.covered.shape == trial.items.shape
    assert predicted.values.dtype == np.float64
    assert np.isfinite(predicted.values).all()
    assert (guarantee.epsilon is None) == (system.mode == "none")
    if system.mode == "strict":
        assert (guarantee.epsilon, guarantee.unit, guarantee.fails) == ("2", "user", None)
        assert guarantee.trust == "curator"
    if system.mode == "faithful":
        assert guarantee.fails


@pytest.mark.sampled(4)
@pytest.mark.parametrize("system", [p for p in KINDS if p.values[0].mode == "none"])
def test_neither_blocks_nor_the_order_of_questions_change_a_digit(system, trial):
    whole = predict(system, trial).predicted
    order = np.random.default_rng(0).permutation(len(trial.users))
    asked = replace(trial, users=trial.users[order], items=trial.items[order])
    parted = predict(system, asked, Local(blocks=5)).predicted
    assert parted.values.tobytes() == whole.values[order].tobytes()
    assert (parted.covered == whole.covered[order]).all()


KNOWN = Draws(bytes(32))
STAGED = [
    KNN(k=4),
    KNN(linked=True, k=4),
    RemoteUser(k=4),
    XMap(k=4),
    XMap(variant="user", k=4),
    XMap(alteregos="everybody", damping=50, k=4),
    XMap(mode="faithful", k=4, draws=KNOWN),
    XMap(variant="user", mode="faithful", k=4, draws=KNOWN),
]


IN_ONE_BLOCK = {}
"""What a staged system predicts of the trial, the same in every test."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("system", STAGED, ids=lambda s: f"{s.name}-{s.variant}")
def test_every_engine_gives_the_same_digits(system, trial, engine):
    """The whole pipeline, with the same draws: one block here is what all others are held to."""
    if system not in IN_ONE_BLOCK:
        IN_ONE_BLOCK[system] = predict(system, trial, Local(1)).predicted
    here, there = IN_ONE_BLOCK[system], predict(system, trial, engine).predicted
    assert there.values.tobytes() == here.values.tobytes()
    assert there.covered.tobytes() == here.covered.tobytes()
    assert here.covered.any()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("system", KINDS)
def test_one_shared_person_and_one_item_a_domain_are_enough(system, domains):
    ratings = domains.ratings
    first = (domains.bounds[0], domains.bounds[1])
    few = domains.where(np.isin(ratings.items, first) & (ratings.users < 21))
    rater = few.ratings.users[0]
    rows = (ratings.users == rater) & (ratings.items == first[0])
    other = (ratings.users > 25) & (ratings.items == first[1])
    assert rows.any()
    assert other.any()
    both = domains.where(rows | other)
    moved = both.ratings.users.copy()
    moved[np.flatnonzero(both.ratings.items == first[1])[0]] = rater
    one = replace(both, ratings=replace(both.ratings, users=moved))
    hidden = Holdout().hide(one, 1, seed=0)
    assert len(hidden.values) == 1
    assert np.isfinite(predict(system, hidden.trial).predicted.values).all()


def naive_means(trial):
    found = {}
    for _, item, value in known(trial):
        found.setdefault(item, []).append(float(value))
    rows = trial.domains.ratings.values[trial.in_target]
    return {item: float(np.mean(v)) for item, v in found.items()}, float(rows.mean())


def test_item_average_and_offset_by_hand(trial):
    means, everything = naive_means(trial)
    offsets = {}
    for user in set(trial.users.tolist()):
        around = [value - means[item] for u, item, value in known(trial) if u == user]
        offsets[user] = sum(around) / (len(around) + 5)
    pairs = list(zip(trial.users.tolist(), trial.items.tolist(), strict=True))
    plain = [means.get(item, everything) for _, item in pairs]
    assert predict(ItemMeans(), trial).predicted.values == pytest.approx(plain)
    shifted = [base + offsets[user] for (user, _), base in zip(pairs, plain, strict=True)]
    assert predict(ItemMeans(offset=True), trial).predicted.values == pytest.approx(shifted)


@pytest.mark.parametrize("k", [1, 4, 100])
def test_remote_user_by_hand(trial, k):
    means, everything = naive_means(trial)
    bound = trial.domains.bounds[1]
    source, target, own = {}, {}, {}
    for user, item, value in known(trial):
        side = source if item < bound else target
        side.setdefault(user, {})[item] = float(value)
        own.setdefault(user, []).append(float(value))
    own = {user: float(np.mean(values)) for user, values in own.items()}
    taste = {u: {i: r - means[i] for i, r in rated.items()} for u, rated in source.items()}
    norm = {u: np.sqrt(sum(x * x for x in row.values())) for u, row in taste.items()}

    def similar(a, b):
        dot = sum(x * taste[b].get(i, 0) for i, x in taste[a].items())
        return dot / (norm[a] * norm[b])

    found = predict(RemoteUser(k=k), trial).predicted
    some = np.random.default_rng(1).choice(len(trial.users), 60, replace=False)
    for row in some:
        a, item = int(trial.users[row]), int(trial.items[row])
        by = [(-similar(a, b), b) for b in sorted(target) if b != a and b in taste]
        best = [(-t, b) for t, b in sorted(by)[:k] if -t > 0 and item in target[b]]
        assert found.covered[row] == bool(best)
        expected, steps = means.get(item, everything), 0.0
        if best:
            # Each similarity is off by a step of the grid, 2^-20, and moves a deviation by up to 4.
            steps = 4 * len(best) / sum(t for t, _ in best)
            expected = own[a] + sum(t * (target[b][item] - own[b]) for t, b in best) / sum(
                t for t, _ in best
            )
        assert found.values[row] == pytest.approx(expected, abs=2**-20 * (2 + steps))


class Watched(SecretReleases):
    """Releases that add nothing and keep what they saw."""

    seen: list

    def gaussian(self, name, totals, *, sensitivity, multiplier):
        super().gaussian(name, totals, sensitivity=sensitivity, multiplier=multiplier)
        self.seen.append(totals)
        return totals


@pytest.fixture
def releases(monkeypatch):
    watched = Watched()
    watched.seen = []
    monkeypatch.setattr(dpals, "SecretReleases", lambda: watched)
    return watched


def test_the_strict_average_looks_at_target_ratings_alone(trial, releases):
    predict(ItemMeans(mode="strict"), trial)
    before = [totals.copy() for totals in releases.seen]
    ratings = trial.domains.ratings
    levels = np.where(trial.in_target, ratings.levels, ratings.levels[::-1] % 5).astype(np.uint8)
    assert (levels != ratings.levels).any()
    other = replace(trial, domains=replace(trial.domains, ratings=replace(ratings, levels=levels)))
    releases.seen.clear()
    predict(ItemMeans(mode="strict"), other)
    assert all((a == b).all() for a, b in zip(before, releases.seen, strict=True))
    releases.seen.clear()
    predict(ItemMeans(offset=True, mode="strict"), trial)
    assert releases.seen[-1].size == ratings.n_items


def test_without_noise_the_strict_offset_is_near_the_plain_one(trial, releases):
    # The account still takes the means for noisy, and shrinks them: they agree in rank, not level.
    strict = predict(ItemMeans(offset=True, mode="strict"), trial, epsilon="400").predicted.values
    plain = predict(ItemMeans(offset=True), trial).predicted.values
    assert np.corrcoef(strict, plain)[0, 1] > 0.8


def test_a_strict_system_without_an_epsilon_is_refused(trial):
    with pytest.raises(RequestError, match="requires an epsilon"):
        ItemMeans(mode="strict").predict(trial, engine=Local(), epsilon=None)


def test_modes_and_settings():
    assert [m.mode for m in systems("item-average")] == ["none", "strict"]
    assert [m.mode for m in systems("item-average", "faithful")] == ["none"]
    assert [m.mode for m in systems("item-offset", "both")] == ["none", "strict"]
    assert changed(RemoteUser(), k=7).k == 7
    with pytest.raises(RequestError, match="System remote-user has no setting 'delta'"):
        changed(RemoteUser(), delta="1e-5")
    assert changed(ItemMeans(mode="strict"), delta="1e-5").delta == "1e-5"
    for name, mode, said in (
        ("nobody", "strict", "system must be"),
        ("item-average", "x", "mode must be"),
    ):
        with pytest.raises(RequestError, match=said):
            systems(name, mode)
    with pytest.raises(RequestError, match="k must be at least 1"):
        RemoteUser(k=0)
