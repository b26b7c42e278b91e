"""All answers of a user to a chain reveal no more than their bounds, and a fault is detected."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from lists_world import world as table_of

from tacit.audit.attacks.chains.at_limit import (
    ChainLinkage,
    PoolInference,
    answers,
    pools,
    preferences,
)
from tacit.audit.attacks.chains.thin_block import ThinBlock, estimator
from tacit.audit.attacks.world import World
from tacit.channels import compile_channel
from tacit.collection import named_plans
from tacit.errors import RequestError
from tacit.scale import RatingScale


@pytest.fixture(scope="module")
def tastes():
    """Users with one of two tastes, of 40 items each: who rated what.

    With half of 4,000 users in a group, an area has a standard error of at most .013.
    """
    chance = np.random.default_rng(2)
    taste = chance.integers(0, 2, 4000)
    likes = np.repeat([[0.5, 0.1], [0.1, 0.5]], 40, axis=1)[taste]
    return taste, chance.random((4000, 80)) < likes


def implicit(table, plan, epsilon):
    channel = compile_channel(
        "randomized-response", epsilon=epsilon, scale=RatingScale.parse("there"), missing=True
    )
    return World.through(table_of(table), named_plans.plan(plan, channel), 0)


def stating(world, epsilon):
    """The same reports with a channel that states another epsilon: a planted fault."""
    stated = compile_channel(
        "randomized-response", epsilon=epsilon, scale=world.ratings.scale, missing=True
    )
    columns = world.columns
    changed = replace(world, channel=stated)
    vars(changed)["columns"] = columns
    return changed


def test_a_chain_at_its_limit_has_the_slots_of_the_rule(world):
    """The first task has 200 / 1.68 = 119 items, 20 of them queried: 33.6 in the end, + 4 s."""
    one, limit = answers(world("sample:20"), 1.68)
    mean, share = 200 * 20 / 119, 20 / 119
    assert (one.slots, limit.slots) == (20, int(np.ceil(mean + 4 * np.sqrt(mean * (1 - share)))))
    assert (limit.world.columns > 0).sum(1).tolist() == [limit.slots] * 300
    assert [each.slots for each in answers(world("catalogue"), 1.68)] == [200]
    assert [each.slots for each in answers(world("rated"), 1.68)] == [None]


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_linkage_is_within_its_bound_and_grows_with_the_chain(world, epsilon):
    found = ChainLinkage(known=(20,)).run(world("sample:40", epsilon))
    assert [each.setting.split(",")[0] for each in found] == ["20 items"] * 2
    assert not any(each.leaks for each in found)
    assert found[0].bound < found[1].bound
    if epsilon == "3":
        assert found[0].value < found[1].value


def test_the_bound_of_linkage_is_that_of_the_best_attacker():
    """By enumeration: one binary slot of each of two names, one of which is of a rated item."""
    p = np.e / (1 + np.e)
    rated, unrated = np.array([1 - p, p]), np.array([p, 1 - p])
    outcomes = product(range(2), repeat=2)
    best = sum(max(rated[a] * unrated[b], unrated[a] * rated[b]) / 2 for a, b in outcomes)
    table = np.eye(2, dtype=bool)
    (found,) = ChainLinkage(known=(1,)).run(implicit(table, "catalogue", "1"))
    assert found.bound == pytest.approx(best)
    many = implicit(np.eye(50, dtype=bool), "sample:10", "2")
    (found, _) = ChainLinkage(known=(1,)).run(many)
    agree, differ = 0.2 / (1 + np.exp(2)), 0.2 / (1 + np.exp(-2))
    none_agrees, all_differ = (1 - agree) ** 50, differ**50
    gain = (1 - none_agrees) * np.exp(2) + none_agrees - all_differ + all_differ * np.exp(-2)
    assert found.bound == pytest.approx(gain / 50)


def test_linkage_detects_a_channel_that_states_less_than_it_spends(world):
    honest = world("catalogue", "6")
    (found,) = ChainLinkage(known=(20,)).run(honest)
    assert found.value > 0.9
    (found,) = ChainLinkage(known=(20,)).run(stating(honest, "0.1"))
    assert found.leaks


def test_pools_are_those_of_the_tastes(tastes):
    taste, table = tastes
    known = implicit(table, "sample:20", "1")
    side = pools(known)
    assert abs(side[:40].sum()) >= 38
    assert side[:40].sum() * side[40:].sum() < 0
    lean = preferences(table, side, 5)
    likes_first = lean * side[:40].sum() > 0
    assert np.mean(likes_first == (taste == 0)) > 0.97


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_answers_to_a_chain_reveal_the_pool_that_those_to_a_task_do_not(tastes, epsilon):
    task, chain = PoolInference().run(implicit(tastes[1], "sample:10", epsilon))
    assert not task.leaks
    assert not chain.leaks
    assert 0.5 < task.value < chain.value
    assert task.bound < chain.bound
    (open_ones,) = PoolInference().run(World.unprotected(table_of(tastes[1]), "rated", 0))
    assert (open_ones.value > 0.97, open_ones.bound) == (True, None)


def test_pool_inference_detects_a_channel_that_states_less_than_it_spends(tastes):
    honest = implicit(tastes[1], "catalogue", "4")
    (found,) = PoolInference().run(stating(honest, "0.001"))
    assert found.bound == pytest.approx(1 / (1 + np.exp(-0.08)))
    assert found.leaks


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
@pytest.mark.parametrize("mechanism", ["randomized-response", "optimal"])
def test_an_estimator_is_unbiased(plan, mechanism):
    scale = RatingScale.parse("1:5:1")
    channel = compile_channel(mechanism, epsilon="1", scale=scale, missing=plan != "rated")
    means = np.array(channel.likelihood) @ estimator(channel)
    holds = [float(row > 0 if channel.missing else row == 4) for row in range(len(means))]
    if mechanism == "randomized-response":
        assert means == pytest.approx(holds, abs=1e-9)
    assert means[-1] - means[0] > 0


def test_a_thin_block_shifts_by_what_fake_answers_add(world):
    """Against the mean of real and fake answers together, drawn anew."""
    known = world("catalogue", "2")
    weights, table = estimator(known.channel), np.array(known.channel.likelihood)
    chance = np.random.default_rng(3)
    for found in ThinBlock(devices=10_000).run(known):
        rows = np.where(chance.random(found.count) < 0.05, 1 + np.arange(found.count) % 5, 0)
        symbols = (chance.random((len(rows), 1)) > np.cumsum(table, 1)[rows, :-1]).sum(1)
        real = weights[symbols]
        both = np.concatenate([real, np.full(100, weights.max())])
        error = weights[symbols].std() * np.sqrt(2 / found.count)
        expected = min(both.mean() - real.mean(), 1.0)
        assert found.value == pytest.approx(expected, abs=5 * error)
        assert not found.leaks
        assert found.baseline <= found.value <= found.bound


def test_a_thinner_block_is_easier_to_manipulate(world):
    values = [found.value for found in ThinBlock().run(world("catalogue", "2"))]
    assert values == sorted(values)
    assert values[-1] > 10 * values[0]


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_collector_that_stores_several_answers_of_a_device_leaks(world, plan):
    found = ThinBlock(stored=3).run(world(plan, "2"))
    assert found[0].leaks


@pytest.mark.parametrize(
    ("attack", "settings"),
    [
        (ChainLinkage, {"known": ()}),
        (ChainLinkage, {"known": (0,)}),
        (ChainLinkage, {"growth": 0.9}),
        (PoolInference, {"fewest": 0}),
        (ThinBlock, {"queried": ()}),
        (ThinBlock, {"fakes": 0.0}),
        (ThinBlock, {"stored": 0}),
    ],
)
def test_other_settings_are_refused(attack, settings):
    with pytest.raises(RequestError, match=r"must be (at least 1|above 0 and at most 1), got"):
        attack(**settings)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (2, 9), (9, 2), (1, 1)])
def test_tables_too_small_for_pools_have_no_error(shape):
    rated = np.ones(shape, bool)
    rated[0, 0] = min(shape) < 2
    world = implicit(rated, "catalogue", "1")
    assert set(pools(world)) == ({1} if min(shape) < 2 else {-1, 1})
    for fewest in (1, 10):
        PoolInference(fewest=fewest).run(world)
