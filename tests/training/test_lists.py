"""Trainings of lists: what leaves is bounded for one person; lists follow tastes beyond noise."""

from dataclasses import replace

import numpy as np
import pytest
from lists_world import world
from scipy.sparse import csr_array

from tacit import fit
from tacit.audit.replay import Recorder, replay
from tacit.errors import CertificateError, RequestError
from tacit.metrics.lists import list_figures
from tacit.models.lists.denoised import spectrum
from tacit.models.lists.ease_solution import LowRankSolution
from tacit.readers import synthetic
from tacit.training import DPEase, DPPopularity, list_training
from tacit.training import lists as ease
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.person import head_weights
from tacit.training.person.noisy_counts import NoisyCounts, even_weights, noisy_counts

CHANCE = np.random.default_rng(8)
PEOPLE, ITEMS = 700, 120
OWN = world(CHANCE.random((PEOPLE, ITEMS)) < np.linspace(0.4, 0.05, ITEMS))


def learnt(ratings, releases):
    fitted = DPEase().fit(ratings, epsilon="30", releases=releases)
    return [fitted.weights.popularity, fitted.weights.scores(csr_array(np.eye(ITEMS)))]


def pairs(count):
    """A person removed, an item fewer, and everything in the place of what they had, in turn."""
    for number in range(count):
        row = int(CHANCE.integers(len(OWN)))
        person = OWN.users == OWN.users[row]
        table = np.zeros((PEOPLE, ITEMS), bool)
        table[OWN.users, OWN.items] = True
        table[OWN.users[row]] = ~table[OWN.users[row]]
        yield [OWN.where(~person), OWN.where(np.arange(len(OWN)) != row), world(table)][number % 3]


@pytest.mark.parametrize("count", [3, pytest.param(60, marks=pytest.mark.long)])
def test_nothing_undeclared_leaves_on_any_neighbour(count):
    recorder = Recorder(SecretReleases())
    learnt(OWN, recorder)
    assert [look.name for look in recorder.looks] == ["counts", "pairs"]
    for other in pairs(count):
        assert replay(learnt, OWN, other, SecretReleases()) == []
        assert replay(learnt, other, OWN, SecretReleases()) == []


def test_items_that_are_not_weighed_are_found(monkeypatch):
    """One item a vote, however many somebody has: their votes have a norm above 1."""
    rounded = ease.contributions.rounded
    monkeypatch.setattr(
        ease.contributions,
        "rounded",
        lambda amounts, owner, owners, bound: 3 * rounded(amounts, owner, owners, bound),
    )
    found = " ".join(s for other in pairs(3) for s in replay(learnt, OWN, other, SecretReleases()))
    assert "counts: its input changed by" in found
    assert "pairs: its input changed by" in found


def test_a_training_that_spends_more_than_it_says_ends(monkeypatch):
    allot = Account.allot
    monkeypatch.setattr(
        Account, "allot", lambda self, shares: allot(self, {k: 1.2 * v for k, v in shares.items()})
    )
    for member in (DPEase(), DPPopularity()):
        with pytest.raises(CertificateError, match=r"with a total of 1\.2"):
            member.fit(OWN, epsilon="30")


def test_counts_are_those_of_a_loop_and_their_noise_is_as_large_as_said():
    """At epsilon 3: the deviation over 120 items within a third (5 sd), none of them 5 sd away."""
    canonical = CanonicalRatings.of(OWN)
    account = Account("3", "1e-6", SecretReleases())
    account.allot({"counts": 1.0})
    found = noisy_counts("counts", canonical, even_weights(canonical), account)
    expected = np.zeros(ITEMS)
    for person in range(PEOPLE):
        mine = OWN.items[OWN.users == person]
        expected[mine] += len(mine) ** -0.5
    apart = found.values - expected
    assert apart.std() == pytest.approx(found.noise, rel=0.33)
    assert abs(apart).max() < 5 * found.noise


def test_two_releases_of_counts_are_weighed_by_how_certain_they_are():
    both = NoisyCounts(np.array([1.0]), 1.0).with_another(NoisyCounts(np.array([4.0]), 2**-0.5))
    assert both.values == pytest.approx([3])
    assert both.noise == pytest.approx(3**-0.5)


def test_at_a_large_epsilon_it_is_ease_of_people_of_norm_one(monkeypatch):
    """What goes into EASE beside a naive twin, to three hundredths of the largest entry."""
    moments, ridges = [], []
    monkeypatch.setattr(
        head_weights,
        "spectrum",
        lambda gram, edge: moments.append((gram, edge)) or spectrum(gram, edge),
    )
    solve = LowRankSolution.of
    monkeypatch.setattr(
        LowRankSolution, "of", lambda factors, ridge: ridges.append(ridge) or solve(factors, ridge)
    )
    DPEase().fit(OWN, epsilon="2000")
    table = np.zeros((PEOPLE, ITEMS))
    table[OWN.users, OWN.items] = 1
    x = table / np.linalg.norm(table, axis=1)[:, None]
    off = ~np.eye(ITEMS, dtype=bool)
    gram, counts = x.T @ x, x.sum(0)
    ((noisy, edge),), (ridge,) = moments, ridges
    assert abs(noisy - gram)[off].max() < 0.03 * gram[off].max()
    # At most a quarter of the edge of an item's square is on the diagonal, the rest in its ridge.
    squares = counts * PEOPLE / counts.sum()
    retained = np.diag(noisy)
    assert retained == pytest.approx(np.minimum(squares, 0.25 * edge), rel=0.06)
    assert (retained == 0.25 * edge).any()
    assert retained + ridge == pytest.approx(squares + 0.5 * edge, rel=0.06)


def test_the_edge_is_that_of_the_noise():
    """2 z sqrt(n), and what people add by chance; the noise's deviation within a twentieth."""
    account = Account("1", "1e-6", SecretReleases())
    account.allot({"pairs": 1.0})
    pairs, edge = ease._pairs(CanonicalRatings.of(OWN), ITEMS, account)
    drawn = np.hypot(account.alone, np.sqrt(PEOPLE) / ITEMS)
    assert edge == pytest.approx(2 * drawn * np.sqrt(ITEMS))
    table = np.zeros((PEOPLE, ITEMS))
    table[OWN.users, OWN.items] = 1
    x = table / np.linalg.norm(table, axis=1)[:, None]
    noise = (pairs - x.T @ x)[np.triu_indices(ITEMS, 1)]
    assert noise.std() == pytest.approx(account.alone, rel=0.05)


def test_lists_follow_tastes_where_the_budget_lets_them_and_counts_where_not():
    """Of six data sets the ratio is 1.13 in the mean, with a deviation of .02."""
    data = synthetic(4000, 300, 160_000, "there", rng=1)
    held = np.random.default_rng(0).random(len(data)) < 0.2
    own, test = data.where(~held), data.where(held)
    counts = np.bincount(own.items, minlength=own.n_items)

    def ndcg(name, epsilon):
        lists = fit(name, own, epsilon=epsilon).lists(own, 20)
        return list_figures(lists, test.users, test.items, counts).ndcg

    assert ndcg("dp-ease", "30") > 1.04 * ndcg("dp-popularity", "30")
    few = fit("dp-ease", own, epsilon="0.2")
    assert few.weights.directions is None
    assert fit("dp-ease", own, epsilon="10").weights.directions is not None


def test_without_a_device_everybody_gets_what_is_popular():
    fitted = fit("dp-ease", OWN, epsilon="10")
    nothing = OWN.where(np.zeros(len(OWN), bool))
    lists = fitted.lists(nothing, 5, where="provider")
    popular = np.argsort(-fitted.weights.popularity, kind="stable")[:5]
    assert (lists == popular).all()


def test_ratings_are_interactions_whatever_their_level():
    stars = synthetic(60, 50, 1300, rng=2)
    turned = replace(stars, levels=(4 - stars.levels).astype(stars.levels.dtype))
    recorder = Recorder(SecretReleases())
    DPPopularity().fit(stars, epsilon="1", releases=recorder)
    again = Recorder(SecretReleases())
    DPPopularity().fit(turned, epsilon="1", releases=again)
    assert (recorder.looks[0].given == again.looks[0].given).all()


def test_settings_that_tell_nothing_are_refused():
    for settings in ({"most_items": 1}, {"counts": 1.0}, {"clear": 0.0}, {"ridge": -1.0}):
        with pytest.raises(RequestError, match="most_items must be at least 2"):
            DPEase(**settings)
    with pytest.raises(RequestError, match=r"trainer must be one of .*, got 'ease'"):
        list_training("ease")
    with pytest.raises(RequestError, match="no setting 'factors'"):
        list_training("dp-ease", factors=3)
