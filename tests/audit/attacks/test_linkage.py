"""Linkage, against a naive twin, against counts by hand, and with leaks planted."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.audit.attacks import attack
from tacit.audit.attacks.linkage import Linkage, TwoTasks, known_items
from tacit.audit.attacks.world import World
from tacit.channels import choose_channel
from tacit.collection.named_plans import PRESETS, plan
from tacit.errors import RequestError
from tacit.readers import from_frame, synthetic

K = 3


def naive(world, known, stars):
    """Expected top-1, a person and an item at a time."""
    hits = []
    rows, seen, table = world.rows, world.columns, world.likelihood
    for victim, items in enumerate(known):
        scores = []
        for v in range(len(rows)):
            score = 0.0
            for item in items:
                shares = [np.mean(rows[:, item] == row) for row in range(len(table))]
                rated = np.array(shares[1:]) / (1 - shares[0])
                column = seen[v, item]
                alone = sum(s * p for s, p in zip(shares, table[:, column], strict=True))
                told = table[rows[victim, item]] if stars else rated @ table[1:]
                likely = told[column]
                score += math.log(likely / alone) if likely else -1e9
            scores.append(score)
        best = [v for v, score in enumerate(scores) if score > max(scores) - 1e-6]
        hits.append((victim in best) / len(best))
    return np.mean(hits)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stars", [True, False])
@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:20"])
def test_the_score_is_the_exact_likelihood_ratio(world, people, figure, plan, stars):
    few = people.with_people(people.user_ids.ids[:40])
    tried = world(plan, "3", ratings=few)
    victims = np.arange(40, dtype=np.int32)
    known = known_items(tried, victims, K, "popular", np.random.default_rng(0))
    assert (known >= 0).all()
    what = f"{K} popular items {'with' if stars else 'without'} stars"
    found = figure(Linkage(known=(K,)).run(tried), "top-1", what)
    assert found.value == pytest.approx(naive(tried, known, stars), abs=1e-12)
    assert found.count == 40


def test_ties_are_broken_at_random(figure):
    """Of four people who rated the same, each is found one time in four."""
    rows = [(user, item, 3) for user in range(4) for item in (1, 2)] + [(9, 5, 4)]
    tried = World.unprotected(from_frame(frame(rows), scale="1:5:1"), "rated", 0)
    found = Linkage(known=(2,)).run(tried)
    assert figure(found, "top-1", "2 random items with stars").value == 0.25
    assert figure(found, "top-10", "2 random items with stars").value == 1
    assert figure(found, "top-1", "2 random items with stars").baseline == 0.2
    assert {f.count for f in found} == {4}  # nobody knows two items of the fifth


def frame(rows):
    return pl.DataFrame(rows, ("user", "item", "rating"), orient="row")


def test_more_known_items_and_larger_epsilons_link_more(world, figure):
    setting = "8 random items with stars"
    tops = [figure(Linkage().run(world("catalogue", e)), "top-1", setting).value for e in "124"]
    assert tops == sorted(tops)
    assert tops[0] < 0.2 < 0.9 < tops[2]
    few = figure(Linkage().run(world("catalogue", "2")), "top-1", "2 random items with stars")
    assert few.value < tops[1]


def test_channels_hotter_than_their_claim_link_more(world, figure):
    """Planted: everybody reports at twice the epsilon; the attacker believes the claim."""
    clean, hot = world("catalogue", "1"), world("catalogue", "2")
    leaky = replace(clean, collect=hot.collect)
    setting = "20 random items with stars"
    tops = [figure(Linkage().run(w), "top-1", setting) for w in (clean, leaky)]
    assert tops[1].value > tops[0].value + 8 * tops[0].error


def test_fresh_names_with_the_noise_of_old_ones_are_linked(world, figure):
    """Planted: a seed used twice, so that a device answers two tasks with the same words."""
    clean = world("catalogue", "0.5")
    leaky = replace(clean, collect=lambda whose, seed: clean.collect(whose, 0))
    tops = [figure(TwoTasks().run(w), "top-1").value for w in (clean, leaky)]
    assert tops[0] < 0.05
    assert tops[1] == 1


def test_two_tasks_ask_other_slots_of_a_person(world):
    clean = world("sample:20", "1")
    first, second = clean.reports, clean.again(1).reports
    assert not np.array_equal(first.items, second.items)


def test_the_list_of_rated_items_links_two_tasks(world, figure):
    assert figure(TwoTasks().run(world("rated", "0.1")), "top-1").value == 1


@pytest.mark.parametrize("settings", [{"known": ()}, {"known": (0, 2)}, {"most_victims": 0}])
def test_knowing_nothing_is_refused(settings):
    with pytest.raises(RequestError, match="known and most_victims must be at least 1"):
        Linkage(**settings)
    if "most_victims" in settings:
        with pytest.raises(RequestError, match="most_victims must be at least 1, got 0"):
            TwoTasks(**settings)


def test_of_many_people_some_are_victims(world, figure):
    found = figure(
        Linkage(known=(2,), most_victims=50).run(world()), "top-1", "2 random items with stars"
    )
    assert found.count == 50


@pytest.mark.long
def test_the_preset_keeps_people_hard_to_link():
    """On made-up people, half as many as it was measured on; larger plans and epsilons do not."""
    ratings = synthetic(3000, 3700, 400_000, rng=3)
    chosen = PRESETS["hard-to-link"]
    found = []
    for name, epsilon in ((chosen.plan, chosen.epsilon), (chosen.plan, "6"), ("catalogue", "2")):
        channel = choose_channel(epsilon=epsilon, scale=ratings.scale, missing=True)[1]
        world = World.through(ratings, plan(name, channel), 0)
        found.append(attack("linkage", known=(8,), most_victims=1000).run(world)[0])
    assert {one.figure for one in found} == {"top-1"}
    kept, loud, whole = (one.value for one in found)
    assert kept < 0.015 + 3 * found[0].error
    assert min(loud, whole) > 0.05
