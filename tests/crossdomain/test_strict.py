"""Strict X-Map: what is released, and that nothing else depends on anybody."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.replay import Recorder, replay
from tacit.crossdomain import StrictMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.strict import bin_edges
from tacit.engines.engine import Local
from tacit.models import device_predict
from tacit.readers import from_frame, synthetic
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism import contributions
from tacit.training.mechanism.noisy_releases import SecretReleases

TRAININGS = [DPALS(factors=1, steps=2), DPCovariance(factors=1)]


def released(training):
    """All that leaves: who links the domains is counted inside it."""

    def trained(domains, releases):
        nobody = np.empty(0, np.int32)
        trial = Trial(domains, 1, nobody, nobody, nobody)
        fitted, cuts = StrictMap(training=training).release(trial, "8", releases)
        return fitted.mu, fitted.items, cuts

    return trained


def neighbour(domains, seed):
    """The same people, one of whom now has another's profile, or none."""
    chance = np.random.default_rng(seed)
    ratings = domains.ratings
    person, other = chance.choice(np.unique(ratings.users), 2, replace=False)
    kept = np.flatnonzero(ratings.users != person)
    copied = np.flatnonzero(ratings.users == other) if seed % 2 else np.zeros(0, int)
    rows = np.concatenate([kept, copied])
    users = np.concatenate([ratings.users[kept], np.full(len(copied), person, np.int32)])
    told = {"items": ratings.items[rows], "levels": ratings.levels[rows]}
    return replace(domains, ratings=replace(ratings, users=users, times=None, **told))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.name)
@pytest.mark.parametrize("seed", range(4))
def test_another_profile_stays_within_the_declared_sensitivities(domains, training, seed):
    assert replay(released(training), domains, neighbour(domains, seed), SecretReleases()) == []


def test_scores_that_are_not_bounded_are_found(domains, monkeypatch):
    monkeypatch.setattr(
        contributions, "rounded", lambda amounts, *rest: np.rint(9e5 * amounts).astype(np.int32)
    )
    trained = released(DPALS(factors=0))
    found = (
        sentence
        for seed in range(30)  # a third of them change ratings of both domains
        for sentence in replay(trained, domains, neighbour(domains, seed), SecretReleases())
    )
    assert any("cuts: its input changed by" in sentence for sentence in found)


def test_the_table_counts_target_ratings_by_scores_of_source_ratings_alone(domains):
    """One person at a time, each on a device that knows their source ratings only."""
    looks = Recorder(SecretReleases())
    fitted, _ = released_map(domains, looks)
    told = next(look.given for look in looks.looks if look.name == "cuts")
    edges, expected = bin_edges(fitted.levels), np.zeros(told.shape)
    ratings, target = domains.ratings, domains.rows(1)
    for person in domains.straddlers(1):
        mine = ratings.users == person
        theirs = ratings.where(mine & target)
        scores = device_predict(fitted, ratings.where(mine & ~target), theirs.users, theirs.items)
        cells = np.zeros(told.shape)
        np.add.at(cells, (np.searchsorted(edges, scores, side="right"), theirs.levels), 1.0)
        expected += cells / np.linalg.norm(cells)
    share = told / told.sum()
    assert np.abs(share - expected / expected.sum()).max() < 1e-3


def released_map(domains, releases):
    nobody = np.empty(0, np.int32)
    trial = Trial(domains, 1, nobody, nobody, nobody)
    return StrictMap(training=DPALS(factors=0)).release(trial, "8", releases)


def test_a_prediction_is_a_median_and_lists_rank_by_score_within_it(hidden):
    told = StrictMap(training=DPALS(factors=0)).predict(hidden.trial, engine=Local(), epsilon="50")
    values = told.predicted.values
    below = np.rint(values) - values
    assert (np.abs(below) < 1e-5).all()
    assert (below >= -1e-12).all()
    assert len(np.unique(values)) > 5


def test_a_scale_of_many_levels_gets_means():
    frames = [synthetic(40, 60, 900, rng=seed).to_polars() for seed in (0, 1)]
    domains = Domains.join(
        [from_frame(f, scale="1:5:0.1", name=n) for f, n in zip(frames, "ab", strict=True)]
    )
    looks = Recorder(SecretReleases())
    assert len(released_map(domains, looks)[1]) == 0
    assert "cuts" not in [look.name for look in looks.looks]


def test_a_raw_count_of_links_is_found(domains):
    def raw(data, releases):
        return [releases.public("links", len(data.straddlers(1)))]

    alone = domains.where(domains.ratings.users != domains.straddlers(1)[0])
    assert replay(raw, domains, alone, SecretReleases())


def test_few_links_buy_no_factors():
    """Many ratings, but nobody who joins the domains: the means get the whole budget."""
    parts = [
        from_frame(synthetic(900, 60, 20_000, rng=seed).to_polars(), scale="1:5:1", name=name)
        for seed, name in ((0, "books"), (1, "films"))
    ]
    domains = Domains.join(parts)
    system = StrictMap(training=DPALS())
    spent = {}
    for overlap in (1.0, 0.0):
        trial = Holdout(overlap=overlap).hide(domains, 1, seed=0).trial
        told = system.predict(trial, engine=Local(), epsilon="60")
        spent[overlap] = told.guarantee.released
    assert spent[0.0] == "6 noisy totals"
    assert spent[1.0] != spent[0.0]


def test_a_strict_system_is_told_its_delta():
    assert changed(StrictMap(training=DPALS()), delta="1e-9").delta == "1e-9"
