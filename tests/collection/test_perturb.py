"""What leaves the devices: one symbol a rating, drawn as the table says, and nothing else."""

import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from tacit.channels import compile_channel, threshold_mix
from tacit.channels.thresholds import which
from tacit.collection import sampler as module
from tacit.collection.perturb import kept_rows, perturb
from tacit.collection.plans import Rated
from tacit.collection.sampler import BulkSampler, ChaCha20Words, SystemWords, secret_words
from tacit.errors import CertificateError, RequestError
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

STARS = RatingScale.parse("1:5:1")
CHANNEL = compile_channel("randomized-response", epsilon="1", scale=STARS)


def ratings(count: int = 5000, people: int = 50, items: int = 400) -> Ratings:
    chance = np.random.default_rng(3)
    cells = chance.permutation(people * items)[:count]
    user_ids, users = Vocabulary.of(pl.Series([f"p{cell // items}" for cell in cells]))
    item_ids, rated = Vocabulary.of(pl.Series(cells % items))
    levels = chance.integers(0, 5, count).astype(np.uint8)
    return Ratings(users, rated, levels, STARS, user_ids, item_ids)


def test_one_report_a_rating_by_person_and_item():
    truth = replace(ratings(), name="films")
    reports = perturb(truth, Rated(CHANNEL))
    truth = truth.take(np.lexsort((truth.items, truth.users)))
    assert len(reports) == len(truth)
    assert (reports.users == truth.users).all()
    assert (reports.items == truth.items).all()
    assert reports.symbols.dtype == np.uint8
    assert reports.channels == (CHANNEL,)
    assert (reports.plan, reports.name) == ("rated", "films")
    assert 0.3 < (reports.symbols == truth.levels).mean() < 0.5


def test_each_run_draws_anew():
    truth, plan = ratings(), Rated(CHANNEL)
    first, second = (perturb(truth, plan).symbols for _ in range(2))
    assert 0.5 < (first != second).mean() < 0.95


@pytest.mark.parametrize("name", ["bounded-laplace", "laplace", "optimal"])
def test_frequencies_are_the_tables(name):
    channel, count = compile_channel(name, epsilon="1", scale=STARS), 400_000
    for level, shares in enumerate(channel.likelihood):
        symbols = BulkSampler((channel,)).draw(np.full(count, level, np.uint8))
        expected = np.array(shares) * count
        counts = np.bincount(symbols, minlength=len(shares))
        chi = float(((counts - expected) ** 2 / expected).sum())
        free = len(shares) - 1
        # Six standard deviations of chi-square: a false alarm in 10^8 or so runs.
        assert chi < free + 6 * np.sqrt(2 * free) + 20


def test_guarantee_and_cap():
    plan = Rated(CHANNEL, cap=20)
    assert plan.values_epsilon == "20"
    assert Rated(CHANNEL).values_epsilon is None
    guarantee = plan.guarantee
    assert (guarantee.epsilon, guarantee.unit, guarantee.trust) == ("1", "value", "nobody")
    assert guarantee.exact
    reports = perturb(ratings(), plan)
    assert np.bincount(reports.users).max() == 20
    assert reports.guarantee == guarantee


def test_the_cap_keeps_a_public_subset_whatever_the_ratings():
    truth = ratings()
    kept = kept_rows(truth, 10)
    assert (kept == kept_rows(replace(truth, levels=4 - truth.levels), 10)).all()
    backwards = kept_rows(
        replace(truth, users=truth.users[::-1], items=truth.items[::-1], levels=truth.levels[::-1]),
        10,
    )
    assert (kept == backwards[::-1]).all()
    popular = truth.items[kept]
    assert abs(float(popular.mean()) - 200) < 25


def test_a_mix_is_spread_by_the_public_hash():
    channels = threshold_mix(epsilon="1", scale=STARS)
    truth = ratings()
    reports = perturb(truth, Rated(channels, cap=60))
    people = truth.user_ids.take(reports.users).to_list()
    items = truth.item_ids.take(reports.items).to_list()
    expected = [which(person, item, 2) for person, item in zip(people, items, strict=True)]
    assert reports.channel_of.tolist() == expected
    assert 0.4 < np.mean(expected) < 0.6


def test_each_person_may_choose_their_own_epsilon():
    channels = tuple(compile_channel("laplace", epsilon=e, scale=STARS) for e in ("0.5", "2"))
    truth = ratings()
    chosen = (np.arange(truth.n_users) % 2).astype(np.uint8)
    reports = perturb(truth, Rated(channels), channel_of_person=chosen)
    assert (reports.channel_of == chosen[reports.users]).all()
    assert reports.guarantee.epsilon == "2"
    error = (reports.values - truth.by_person().values) ** 2
    calm, noisy = error[reports.channel_of == 1].mean(), error[reports.channel_of == 0].mean()
    assert 8 < noisy / calm < 32
    with pytest.raises(RequestError, match="from 0 to 1, for each of"):
        perturb(truth, Rated(channels), channel_of_person=chosen[:-1])


def test_chunks_make_no_difference(monkeypatch):
    class Counting:
        """A test's words: the same sequence however it is asked for."""

        def __init__(self) -> None:
            self.chance = np.random.default_rng(0)

        def fill(self, words) -> None:
            words[:] = self.chance.integers(0, 1 << 64, len(words), dtype=np.uint64)

    truth, plan = ratings(), Rated(CHANNEL)
    whole = perturb(truth, plan, words=Counting()).symbols
    monkeypatch.setattr(module, "CHUNK", 999)
    assert (perturb(truth, plan, words=Counting()).symbols == whole).all()


def test_no_rating_no_report():
    empty = ratings().where(np.zeros(5000, np.bool_))
    assert len(perturb(empty, Rated(CHANNEL))) == 0
    assert len(perturb(empty, Rated(CHANNEL, cap=3))) == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", [ChaCha20Words(), SystemWords(), secret_words()])
def test_words_are_uniform_and_never_repeat(source):
    first, second = np.zeros(100_000, np.uint64), np.zeros(100_000, np.uint64)
    source.fill(first)
    source.fill(second)
    both = np.concatenate([first, second])
    assert len(np.unique(both)) == len(both)
    bits = np.unpackbits(both.view(np.uint8)).reshape(-1, 64).mean(0)
    assert np.abs(bits - 0.5).max() < 6 * 0.5 / np.sqrt(len(both))


@pytest.mark.parametrize(
    ("installed", "source"), [({"cryptography"}, ChaCha20Words), (set(), SystemWords)]
)
def test_words_come_from_the_cipher_where_it_is_installed(installed, source, monkeypatch):
    monkeypatch.setattr("tacit.collection.sampler.find_spec", installed.__contains__)
    assert type(secret_words()) is source


def test_every_call_has_a_key_of_its_own(monkeypatch):
    asked: list[int] = []

    def known(count: int) -> bytes:
        asked.append(count)
        return bytes([len(asked)]) * count

    monkeypatch.setattr("tacit.collection.sampler.os.urandom", known)
    source, words = ChaCha20Words(), np.zeros(2, np.uint64)
    for call in (1, 2):
        source.fill(words)
        key, nonce = bytes([2 * call - 1]) * 32, bytes(4) + bytes([2 * call]) * 12
        stream = Cipher(ChaCha20(key, nonce), mode=None).encryptor().update(bytes(16))
        assert words.tobytes() == stream
    assert asked == [32, 12, 32, 12]


def test_no_nonce_ends_the_keystream_early(monkeypatch):
    """Once in 100,000 calls a random start of the block counter would overflow within the call."""
    monkeypatch.setattr("tacit.collection.sampler.os.urandom", lambda count: b"\xff" * count)
    words = np.zeros(100_000, np.uint64)
    ChaCha20Words().fill(words)
    assert len(np.unique(words)) == len(words)


def test_impossible_plans_are_refused():
    with pytest.raises(RequestError, match="cap must be an integer of at least 1"):
        Rated(CHANNEL, cap=0)
    with pytest.raises(RequestError, match="1 to 256 channels, got 0"):
        Rated(())
    with pytest.raises(RequestError, match="the same rating scale"):
        Rated((CHANNEL, compile_channel("duchi", epsilon="1", scale=RatingScale.parse("1:10:1"))))
    with pytest.raises(CertificateError, match="claim a larger epsilon"):
        Rated(replace(CHANNEL, epsilon="0.5"))
    tens = compile_channel("duchi", epsilon="1", scale=RatingScale.parse("1:10:1"))
    with pytest.raises(RequestError, match="must be on the ratings' scale 1:5:1"):
        perturb(ratings(), Rated(tens))


def test_a_table_that_hides_presence_is_refused_where_presence_is_shown():
    channel = compile_channel("randomized-response", epsilon="8", scale=STARS, missing=True)
    with pytest.raises(RequestError, match="use the plan catalogue"):
        Rated(channel)


@pytest.mark.long
def test_sixty_million_certified_reports_a_second():
    """On two cores, which is thirty million in a second of one: walls depend on who else runs."""
    channel, count = compile_channel("bounded-laplace", epsilon="1", scale=STARS), 30_000_000
    levels = np.random.default_rng(0).integers(0, 5, count).astype(np.uint8)
    sampler = BulkSampler((channel,))
    sampler.draw(levels[:1000])
    start = time.process_time()
    sampler.draw(levels)
    assert count / (time.process_time() - start) > 30e6
