"""Poisoning: pushed items rise, by as much as sums say; limits and screening are what stops it."""

import numpy as np
import pytest

from tacit import synthetic
from tacit.audit.attacks.poisoning import Poisoning
from tacit.audit.attacks.world import World, highest, poisoned_reports
from tacit.channels import choose_channel, compile_channel
from tacit.errors import RequestError
from tacit.models import ChannelMF

SHORT = ChannelMF(factors=2, directions=0, burn_in=10, draws=5, every=1)


@pytest.fixture(scope="module")
def world():
    return World.unprotected(synthetic(200, 60, 6000, rng=3), "rated", 0)


def test_the_symbol_sent_speaks_most_for_the_top():
    channel = compile_channel("randomized-response", epsilon="1", scale="1:5:1")
    assert channel.outputs[highest(channel)] == 5
    table = np.array(choose_channel(epsilon="1", scale="1:5:1")[1].likelihood)
    ratios = table[-1] / table[0]
    assert ratios[highest(choose_channel(epsilon="1", scale="1:5:1")[1])] == ratios.max()


def test_a_fake_profile_has_ordinary_ratings_of_items_that_it_does_not_push():
    world = World.unprotected(synthetic(1000, 60, 30_000, rng=3), "rated", 0)
    channel = compile_channel("randomized-response", epsilon="3", scale="1:5:1")
    targets, real = np.full(2000, 7, np.int32), world.ratings.n_users
    sent = poisoned_reports(world, channel, targets, "popular").reports
    made = sent.users >= real
    pushed = made & (sent.items == 7)
    assert pushed.sum() == 2000
    assert (sent.symbols[pushed] == highest(channel)).all()
    others = sent.items != 7
    share = np.bincount(sent.items[made & others], minlength=60) / (made & others).sum()
    true = np.bincount(sent.items[~made & others], minlength=60) / (~made & others).sum()
    assert np.abs(share - true).max() < 0.01
    stars = np.bincount(sent.symbols[made & others], minlength=5) / (made & others).sum()
    truth = np.bincount(sent.symbols[~made & others], minlength=5) / (~made & others).sum()
    assert np.abs(stars - truth).max() < 0.03
    sizes, own = (np.bincount(sent.users[who]) for who in (made, ~made))
    assert abs(np.median(sizes[real:]) - np.median(own)) < 4


def test_without_a_limit_one_person_sends_as_much_as_many(world):
    channel = choose_channel(epsilon="1", scale="1:5:1")[1]
    sent = poisoned_reports(world, channel, np.array([7, 9], np.int32), "alone")
    people = world.ratings.n_users
    among = sent.by(slice(people, people + 1), np.array([25], np.int32))
    made = among.users >= people
    assert made.sum() == 25
    assert set(among.items[made].tolist()) == {7}
    assert not (sent.by(slice(0)).users >= people).any()
    np.testing.assert_array_equal(among.symbols[~made], sent.by(slice(0)).symbols)


def test_a_pushed_item_rises_and_more_people_push_it_further(world):
    """The mean shifts of a world have a deviation of .08, those of four worlds of .04."""
    worlds = [world]
    worlds += [World.unprotected(synthetic(200, 60, 6000, rng=n), "rated", 0) for n in (4, 5, 6)]
    few, many = (
        [
            next(Poisoning(share=share, targets=5, worth=("people",), model=SHORT).played(each))
            for each in worlds
        ]
        for share in (0.01, 0.2)
    )
    assert [each.push.people.tolist() for each in many] == [[40] * 5] * 4
    little, much = (np.mean([each.shift for each in pushed]) for pushed in (few, many))
    assert much > 0.1
    assert much > little + 0.05


def test_what_is_worth_a_share_of_an_items_reporters_follows_its_popularity(world):
    attack = Poisoning(share=0.1, targets=4, least=60, worth=("reporters",), model=SHORT)
    push = next(attack.played(world)).push
    counts = np.bincount(world.ratings.items, minlength=60)
    assert (counts[push.targets] >= 60).all()
    np.testing.assert_array_equal(push.people, np.ceil(0.1 * counts[push.targets]))
    assert (push.times == 1).all()


def test_nothing_moves_where_what_is_pushed_is_never_sent(world, monkeypatch):
    monkeypatch.setattr(
        "tacit.audit.attacks.poisoning.PoisonedReports.by",
        lambda sent, group, times=1: sent.reports.where(sent.target[sent.reports.users] < 0),
    )
    for pushed in Poisoning(targets=3, worth=("people",), model=SHORT).played(world):
        np.testing.assert_array_equal(pushed.shift, 0)
        np.testing.assert_array_equal(pushed.before, pushed.after)


def test_no_target_and_no_share_are_refused():
    with pytest.raises(RequestError, match="targets must be at least 1"):
        Poisoning(targets=0)
    with pytest.raises(RequestError, match=r"a share of 1\.5"):
        Poisoning(share=1.5)


def test_without_an_item_of_enough_raters_there_is_no_attack(world):
    assert Poisoning(worth=("reporters",), least=10**6).run(world) == []
