"""The forecast of shuffled lists: its messages are those of the plan, and its devices are all."""

from math import ceil

import numpy as np
import pytest

from tacit import fit
from tacit.collection.shuffled.heads import announced_round
from tacit.collection.shuffled.plan import ShuffledPlan, largest_delta
from tacit.errors import RequestError
from tacit.planning import population
from tacit.planning.population import Population
from tacit.planning.shuffled import (
    ShuffledForecast,
    ShuffledPlanRow,
    expected_accuracy,
    forecast_sentences,
)
from tacit.reporting.table import text
from tacit.scale import RatingScale
from tacit.training import ShuffledEase
from tacit.wire.shuffled.round_terms import pairs_of
from tacit.wire.shuffled.task import SEALED_BYTES

SCALE = RatingScale.parse("1:5:1")
MARGIN = 0.01
"""Half of the least gain over popularity in four seeds."""


def forecast(people=6_000, items=100, ratings_each=16, **changes) -> ShuffledForecast:
    shape = Population(people=people, items=items, ratings_each=ratings_each, scale=SCALE)
    return ShuffledForecast(**{"population": shape, "messages": 10, "epsilon": "8"} | changes)


def rows(one: ShuffledForecast, seed=0):
    return one.rows(seed, lambda label, done, total: None)


@pytest.fixture
def few(monkeypatch):
    """At most 2,000 users of 16 interactions are simulated."""
    monkeypatch.setattr(population, "MOST_RATINGS", 32_000)


def test_messages_are_those_of_the_plan():
    """By the formulas, from the head alone."""
    ease, popular, *free = rows(forecast())
    delta = largest_delta(4_200)
    plan = ShuffledPlan(messages=10, items=100, epsilon="8", delta=delta, bundles=4_200)
    items, announced = plan.item_round(), announced_round(plan, 2_000)
    assert (ease.item_messages, ease.item_dummies) == (items.messages, items.dummies)
    dummies = ceil(announced.dummies * pairs_of(ease.head) / announced.buckets)
    assert (ease.pair_messages, ease.pair_dummies) == (10, dummies)
    sent = items.messages + items.dummies + 10 + dummies
    assert ease.upload_bytes == SEALED_BYTES * sent
    only = plan.only_round()
    assert (popular.item_messages, popular.item_dummies) == (only.messages, only.dummies)
    assert (popular.head, popular.pair_messages, popular.pair_dummies) == (0, 0, 0)
    claim = plan.certificate([items, announced])
    assert (ease.epsilon, ease.empty_epsilon) == (8.0, float(claim.empty))
    assert ease.delta == popular.delta == float(delta)
    assert [(row.way, row.epsilon, row.upload_bytes) for row in free] == [
        ("popularity", None, 0), ("ease", None, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(("people", "each"), [(2_000, 1), (2_001, 2), (7_999, 4), (1_000_000, 500)])
def test_all_devices_are_simulated(few, people, each):
    """But fewer than the devices of one user."""
    one = forecast(people)
    assert one.devices_each == each
    assert one.simulated <= 2_000
    assert 0 <= people - one.simulated * each < each


def test_the_noise_is_that_of_all_devices(few, monkeypatch):
    learn, calls = ShuffledEase.learn, []

    def recorded(trainer, devices, plan):
        calls.append((devices.people, len(devices.users.counts), plan.bundles))
        return learn(trainer, devices, plan)

    monkeypatch.setattr(ShuffledEase, "learn", recorded)
    row = rows(forecast(8_000))[0]
    assert calls == [(8_000, 2_000, 5_600)]
    assert (row.simulated_people, row.devices_each) == (2_000, 4)


def test_lists_are_better_with_pairs_and_best_without_privacy(monkeypatch):
    """NDCG@20 of `fit` on the same split, and of noisy weights between them."""
    monkeypatch.setattr(population, "MOST_RATINGS", 120_000)
    one = forecast(16_000, items=200, ratings_each=30, messages=30, epsilon="16")
    ease, popular, most, best = (row.ndcg_at_20 for row in rows(one))
    world = one.world(0)
    assert world.ndcg(fit("ease", world.train).weights) == best
    assert popular == pytest.approx(most, abs=0.003)
    assert most + MARGIN < ease < best - MARGIN / 2


def test_star_ratings_have_signed_messages_and_an_error():
    """Messages by the formulas, and the error of item means as `fit` has on the same split."""
    one = forecast(messages=20, epsilon="64", stars=True)
    factors, means, *free = rows(one)
    plan = ShuffledPlan(
        messages=20, items=100, epsilon="64", delta=largest_delta(4_200), bundles=4_200,
        signed=True,
    )  # fmt: skip
    items, announced = plan.item_round(), announced_round(plan, 2_000)
    assert (factors.item_messages, factors.item_dummies) == (items.messages, items.dummies)
    dummies = ceil(announced.dummies * plan.pair_buckets(factors.head) / announced.buckets)
    assert (factors.pair_messages, factors.pair_dummies) == (20, dummies)
    assert factors.epsilon == 64
    only = plan.only_round()
    assert (means.item_messages, means.item_dummies) == (only.messages, only.dummies)
    assert (means.head, means.pair_messages, means.pair_dummies) == (0, 0, 0)
    assert [row.way for row in free] == ["item-mean", "mf"]
    world = one.world(0).ratings
    assert free[0].rmse == world.error(fit("item-mean", world.own))
    assert means.rmse == pytest.approx(free[0].rmse, abs=0.01)
    assert means.rmse < world.error_of_mean - 0.1
    assert all(row.ndcg_at_20 is None for row in (factors, means, *free))
    table = text(expected_accuracy([factors, means, *free], ""))
    assert "RMSE" in table
    assert f"{factors.rmse:.3f}" in table
    assert "a tenth of the ratings held out" in forecast_sentences([factors])[-1]


def test_held_out_interactions_are_a_fifth_and_new(few):
    world = forecast().world(3)
    total = len(world.train) + len(world.test)
    assert len(world.test) / total == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / total))
    own = set(zip(world.train.users.tolist(), world.train.items.tolist(), strict=True))
    assert not own & set(zip(world.test.users.tolist(), world.test.items.tolist(), strict=True))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"messages": 0}, "messages"),
        ({"epsilon": "0"}, "epsilon"),
        ({"delta": "1e-3"}, "delta must be at most"),
    ],
)
def test_invalid_numbers_are_refused_before_the_simulation(changes, words):
    with pytest.raises(RequestError, match=words):
        forecast(**changes)


def test_the_table_has_both_epsilons_and_all_messages():
    row = ShuffledPlanRow(
        way="shuffled-ease", trust="shuffler", epsilon=4.0, empty_epsilon=2.797, delta=1.4e-7,
        item_messages=14, item_dummies=11, head=616, pair_messages=30, pair_dummies=1_378,
        upload_bytes=75_949, ndcg_at_20=0.1524, rmse=None, simulated_people=25_000, devices_each=4,
    )  # fmt: skip
    assert ShuffledPlanRow.from_dict(row.to_dict()) == row
    (line,) = (each for each in text(expected_accuracy([row], "")).splitlines() if "ease" in each)
    for part in ("14 + 11", "616", "30 + 1,378", "75.9", "0.152"):
        assert part in line
    first, *_, last = forecast_sentences([row])
    assert "epsilon 4 per user for a profile that is replaced by any other one" in first
    assert "2.797 against an empty profile, delta 1.4e-07." in first
    assert "25,000 synthetic users with 4 devices each" in last
    assert "once" in last
