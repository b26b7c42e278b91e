"""Tasks over slots that can be extended: their documents, and the places that devices query."""

import itertools
import json
import random
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from tacit.channels.thresholds import hash_id, pair_key
from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire.report import block_key, block_report_id
from tacit.wire.tasks.blocks import ASK, WORD, Growth, ItemBlock, slot_limit, threshold_of
from tacit.wire.tasks.loading import documents, loads
from tacit.wire.tasks.task import FORMATS

PROVIDER = "https://films.example"


@pytest.fixture
def secret():
    return np.random.default_rng(7).bytes(32)


def spelled(fields):
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("plan", ["catalogue", "sample:3"])
def test_round_trip_of_a_chain(growing, plan):
    task = growing(plan, titles=("Ängste", *"bcdef"), renewals=(30, 90))
    assert (task.format, tuple(json.loads(task.document))) == ("tacit-task-3", FORMATS[task.format])
    chain = task.extended([1, 2], ["g", "h"], open_from=28)
    half = None if plan == "catalogue" else WORD // 2
    chain = chain.extended([3], ["i"], open_from=40, threshold=half)
    again = loads(chain.document, chain.address)
    assert again == chain
    assert (again.root, again.chain[0]) == (task.address, task.address)
    assert again.question == task.question not in again.chain
    assert list(documents(again)) == list(again.chain)
    blocks = [(each.first, each.end, each.open_from) for each in again.growth.blocks]
    assert blocks == [(0, 6, 0), (6, 8, 28), (8, 9, 40)]
    assert [again.growth.block_of(place) for place in range(9)] == [0] * 6 + [1] * 2 + [2]
    assert [again.growth.generation(epoch) for epoch in (0, 29, 30, 89, 90)] == [0, 0, 1, 1, 2]


def test_other_tasks_are_written_as_before(ask, growing):
    """The same task without the terms has the address that it always had."""
    task = growing("sample:3")
    before = replace(task, growth=None)
    assert before == ask("sample:3", provider=PROVIDER)
    assert (before.format, "extendable" in json.loads(before.document)) == ("tacit-task-2", False)
    assert task.question != before.question
    assert task.predecessor is None


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": "9223372036854775807"},
        {"threshold": 9223372036854775808},
        {"threshold": "09223372036854775808"},
        {"threshold": "-1"},
        {"threshold": "²"},
        {"open_from": -1},
        {"open_from": 0.0},
        {"limit": 2},
        {"limit": 4097},
        {"limit": True},
        {"renewals": [0]},
        {"renewals": [5, 5]},
        {"renewals": [6, 5]},
        {"renewals": list(range(1, 102))},
        {"renewals": None},
        {"provider_key": "key"},
        {"more": 1},
    ],
)
def test_malformed_terms_are_refused(growing, change):
    fields = json.loads(growing("sample:3").document)
    with pytest.raises(DataError):
        loads(spelled(fields | {"extendable": fields["extendable"] | change}))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "tacit-extension-1"},
        {"threshold": "0"},
        {"threshold": "18446744073709551617"},
        {"threshold": 5},
        {"open_from": -1},
        {"successor": "https://other.example"},
        {"items": []},
        {"items": [100]},
        {"more": 1},
    ],
)
def test_malformed_blocks_are_refused(growing, change):
    first, line = growing("sample:3").extended([1], open_from=28).document.split(b"\n")
    assert loads(first + b"\n" + line)
    with pytest.raises(DataError):
        loads(first + b"\n" + spelled(json.loads(line) | change))


def test_what_has_no_blocks_gets_none(ask, growing):
    with pytest.raises(RequestError, match="has no blocks, so it does not accept open_from"):
        ask(provider=PROVIDER).extended([1], open_from=28)
    with pytest.raises(RequestError, match="requires open_from, got None"):
        growing("sample:3").extended([1])
    with pytest.raises(RequestError, match="and 2\\^64 under catalogue"):
        growing("catalogue").extended([1], open_from=28, threshold=WORD // 2)
    with pytest.raises(RequestError, match="must have a plan over slots and a provider"):
        growing("sample:3", provider=None)
    with pytest.raises(RequestError, match="its blocks must contain all items"):
        replace(growing("sample:3"), items=tuple(range(7)))


def test_a_line_of_another_chain_is_refused(growing):
    one = growing("sample:3").extended([1], open_from=28)
    other = growing("sample:3").extended([2], open_from=28).extended([3], open_from=28)
    mixed = one.document + b"\n" + other.document.split(b"\n")[-1]
    with pytest.raises(DataError, match="name its task"):
        loads(mixed, other.address)
    with pytest.raises(CertificateError, match="changed in transit"):
        loads(mixed, one.address)


def test_places_are_those_below_the_threshold():
    """Against the definition, in Python's integers, at every kind of threshold."""
    chance = random.Random(3)
    hashes = [chance.getrandbits(64) for _ in range(60)]
    for threshold in (1, WORD // 7, WORD - 1, WORD):
        block, key = ItemBlock(20, 60, threshold, 0), f"{chance.getrandbits(128):032x}"
        keys = [pair_key(hash_id(key), each, ASK) for each in hashes]
        assert block.places(key, hashes) == tuple(
            place for place in range(20, 60) if keys[place] < threshold
        )
    assert block.places(key, hashes) == tuple(range(20, 60))


def test_blocks_of_one_item_are_queried_at_their_rate(secret):
    """n t / 2^64 of n devices, within 4 standard deviations, at each of five rates."""
    devices = 8_000
    for number, slots in enumerate((1, 5, 20, 100, 190)):
        block = ItemBlock(0, 1, threshold_of(slots, 200), 0)
        hashes, rate = [hash_id(f"item {number}")], slots / 200
        keys = (block_key(secret, PROVIDER, f"{number} {n}") for n in range(devices))
        count = sum(len(block.places(key, hashes)) for key in keys)
        assert abs(count - devices * rate) <= 4 * sqrt(devices * rate * (1 - rate))


def test_ids_cannot_be_searched_for_one_device(secret):
    """10^5 ids, of which the 200 that suit the pseudonym best are published as a block.

    Under a key that was known before, all of them would be asked; here, a tenth.
    """
    known, salt = hash_id("a pseudonym"), secret.hex()
    items = sorted(
        range(100_000), key=lambda item: pair_key(known, hash_id(f"{salt} {item}"), ASK)
    )[:200]
    hashes = [hash_id(f"{salt} {item}") for item in items]
    block = ItemBlock(0, 200, WORD // 10, 0)
    assert len(block.places("a pseudonym", hashes)) == 200
    victims = [
        len(block.places(block_key(secret, PROVIDER, f"block {trial}"), hashes))
        for trial in range(100)
    ]
    assert abs(sum(victims) - 2000) <= 5 * sqrt(2000 * 0.9)
    assert max(victims) <= 20 + 6 * sqrt(18)


def test_items_of_one_block_are_queried_independently(secret):
    """Pairs of ids with equal low or high halves of their hashes, the closest of 10^4 ids."""
    hashes = sorted(hash_id(f"{secret.hex()} {item}") for item in range(10_000))
    high = min(itertools.pairwise(hashes), key=lambda pair: pair[1] - pair[0])
    by_low = sorted(hashes, key=lambda each: each & (1 << 32) - 1)
    low = min(
        itertools.pairwise(by_low),
        key=lambda pair: (pair[1] - pair[0]) & (1 << 32) - 1,
    )
    block, devices = ItemBlock(0, 2, WORD // 10, 0), 20_000
    for pair in (high, low):
        keys = (block_key(secret, PROVIDER, str(n)) for n in range(devices))
        both = sum(len(block.places(key, pair)) == 2 for key in keys)
        assert abs(both - devices / 100) <= 5 * sqrt(devices / 100)


def test_few_devices_exceed_the_limit(secret):
    """At most 1 in 1,000, of which a limit of mean + 2 deviations would have 8 or more."""
    block = ItemBlock(0, 300, threshold_of(20, 100), 0)
    limit = slot_limit(block.threshold, 300)
    assert limit == 88  # 60 + 4 sqrt(60 x .8)
    hashes = [hash_id(f"{secret.hex()} {item}") for item in range(300)]
    counts = [len(block.places(block_key(secret, PROVIDER, str(n)), hashes)) for n in range(1000)]
    assert sum(count > limit for count in counts) <= 1
    assert sum(count > 60 + 2 * sqrt(48) for count in counts) >= 8
    assert slot_limit(WORD, 300) == 300


def test_names_of_blocks_are_all_different():
    secrets = (bytes(32), bytes([1]) * 32)
    names = {
        name
        for secret in secrets
        for provider in (PROVIDER, "https://other.example")
        for block in ("a", "b")
        for name in (
            block_key(secret, provider, block),
            *(block_report_id(secret, provider, "task", block, g) for g in range(2)),
        )
    }
    assert len(names) == 2 * 2 * 2 * 3
    assert Growth(1, (), (ItemBlock(0, 1, WORD, 0),)).generations == 1
