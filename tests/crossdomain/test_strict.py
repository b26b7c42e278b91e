"""Strict X-Map: what is released, and that nothing else depends on anybody."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.replay import replay
from tacit.crossdomain import StrictMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.engines.local import Local
from tacit.models import device_predict
from tacit.readers import from_frame, synthetic
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism.noisy_releases import SecretReleases

TRAININGS = [DPALS(factors=1, steps=2), DPCovariance(factors=1)]


def released(training):
    """A training on the domains, with who links them counted inside it."""

    def trained(domains, releases):
        links = np.zeros(domains.ratings.n_users, np.bool_)
        links[domains.straddlers(1)] = True
        fitted = training.fit(domains.ratings, epsilon="8", releases=releases, links=links)
        return fitted.mu, fitted.items

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


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.name)
@pytest.mark.parametrize("seed", range(4))
def test_another_profile_stays_within_the_declared_sensitivities(domains, training, seed):
    assert replay(released(training), domains, neighbour(domains, seed), SecretReleases()) == []


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
    assert spent[0.0] == "4 noisy totals"
    assert spent[1.0] != spent[0.0]


def test_a_strict_system_is_told_its_delta():
    assert changed(StrictMap(training=DPALS()), delta="1e-9").delta == "1e-9"


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.name)
def test_a_device_says_the_median_of_what_it_expects(trial, training, monkeypatch):
    """The level in whose cell the mean is: half of the law lies on either side of it."""
    kept = []
    fit = type(training).fit

    def noting(*given, **named):
        kept.append(fit(*given, **named))
        return kept[-1]

    monkeypatch.setattr(type(training), "fit", noting)
    system = StrictMap(training=training)
    told = system.predict(trial, engine=Local(), epsilon="8").predicted.values
    (fitted,) = kept
    ratings = trial.domains.ratings
    means = device_predict(fitted, ratings, trial.users, trial.items)
    inside = np.abs(means % 1 - 0.5) > 1e-4
    assert inside.mean() > 0.9
    assert told[inside] == pytest.approx(np.clip(np.rint(means[inside]), 1, 5))
