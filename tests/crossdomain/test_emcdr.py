"""emcdr: factors per domain, and a map fitted on straddlers, against loops."""

import numpy as np
import pytest

from tacit.crossdomain import EMCDR
from tacit.crossdomain.systems.emcdr import linear_map
from tacit.crossdomain.systems.item_means import alone
from tacit.engines.local import Local
from tacit.models import MF, evidence

MODEL, RIDGE = MF(factors=2, ridge=3.0), 4.0


def naive(trial):
    """The map by descent, one straddler at a time; then each asked rating by itself."""
    domains, target = trial.domains, trial.target
    source = MODEL.fit(evidence(domains.where(~trial.in_target).ratings)).people[0]
    there = MODEL.fit(evidence(alone(domains, target)))
    first, people = domains.bounds[target], there.people[0]
    straddling = [int(u) for u in domains.straddlers(target)]
    scale = np.mean([float(source[u, c]) ** 2 for u in straddling for c in range(3)])
    M = np.zeros((4, 3))
    for _ in range(4000):
        slope = np.zeros((4, 3))
        for u in straddling:
            row = np.array([1.0, *source[u]])
            slope += np.outer(row, row @ M - people[u])
        slope[1:] += RIDGE * scale * M[1:]
        M -= 0.02 * slope
    told = []
    for u, i in zip(trial.users, trial.items, strict=True):
        row = np.array([1.0, *source[u]]) @ M
        item = there.items[0][i - first]
        told.append(float(there.mu[0]) + row[0] + item[0] + row[1:] @ item[1:])
    return told


def test_it_is_its_naive_twin(trial):
    system = EMCDR(model=MODEL, ridge=RIDGE)
    found = system.predict(trial, engine=Local(), epsilon=None).predicted.values
    assert found == pytest.approx(naive(trial), abs=1e-4)


def test_a_map_that_is_linear_is_found_and_a_ridge_draws_it_to_the_constant():
    chance = np.random.default_rng(0)
    source, true = chance.standard_normal((200, 3)), chance.standard_normal((4, 2))
    target = np.insert(source, 0, 1.0, axis=1) @ true
    assert linear_map(source, target, 0.0) == pytest.approx(true)
    held = linear_map(source, target, 1e9)
    assert held[0] == pytest.approx(target.mean(0))
    assert abs(held[1:]).max() < 1e-6
