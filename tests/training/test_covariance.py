"""dp-covariance: one bounded product of every two items, replayed; what it finds in the noise."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tacit.audit.replay import Recorder, replay
from tacit.errors import RequestError
from tacit.models import device_predict
from tacit.readers import synthetic
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.person import covariance
from tacit.training.person.covariance import DPCovariance, most_rated, products
from tacit.training.person.release_schedule import first_releases

CHANCE = np.random.default_rng(6)
SMALL = synthetic(n_users=60, n_items=50, n_ratings=1300, rng=2)


def training(ratings, releases):
    fitted = DPCovariance(factors=2).fit(ratings, epsilon="300", releases=releases)
    return [fitted.mu, fitted.items, fitted.precision]


def pairs(count):
    """A person removed, a rating fewer, a level changed, in turn."""
    for number in range(count):
        row = int(CHANCE.integers(len(SMALL)))
        levels = SMALL.levels.copy()
        levels[row] = (levels[row] + 2) % SMALL.scale.n_levels
        flipped = np.where(SMALL.users == SMALL.users[row], 4 - SMALL.levels, SMALL.levels)
        yield [
            SMALL.where(SMALL.users != SMALL.users[row]),
            SMALL.where(np.arange(len(SMALL)) != row),
            replace(SMALL, levels=levels),
            replace(SMALL, levels=flipped.astype(levels.dtype)),
        ][number % 4]


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.long)])
def test_nothing_undeclared_leaves_on_any_neighbour(count):
    recorder = Recorder(SecretReleases())
    training(SMALL, recorder)
    names = [look.name for look in recorder.looks]
    assert names == ["level", "counts", "rough means", "means", "covariance"]
    for other in pairs(count):
        assert replay(training, SMALL, other, SecretReleases()) == []
        assert replay(training, other, SMALL, SecretReleases()) == []


def test_products_that_are_not_bounded_are_found(monkeypatch):
    monkeypatch.setattr(
        covariance, "products", lambda canonical, steps, n: products(canonical, 9 * steps, n)
    )
    found = " ".join(
        s for other in pairs(4) for s in replay(training, SMALL, other, SecretReleases())
    )
    assert "covariance: its input changed by" in found


def test_two_people_are_at_most_one_apart():
    farthest = 0.0
    for _ in range(500):
        x, y = CHANCE.standard_normal((2, 7)) * (CHANCE.random((2, 7)) < CHANCE.random())
        above = np.triu_indices(7, 1)
        x, y = (v / max(np.linalg.norm(v), 1e-9) for v in (x, y))
        apart = np.outer(x, x)[above] - np.outer(y, y)[above]
        farthest = max(farthest, float(np.linalg.norm(apart)))
    assert farthest <= 1
    spread = np.full(400, 0.05)
    signs = np.where(np.arange(400) % 2, 1, -1) * spread
    above = np.triu_indices(400, 1)
    apart = np.outer(spread, spread)[above] - np.outer(signs, signs)[above]
    assert np.linalg.norm(apart) > 0.99  # so no smaller sensitivity holds


def test_products_are_those_of_a_loop():
    canonical = CanonicalRatings.of(SMALL)
    steps = CHANCE.integers(-99, 99, len(SMALL)).astype(np.int32)
    expected = np.zeros((50, 50), object)
    for person in range(canonical.people):
        mine = np.flatnonzero(canonical.person == person)
        for a in mine:
            for b in mine:
                expected[canonical.item[a], canonical.item[b]] += int(steps[a]) * int(steps[b])
    assert products(canonical, steps, 50).tolist() == expected.tolist()


def test_it_learns_tastes_at_a_large_epsilon_and_means_at_a_small_one():
    ratings = synthetic(n_users=400, n_items=300, n_ratings=60_000, rng=3)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    own, test = ratings.where(~held), ratings.where(held)

    def error(epsilon, **settings):
        fitted = DPCovariance(**settings).fit(own, epsilon=epsilon)
        values = device_predict(fitted, own, test.users, test.items)
        return float(np.sqrt(np.mean((np.clip(values, 1, 5) - test.values) ** 2)))

    assert error("900") < error("900", factors=0) - 0.01
    assert error("900", factors=0) < error("0.01") - 0.03


def test_the_most_rated_are_chosen_and_settings_that_make_no_sense_refused():
    assert most_rated(np.array([1.0, 3, 2, 3]), 2).tolist() == [False, True, False, True]
    for settings in ({"most_items": 1}, {"factors": -1}):
        with pytest.raises(RequestError, match="most_items must be at least 2"):
            DPCovariance(**settings)


def test_a_budget_that_bears_more_tastes_has_them(monkeypatch):
    """As many as the schedule's, and never fewer than `TASTES` where there are any."""
    widths = {}
    for planned in (0, 1, 9):
        schedule = partial(replace, factors=planned)
        monkeypatch.setattr(
            covariance,
            "first_releases",
            lambda *a, schedule=schedule, **b: (found := first_releases(*a, **b))._replace(
                schedule=schedule(found.schedule)
            ),
        )
        widths[planned] = DPCovariance().fit(SMALL, epsilon="300").items.shape[2] - 1
    assert widths == {0: 0, 1: covariance.TASTES, 9: 9}
