"""The methods as published: their printed noise, what it really loses, and what a replay finds."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tacit.audit.replay import replay
from tacit.errors import RequestError
from tacit.models import fold_in
from tacit.readers import synthetic
from tacit.training import modes, names, training
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.papers.noisy_solvers import (
    objective_law,
    objective_loss,
    output_sensitivity,
    random_start,
    share,
    solved,
)
from tacit.training.papers.xian import mean_factors, raw_levels
from tacit.training.value.factors import ridge_sensitivities, ridge_sensitivity
from tacit.training.value.integer_ratings import integer_ratings

VALID = ("psgd", "pals")
METHODS = {name: training(name, "faithful") for name in names("faithful")} | {
    name: training(name) for name in VALID
}


@pytest.fixture(scope="module")
def ratings():
    return synthetic(n_users=60, n_items=120, n_ratings=2000, rng=5)


def quick(name):
    return replace(METHODS[name], factors=3, rounds=2)


def trained(method, ratings, releases):
    fitted = method.fit(ratings, epsilon="20", releases=releases)
    return fitted.mu, fitted.people, fitted.items


def changed(ratings, row):
    levels = ratings.levels.copy()
    levels[row] = 4 if levels[row] < 2 else 0
    return replace(ratings, levels=levels)


@pytest.mark.parametrize("name", names("faithful"))
def test_the_replay_finds_what_is_raw(name, ratings):
    found = replay(partial(trained, quick(name)), ratings, changed(ratings, 9), SecretReleases())
    text = " ".join(found)
    assert "raw mean" in text
    assert "raw levels of items" in text
    assert "raw levels of users" in text
    assert ("raw implicit" in text) == (name in ("dpsaobj++", "dpsaout++"))


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("preprocess", [True, False])
def test_the_replay_finds_nothing_in_psgd_and_pals(name, preprocess, ratings):
    method = replace(quick(name), preprocess=preprocess)
    for row in (0, 555, 1200):
        other = changed(ratings, row)
        assert replay(partial(trained, method), ratings, other, SecretReleases()) == []


@pytest.mark.parametrize("name", METHODS)
def test_a_claim_that_fails_is_printed_with_its_reason(name, ratings):
    claim = quick(name).fit(ratings, epsilon="3").guarantee
    assert (claim.epsilon, claim.unit, claim.trust) == ("3", "value", "curator")
    assert (claim.fails is None) == (name in VALID)
    if claim.fails:
        assert "not satisfied" in claim.sentence
        assert "raw ratings" in claim.sentence
        assert ("Dr q_max" in claim.sentence) == name.startswith("dpsaobj")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", METHODS)
def test_they_learn_at_an_epsilon_that_hides_nothing(name):
    ratings = synthetic(n_users=400, n_items=400, n_ratings=50_000, rng=2)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    train, test = ratings.where(~held), ratings.where(held)
    fitted = replace(METHODS[name], factors=8).fit(train, epsilon="100000")
    mean = np.sqrt(np.mean((test.values - train.values.mean()) ** 2))
    for model in (fitted, fold_in(fitted, train)):
        predicted = np.clip(model.predict_codes(test.users, test.items), 1, 5)
        assert np.sqrt(np.mean((predicted - test.values) ** 2)) < 0.88 * mean


def test_the_printed_epsilon_of_algorithm_2():
    """eps = 1, c = 2: n = 20, Lambda = .1: -.386, hence .5 and Delta = .252; n = 20, 1: .809."""
    law = objective_law(1.0, np.array([20.0, 100.0]), 0.1)
    assert law.epsilon == pytest.approx([0.5, 0.635], abs=1e-3)
    assert law.extra == pytest.approx([0.252, 0.0], abs=1e-3)
    assert objective_law(1.0, np.array([20.0]), 1.0).epsilon == pytest.approx([0.809], abs=1e-3)
    assert objective_law(1.0, np.array([500.0]), 0.02).epsilon == pytest.approx([0.635], abs=1e-3)


def test_the_true_loss_of_algorithm_2_is_up_to_four_times_its_claim():
    found = objective_loss(1.0, np.array([20.0, 100.0, 500.0, 3000.0]), 0.1, 1.0, 4.0)
    assert found == pytest.approx([1.99, 2.54, 3.69, 3.95], abs=0.02)


def test_the_loss_is_reached_by_two_densities():
    """b moves by 2 q Dr between neighbours; its density falls by exactly e^(epsilon' Dr |q|)."""
    q, width = np.array([0.6, -0.8]), 4.0
    law = objective_law(1.0, np.array([100.0]), 0.1)
    b = 30 * q
    ratio = -law.epsilon[0] / 2 * (np.linalg.norm(b) - np.linalg.norm(b + 2 * width * q))
    assert ratio == pytest.approx(objective_loss(1.0, np.array([100.0]), 0.1, 1.0, width)[0])


def test_the_printed_sensitivity_is_enough_and_more_than_is_needed():
    held = np.array([0.05, 0.5, 5.0])
    printed, needed = output_sensitivity(4.0, 1.0, held), ridge_sensitivities(4.0, 1.0, held)
    assert (printed >= needed).all()
    assert needed == pytest.approx([ridge_sensitivity(4.0, 1.0, h) for h in held])


def test_raw_levels_are_damped_means_by_hand(ratings):
    data = integer_ratings(ratings)
    found = raw_levels(data, SecretReleases())
    stars = ratings.values - 3.0
    assert found.mean == pytest.approx(stars.mean())
    item = ratings.items[0]
    mine = stars[ratings.items == item] - stars.mean()
    assert found.items[item] == pytest.approx(mine.sum() / (25 + len(mine)), abs=1e-5)


class Silent(SecretReleases):
    """Adds nothing, and keeps what went in."""

    def vectors(self, name, rows, *, sensitivity, epsilon):
        self.__dict__.setdefault("given", {})[name] = rows
        return super().vectors(name, rows, sensitivity=sensitivity, epsilon=epsilon) * 0 + rows


def by_loops(ratings, *, epsilon, all_n, y):
    """One round's rows of people by Algorithm 2 without its noise, and what noise is added to, in
    steps; q and y as they start. `y` (items, K)."""
    stars, ridge = ratings.values - 3.0, 0.05
    mu, K = stars.mean(), y.shape[1]
    data = integer_ratings(ratings)
    raw = raw_levels(data, SecretReleases())
    q = random_start(data.layout, K, implicit=False, rng=0).q
    rows, noised = np.zeros((ratings.n_users, K)), np.zeros((ratings.n_users, K))
    for u in np.unique(ratings.users):
        mine = ratings.users == u
        rated, n = ratings.items[mine], mine.sum()
        left = stars[mine] - mu - raw.people[u] - raw.items[rated]
        z = y[rated].sum(0) / np.sqrt(n)
        law = objective_law(epsilon, np.array([float(len(ratings) if all_n else n)]), 2 * ridge)
        extra = (len(ratings) if all_n else n) * law.extra[0] / 2
        A = q[rated].T @ q[rated]
        pull = q[rated].T @ left
        noised[u] = pull * 2**20 * law.epsilon[0] / epsilon
        p = np.linalg.solve(A + (ridge * n + extra) * np.eye(K), pull - A @ z)
        rows[u] = z + p * min(1, 10 / max(np.linalg.norm(p), 1e-9))
    return rows, noised


@pytest.mark.parametrize("epsilon", [0.01, 10.0])
@pytest.mark.parametrize("changes", [{}, {"count": "all"}, {"count": "own"}])
def test_the_n_of_algorithm_2_is_that_of_all_ratings_unless_asked(ratings, changes, epsilon):
    method = replace(METHODS["dpsaobj"], factors=2, rounds=1, **changes)
    silent = Silent()
    fitted = method.fit(ratings, epsilon=str(2 * epsilon), releases=silent)
    all_n = changes.get("count", "all") == "all"
    y = np.zeros((ratings.n_items, 2))
    rows, noised = by_loops(ratings, epsilon=epsilon, all_n=all_n, y=y)
    assert silent.given["people, round 0"] == pytest.approx(noised, rel=1e-6, abs=1)
    assert fitted.people[0][:, 1:] == pytest.approx(rows, rel=1e-3, abs=1e-5)


def test_y_may_be_a_raw_mean_of_what_is_left(ratings):
    data = integer_ratings(ratings)
    raw = raw_levels(data, SecretReleases())
    y = np.zeros((ratings.n_items, 2))
    for j in np.unique(ratings.items):
        who = ratings.users[ratings.items == j]
        left = ratings.values[ratings.items == j] - 3 - raw.mean - raw.people[who] - raw.items[j]
        y[j] = left.sum() / (25 + len(who)) / np.sqrt(2)
    assert mean_factors(data, raw, 2, SecretReleases()) == pytest.approx(y, abs=1e-6)
    method = replace(METHODS["dpsaobj++"], factors=2, rounds=1, y="mean")
    rows, _ = by_loops(ratings, epsilon=10.0, all_n=True, y=y)
    fitted = method.fit(ratings, epsilon="20", releases=Silent())
    assert fitted.people[0][:, 1:] == pytest.approx(rows, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", ["dpss++", "dpsaobj++", "dpsaout++"])
def test_a_raw_mean_is_found_by_the_replay_and_named_in_the_claim(name, ratings):
    method = replace(quick(name), y="mean")
    found = replay(partial(trained, method), ratings, changed(ratings, 9), SecretReleases())
    assert "raw implicit means" in " ".join(found)
    assert "y is too" in method.guarantee("3").sentence


def test_a_solve_is_a_ridge_regression():
    chance = np.random.default_rng(1)
    squares = np.stack([(q := chance.normal(size=(6, 3))).T @ q for _ in range(4)])
    right, held = chance.normal(size=(4, 3)), np.array([0.1, 1, 5, 20.0])
    expected = [
        np.linalg.solve(A + h * np.eye(3), b) for A, b, h in zip(squares, right, held, strict=True)
    ]
    assert solved(squares, right, held) == pytest.approx(np.array(expected))


def test_budgets_are_split_downwards():
    assert share("1", 3) == "0.333333333333333"
    for wrong in ("0", "-1", "x", "inf"):
        with pytest.raises(RequestError, match="must be a positive decimal"):
            share(wrong, 2)
    with pytest.raises(RequestError, match="too small to split"):
        share("0.000000000000001", 10)


def test_modes_are_those_that_exist():
    assert modes("dpsaobj", "both") == ("strict", "faithful")
    assert modes("dpsaobj", "faithful") == ("faithful",)
    assert modes("psgd", "faithful") == ("strict",)
    assert modes("mf") == ()
    assert training("dpss", "faithful").name == training("dpss").name == "dpss"
