"""dpals: nothing but declared totals leaves, planted leaks are found, and it learns."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.replay import Recorder, Replayer, replay
from tacit.errors import RequestError
from tacit.models import device_predict, item_model
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.training.mechanism import contributions
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.person import dpals, item_means, release_schedule
from tacit.training.person.dpals import DPALS

SMALL = synthetic(n_users=60, n_items=50, n_ratings=1300, rng=2)


def training(ratings, releases, settings=None):
    """All that leaves; at so large an epsilon few people make items rated enough for factors."""
    plan = settings or DPALS(factors=2, steps=2)
    fitted = plan.fit(ratings, epsilon="300", releases=releases)
    return [fitted.mu, fitted.items, fitted.precision]


def without(ratings: Ratings, person: int) -> Ratings:
    return ratings.where(ratings.users != person)


def replaced(ratings: Ratings, person: int, chance: np.random.Generator) -> Ratings:
    """Somebody else under the same id: other items, other levels, another number of them."""
    few = without(ratings, person)
    n = int(chance.integers(1, ratings.n_items))
    items = chance.permutation(ratings.n_items)[:n].astype(np.int32)
    levels = chance.integers(0, ratings.scale.n_levels, n).astype(ratings.levels.dtype)
    return Ratings(
        np.r_[few.users, np.full(n, person, np.int32)],
        np.r_[few.items, items],
        np.r_[few.levels, levels],
        ratings.scale,
        ratings.user_ids,
        ratings.item_ids,
    )


def neighbours(count: int, seed: int = 0) -> list[tuple[Ratings, Ratings]]:
    """Pairs of every kind: replaced, removed, one rating fewer, one level changed."""
    chance, pairs = np.random.default_rng(seed), []
    for number in range(count):
        person = int(chance.integers(SMALL.n_users))
        row = int(chance.integers(len(SMALL)))
        levels = SMALL.levels.copy()
        levels[row] = (levels[row] + 2) % SMALL.scale.n_levels
        pairs.append(
            [
                (SMALL, replaced(SMALL, person, chance)),
                (SMALL, without(SMALL, person)),
                (SMALL, SMALL.where(np.arange(len(SMALL)) != row)),
                (SMALL, replace(SMALL, levels=levels, times=None)),
            ][number % 4]
        )
    return pairs


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.long)])
def test_nothing_undeclared_leaves_on_any_neighbour(count):
    for one, other in neighbours(count):
        assert replay(training, one, other, SecretReleases()) == []
        assert replay(training, other, one, SecretReleases()) == []


def found(monkeypatch, where, name, bug, run=training):
    monkeypatch.setattr(where, name, bug)
    return " ".join(
        sentence
        for one, other in neighbours(2, seed=1)
        for sentence in replay(run, one, other, SecretReleases())
    )


def test_a_forgotten_clip_is_found(monkeypatch):
    monkeypatch.setattr(
        contributions, "weights", lambda canonical, wanted, labels, bound: labels**0
    )
    loose = found(
        monkeypatch,
        contributions,
        "rounded",
        lambda amounts, owner, owners, bound: np.rint(amounts * bound).astype(np.int32),
    )
    assert "counts: its input changed by" in loose


def test_raw_means_are_found(monkeypatch):
    def raw(canonical, known, account, cross_domain):
        item_means.item_means(canonical, known, account, cross_domain)
        return np.bincount(canonical.item, canonical.values, len(canonical.items.start) - 1)

    assert "they depend directly on the ratings" in found(monkeypatch, dpals, "item_means", raw)


def test_raw_counts_are_found(monkeypatch):
    def raw(canonical, account, cross_domain):
        known = item_means.counted(canonical, account, cross_domain)
        counts = np.maximum(canonical.items.counts.astype(float), 1)
        return replace(known, weights=counts)

    assert found(monkeypatch, release_schedule, "counted", raw)


def test_stopping_by_the_data_is_found(monkeypatch):
    def curious(ratings, releases):
        steps = 1 + int(ratings.levels.sum(dtype=np.int64)) % 2
        return training(ratings, releases, DPALS(factors=2, steps=steps))

    pairs = neighbours(8, seed=2)
    assert any(replay(curious, one, other, SecretReleases()) for one, other in pairs)


def test_a_bound_by_the_data_is_found(monkeypatch):
    def widest(canonical):
        return float(np.abs(canonical.values).max() + 1e-3 * len(canonical.values))

    assert "they depend directly on the ratings" in found(monkeypatch, item_means, "_bound", widest)


def test_a_division_by_the_number_of_ratings_is_found(monkeypatch):
    def shared(grid):
        return 2 * grid.weights * grid.rows // SMALL.n_users

    assert "pull 0: its input changed" in found(
        monkeypatch, contributions, "any_sensitivity", shared
    )


def test_totals_do_not_depend_on_the_order_of_rows():
    first = Recorder(SecretReleases())
    one = training(SMALL, first)
    order = np.random.default_rng(0).permutation(len(SMALL))
    mixed = replace(
        SMALL,
        users=SMALL.users[order],
        items=SMALL.items[order],
        levels=SMALL.levels[order],
        times=None,
    )
    again = Recorder(Replayer(first.looks))
    two = training(mixed, again)
    assert [look.name for look in first.looks] == [look.name for look in again.looks]
    for look, other in zip(first.looks, again.looks, strict=True):
        assert look.given.tobytes() == other.given.tobytes()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


def test_the_totals_are_the_sums_of_the_paper(monkeypatch):
    recorder = Recorder(SecretReleases())
    seen = []
    pull = dpals.Head._pull

    def watched(self, labels, fit, name, account):
        seen.append((self, fit))
        return pull(self, labels, fit, name, account)

    monkeypatch.setattr(dpals.Head, "_pull", watched)
    training(SMALL, recorder)
    head, fit = seen[0]
    canonical, looks = head.canonical, {look.name: look for look in recorder.looks}
    A, h = np.zeros((len(head.means), 2, 2)), np.zeros((len(head.means), 2))
    for person in range(canonical.people):
        mine = np.flatnonzero(canonical.person == person)
        met = fit.row[mine]
        labels = (
            canonical.values[mine] - head.mu - head.means[canonical.item[mine]] - fit.levels[met]
        )
        s, most = head.wanted[canonical.item[mine]], item_means.LABELS * canonical.half
        s = s / np.sqrt(max((s**2).sum(), ((s * labels) ** 2).sum() / most**2))
        for weight, label, item, row in zip(s, labels, canonical.item[mine], met, strict=True):
            A[item] += weight * np.outer(fit.rows[row], fit.rows[row])
            h[item] += weight * label / most * fit.rows[row]
    grid = contributions.grid(float(looks["gram 0"].price))
    told = contributions.unpacked(looks["gram 0"].given / (grid.weights * grid.rows))
    assert np.abs(told - A).max() < 0.02 * np.abs(A).max()
    grid = contributions.grid(float(looks["pull 0"].price))
    told = looks["pull 0"].given / (grid.weights * grid.rows)
    assert np.abs(told - h).max() < 0.02 * np.abs(h).max()


def rmse(fitted, own, test):
    values = device_predict(fitted, own, test.users, test.items)
    return float(np.sqrt(np.mean((np.clip(values, 1, 5) - test.values) ** 2)))


def test_it_learns_tastes_where_the_budget_bears_them_and_means_where_not():
    ratings = synthetic(n_users=400, n_items=300, n_ratings=60_000, rng=3)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    own, test = ratings.where(~held), ratings.where(held)

    def fit(epsilon, **settings):
        return DPALS(**settings).fit(own, epsilon=epsilon)

    assert fit("1").items.shape[2] == 1
    rich, plain = fit("900"), fit("900", factors=0)
    assert rich.items.shape[2] > 1
    assert rmse(rich, own, test) < rmse(plain, own, test) - 0.01
    assert rmse(plain, own, test) < rmse(fit("0.01", factors=0), own, test) - 0.03
    assert not rich.people.any()
    assert len(item_model(rich).to_bytes()) > rich.items.nbytes


def test_the_promise_is_said_in_full():
    promise = DPALS().fit(SMALL, epsilon="2.50", delta="1e-5").guarantee
    assert promise.sentence.startswith(
        "Epsilon = 2.5 per user, delta = 1e-5, trusting the curator: "
        "releasing 4 noisy totals protects"
    )
    assert not promise.exact
    assert any("one user's complete profile" in words for words in promise.assumptions)


def test_what_cannot_be_trained_is_refused():
    for settings in ({"steps": 0}, {"factors": -1}):
        with pytest.raises(RequestError, match="steps must be at least 1"):
            DPALS(**settings)
    with pytest.raises(RequestError, match="delta must be between 0 and 1"):
        DPALS().fit(SMALL, epsilon="1", delta="0")
