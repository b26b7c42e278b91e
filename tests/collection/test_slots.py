"""Plans over slots: what they promise, what leaves for whom, and the naive twin of the stream."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from tacit.channels import compile_channel
from tacit.channels.table import draw
from tacit.channels.thresholds import hash_id, pair_key
from tacit.collection import slots as module
from tacit.collection.named_plans import plan
from tacit.collection.perturb import kept_rows, perturb
from tacit.collection.plan import ASSUMPTIONS
from tacit.collection.plans import Catalogue, Rated, Sample
from tacit.errors import CertificateError, RequestError
from tacit.models.lists.interactions import interactions
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire.tasks.blocks import ASK

STARS = RatingScale.parse("1:5:1")
PEOPLE, ITEMS = 30, 40


def hiding(name="randomized-response", epsilon="1", scale=STARS):
    return compile_channel(name, epsilon=epsilon, scale=scale, missing=True)


CHANNEL = hiding()


def ratings(count=300, people=PEOPLE, items=ITEMS, seed=3):
    """Ratings of some of the slots; the last person has rated nothing."""
    chance = np.random.default_rng(seed)
    cells = np.sort(chance.permutation((people - 1) * items)[:count])
    return Ratings(
        (cells // items).astype(np.int32),
        (cells % items).astype(np.int32),
        chance.integers(0, 5, count).astype(np.uint8),
        STARS,
        Vocabulary(pl.Series("id", [f"p{k:03}" for k in range(people)])),
        Vocabulary(pl.Series("id", range(items))),
    )


class RepeatableWordsForTestsOnly:
    """The same words again, whatever the pieces in which they are asked for."""

    def __init__(self, seed=0):
        self.chance = np.random.default_rng(seed)

    def fill(self, words):
        words[:] = self.chance.integers(0, 1 << 64, len(words), dtype=np.uint64)


def laid_out(truth):
    rows = np.zeros((truth.n_users, truth.n_items), int)
    rows[truth.users, truth.items] = truth.levels + 1
    return rows


@pytest.mark.parametrize("name", ["randomized-response", "modified-laplace", "optimal"])
@pytest.mark.parametrize("cap", [None, 4])
def test_the_stream_is_one_draw_a_slot(name, cap, monkeypatch):
    """The naive twin: every slot of every person, laid out, by the device's own draw."""
    monkeypatch.setattr(module, "BLOCK", 7 * ITEMS)
    truth, channel = ratings(), hiding(name)
    words = RepeatableWordsForTestsOnly()
    reports = perturb(truth, Catalogue(channel, cap=cap), words=words)
    kept = truth if cap is None else truth.where(kept_rows(truth, cap))
    chance = np.random.default_rng(0)
    expected = [
        (user, item, symbol)
        for user, row in enumerate(laid_out(kept))
        for item, x in enumerate(row)
        for word in [int(chance.integers(0, 1 << 64, dtype=np.uint64))]
        for symbol in [draw(channel, int(x), lambda word=word: word)]
        if channel.outputs[symbol] is not None
    ]
    found = zip(reports.users, reports.items, reports.symbols, strict=True)
    assert [tuple(map(int, row)) for row in found] == expected
    assert (reports.plan, reports.user_ids, reports.item_ids) == (
        "catalogue",
        truth.user_ids,
        truth.item_ids,
    )


def test_a_sample_asks_the_smallest_public_hashes_whatever_was_rated():
    truth = ratings()
    reports = perturb(truth, Sample(CHANNEL, 11))
    assert np.bincount(reports.users, minlength=PEOPLE).tolist() == [11] * PEOPLE
    for user in range(PEOPLE):
        keys = [pair_key(hash_id(f"p{user:03}"), hash_id(item), ASK) for item in range(ITEMS)]
        assert reports.items[reports.users == user].tolist() == sorted(np.argsort(keys)[:11])
    asked = np.bincount(perturb(ratings(people=900), Sample(CHANNEL, 10)).items, minlength=ITEMS)
    assert abs(asked - 225).max() < 5 * 15


def test_a_sample_of_everything_asks_everything():
    reports = perturb(ratings(), Sample(CHANNEL, ITEMS + 5))
    assert reports.items.tolist() == list(range(ITEMS)) * PEOPLE
    assert reports.items.dtype == np.int32


def test_frequencies_are_the_tables_rated_or_not():
    truth = ratings(people=3000, count=60_000)
    plans = (Sample(CHANNEL, ITEMS), Sample(CHANNEL, 25))
    for reports in (perturb(truth, which) for which in plans):
        rows = laid_out(truth)[reports.users, reports.items]
        for row, shares in enumerate(CHANNEL.likelihood):
            counts = np.bincount(reports.symbols[rows == row], minlength=6)
            expected = counts.sum() * np.array(shares)
            assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_a_cap_holds_among_the_asked_slots():
    truth, sure = ratings(count=900), hiding(epsilon="16")
    reports = perturb(truth, Sample(sure, 20, cap=5))
    told = np.bincount(reports.users[reports.symbols > 0], minlength=PEOPLE)
    true = laid_out(truth)[reports.users, reports.items].reshape(PEOPLE, 20)
    assert told.tolist() == np.minimum((true > 0).sum(1), 5).tolist()


def test_a_message_has_one_shape_for_any_two_profiles():
    """1,000 pairs: the same people, items and order, whatever was rated; only symbols differ."""
    chance = np.random.default_rng(9)
    first, second = (
        ratings(people=1000, count=int(n), seed=n) for n in chance.integers(1, 9000, 2)
    )
    for which in (Sample(CHANNEL, ITEMS), Sample(CHANNEL, 7), Sample(CHANNEL, 7, cap=2)):
        one, other = (perturb(truth, which) for truth in (first, second))
        assert (one.users == other.users).all()
        assert (one.items == other.items).all()
        assert (one.symbols != other.symbols).any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "slot", "user"),
    [("randomized-response", "0.5", "20"), ("modified-laplace", "0.5", "15")],
)
def test_promises_per_slot_and_per_person(name, slot, user):
    channel = hiding(name, slot)
    one = Catalogue(channel).guarantee
    assert (one.epsilon, one.unit, one.delta, one.exact) == (slot, "slot", "0", True)
    whole = Catalogue(channel).user_guarantee(100)
    assert (whole.epsilon, whole.unit) == ("50", "user")
    capped = Catalogue(channel, cap=20)
    assert capped.user_guarantee(100).epsilon == user
    # One more rating may push another out of the cap: a hidden and a made-up slot at once.
    assert Decimal(capped.guarantee.epsilon) == Decimal(user) / 20
    tight = capped.tight_guarantee(100, "1e-6")
    assert (tight.unit, tight.delta, tight.exact) == ("user", "1e-6", False)
    assert 0 < Decimal(tight.epsilon) < Decimal(user)
    assert "per user, delta = 1e-6" in tight.sentence
    few = Sample(channel, 10, cap=20)
    assert few.user_guarantee(100).epsilon == "5"
    assert few.guarantee.epsilon == slot
    assert few.tight_guarantee(100, "1e-6").epsilon <= "5"


def test_a_promise_is_stated_whole():
    one, public = Sample(hiding(epsilon="0.5"), 10).guarantee, "who takes part, the catalogue, the"
    assert one.sentence == (
        "Epsilon = 0.5 per slot, trusting nobody: "
        "releasing one symbol per sampled slot protects one catalogue slot: whether the user rated "
        f"the item, and the value. Public: {public} channels."
    )
    assert (one.assumptions, one.fails, one.uncovered) == (ASSUMPTIONS, None, ())
    person = Sample(hiding(epsilon="0.5"), 10).user_guarantee(100)
    assert person == replace(one, epsilon="5", unit="user")


def test_rated_promises_no_person_anything():
    rated = Rated(compile_channel("duchi", epsilon="1", scale=STARS), cap=3)
    assert rated.user_guarantee(10) is rated.tight_guarantee(10, "1e-6") is None


def test_each_person_has_one_channel():
    channels = (hiding(epsilon="0.5"), hiding(epsilon="12"))
    truth = ratings()
    chosen = (np.arange(PEOPLE) % 2).astype(np.uint8)
    reports = perturb(truth, Catalogue(channels), channel_of_person=chosen)
    assert (reports.channel_of == chosen[reports.users]).all()
    calm = reports.where(reports.channel_of == 1)
    assert (laid_out(truth)[calm.users, calm.items] == calm.symbols).mean() > 0.98
    assert reports.guarantee.epsilon == "12"
    with pytest.raises(RequestError, match="all slots of a user must use the same"):
        perturb(truth, Catalogue(channels))


def test_plans_by_name():
    assert plan("catalogue", CHANNEL, 3) == Catalogue(CHANNEL, 3)
    assert plan("sample:40", CHANNEL) == Sample(CHANNEL, 40)
    for name in ("sample", "sample:", "sample:0", "sample:-1", "all"):
        with pytest.raises(
            RequestError, match=f"plan must be rated, catalogue or .*, got '{name}'"
        ):
            plan(name, CHANNEL)


def test_impossible_plans_are_refused():
    for make in (Catalogue, lambda channel: Sample(channel, 3)):
        with pytest.raises(RequestError, match="use one with missing"):
            make(compile_channel("duchi", epsilon="1", scale=STARS))
        with pytest.raises(CertificateError, match="claim a larger epsilon"):
            make(replace(CHANNEL, epsilon="0.5"))
    with pytest.raises(RequestError, match="cap must be an integer of at least 1"):
        Catalogue(CHANNEL, cap=0)
    with pytest.raises(RequestError, match="slots must be an integer of at least 1, got 0"):
        Sample(CHANNEL, 0)
    tens = hiding(scale=RatingScale.parse("1:10:1"))
    with pytest.raises(RequestError, match="must be on the ratings' scale 1:5:1"):
        perturb(ratings(), Catalogue(tens))


def test_a_small_sample_of_a_large_catalogue_is_laid_out_in_blocks_too(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7 * ITEMS)
    blocks = list(module.slot_reports(ratings(), Sample(CHANNEL, 1)))
    assert [len(block.users) for block in blocks] == [7, 7, 7, 7, 2]


def test_the_highest_of_256_levels_is_reported():
    scale = RatingScale.parse("1:256:1")
    channel = hiding(epsilon="16", scale=scale)
    users, items = np.arange(200, dtype=np.int32), np.zeros(200, np.int32)
    ids = [Vocabulary(pl.Series("id", range(size))) for size in (200, 1)]
    highest = Ratings(users, items, np.full(200, 255, np.uint8), scale, *ids)
    # The chance of another level is 255 / (e^16 + 256) for each rating.
    assert perturb(highest, Catalogue(channel)).values.tolist() == [256.0] * 200


def test_channel_of_a_user_without_other_symbols_is_in_the_reports():
    """Presence at epsilon 1 and 8 is estimated without bias, by a naive sum over channels."""
    users, items = 4_000, 5
    rated = np.random.default_rng(1).random((users, items)) < 0.1
    codes = [part.astype(np.int32) for part in np.nonzero(rated)]
    ids = [Vocabulary(pl.Series("id", range(size))) for size in (users, items)]
    known = Ratings(*codes, np.zeros(len(codes[0]), np.uint8), RatingScale.parse("there"), *ids)
    channels = [hiding(epsilon=epsilon, scale=known.scale) for epsilon in ("1", "8")]
    of_person = (np.arange(users) % 2).astype(np.uint8)
    reports = perturb(known, Catalogue(channels), channel_of_person=of_person)
    channel_of = np.full(users, 9)
    channel_of[reports.users] = reports.channel_of
    assert (channel_of == of_person).all()
    shares = interactions(reports).presence.over_people(np.ones(users)) / users
    # A debiased slot at epsilon 1 has the variance e / (e - 1)^2 = .92, and 2,000 of 4,000 users
    # have it: five standard errors. With the other channel for silent users, all were .16 too low.
    assert np.abs(shares - rated.mean(0)).max() < 5 * np.sqrt(2_000 * 0.92) / 4_000


def test_one_channel_needs_no_rows_for_it():
    known = ratings()
    reports = perturb(known, Catalogue(CHANNEL))
    assert not np.isnan(reports.values).any()
