"""Screening removes fake reporters of an item and keeps real ones; presence must be public."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from tacit import Catalogue, compile_channel, perturb, synthetic
from tacit.audit.attacks.world import World, poisoned_reports
from tacit.channels import choose_channel
from tacit.models import ChannelMF, evidence
from tacit.models.evidence import screening
from tacit.models.evidence.presence_spectrum import spectrum
from tacit.models.evidence.screening import DIRECTIONS, made_up, places, screened
from tacit.readers import from_frame

PEOPLE, ITEMS = 1200, 600
FAKES = 24  # made-up people, 2 % of all


@cache
def tasteful(seed=0):
    """Ratings of people who meet items by popularity and rate what goes with their tastes, some of
    them much more than others."""
    chance = np.random.default_rng(seed)
    popularity = chance.permutation(1 / (np.arange(ITEMS) + 40.0))
    fit = 3 * chance.standard_normal((PEOPLE, 3)) @ chance.standard_normal((3, ITEMS)) / 3**0.5
    sizes = np.clip(np.exp(3.2 + chance.standard_normal(PEOPLE)), 5, 200).astype(int)
    users, items = np.repeat(np.arange(PEOPLE), sizes), []
    for likely, size in zip(popularity * np.exp(fit), sizes, strict=True):
        items += chance.choice(ITEMS, size, replace=False, p=likely / likely.sum()).tolist()
    stars = chance.integers(1, 6, len(users))
    return from_frame(pl.DataFrame({"user": users, "item": items, "rating": stars}), scale="1:5:1")


@cache
def pushed(fillers, seed=0):
    """The evidence with an item of middling popularity pushed, who is made up, and the item."""
    ratings = tasteful(seed)
    counts = np.bincount(ratings.items, minlength=ratings.n_items)
    target = np.argsort(counts)[ratings.n_items // 2].astype(np.int32)
    channel = choose_channel(epsilon="1", scale=ratings.scale)[1]
    world = World.unprotected(ratings, "rated", seed)
    sent = poisoned_reports(world, channel, np.full(FAKES, target), fillers)
    found = evidence(sent.by(slice(PEOPLE, PEOPLE + FAKES)))
    return found, found.user_of >= PEOPLE, target


# Fractions screened out, mean (standard deviation) over 24 worlds. Fake reports: popular .49 (.24),
# copied .60 (.17), alone 1. Real reports of the item: .08 (.06); of other items: .0007 (.0003). The
# bounds are at least four standard errors of a mean over 20 worlds away.
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("fillers", "least"), [("popular", 0.2), ("copied", 0.45), ("alone", 0.9)])
def test_who_pushes_an_item_of_no_taste_of_theirs_is_left_out(fillers, least):
    shares = []
    for seed in range(20):
        data, fake, target = pushed(fillers, seed)
        gone, here = made_up(data), data.item_of == target
        shares.append([gone[here & fake].mean(), gone[here & ~fake].mean(), gone[~here].mean()])
    fakes, real, elsewhere = np.mean(shares, axis=0)
    assert fakes >= least
    assert real <= 0.16
    assert elsewhere <= 0.003


def test_where_nobody_is_made_up_next_to_nothing_goes():
    assert made_up(evidence(tasteful())).mean() <= 0.002


def test_where_tastes_do_not_show_in_what_is_rated_nothing_goes():
    assert not made_up(evidence(synthetic(300, 120, 9000))).any()


def test_a_channel_that_protects_presence_sends_what_nobody_rated_and_all_of_it_stays():
    channel = compile_channel("randomized-response", epsilon="2", scale="1:5:1", missing=True)
    data = evidence(perturb(synthetic(60, 40, 1200), Catalogue(channel)))
    assert not made_up(data).any()
    assert len(screened(data)) == len(data)


def test_places_are_the_share_of_people_less_likely_to_have_rated_the_item(monkeypatch):
    monkeypatch.setattr(screening, "COMPARED", PEOPLE)  # everybody
    monkeypatch.setattr(screening, "BLOCK", 70)  # and several blocks
    data = evidence(tasteful())
    found, matrix = places(data), data.presence
    known = spectrum(matrix, DIRECTIONS)
    for cell in range(0, len(data), 4999):
        user, item = data.user_of[cell], data.item_of[cell]
        rated = matrix.reported.toarray()[:, item]
        everybody, same = np.arange(PEOPLE, dtype=np.int32), np.full(PEOPLE, item)
        likely = known.probabilities(matrix, everybody, same, rated)
        below = (likely < likely[user]).sum() + (likely == likely[user]).sum() / 2
        assert found[cell] == pytest.approx(below / PEOPLE, abs=1e-12)


def test_what_is_pushed_has_no_place_of_its_own_and_real_reports_stand_high():
    data, fake, target = pushed("copied")
    found, here = places(data), data.item_of == target
    assert abs(found[here & fake].mean() - 0.5) < 0.2  # uniform: deviation .06
    assert found[here & ~fake].mean() > 0.75


def test_nothing_goes_where_nobody_may_be_made_up(monkeypatch):
    data, _, _ = pushed("alone")
    monkeypatch.setattr(screening, "MOST", 0.0)
    assert not made_up(data).any()


def test_the_screened_model_learns_from_what_is_left():
    data, _, _ = pushed("alone")
    short = {"factors": 2, "directions": 0, "draws": 2, "burn_in": 2}
    left = ChannelMF(**short).fit(screened(data))
    itself = ChannelMF(**short, screened=True)
    assert len(screened(data)) == len(data) - made_up(data).sum()
    assert itself.name == "channel-mf-screened"
    np.testing.assert_array_equal(itself.fit(data).items, left.items)
