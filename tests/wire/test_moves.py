"""Moves of a provider: signed lines of a task, and what a device refuses."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest
from provider_keys import KEY, OTHER, encodings, raw, signature

from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire.tasks.loading import documents, loads
from tacit.wire.tasks.moves import SIZE, Move, base64url, is_provider_key, is_signed

FILMS, NEXT, LAST = "https://films.example", "https://next.example", "https://last.example"
MESSAGE = b"a statement"


@pytest.fixture
def keyed(ask):
    return lambda plan="rated", **changes: ask(
        plan, provider=FILMS, provider_key=KEY.public, **changes
    )


def test_round_trip_of_a_chain_with_moves(keyed):
    first = keyed()
    assert list(json.loads(first.document))[-1] == "provider_key"
    assert (first.format, first.predecessor, first.origin) == ("tacit-task-4", None, FILMS)
    once = KEY.move(first, NEXT)
    longer = once.extended([1, 2])
    twice = KEY.move(longer, LAST)
    again = loads(twice.document, twice.address)
    assert again == twice
    assert (again.provider, again.origin, again.origins) == (FILMS, LAST, (FILMS, NEXT, LAST))
    assert (again.items, again.root, again.question) == (
        longer.items,
        first.address,
        first.question,
    )
    assert again.chain == (first.address, longer.address)
    assert again.lines == (first.address, once.address, longer.address, twice.address)
    held = documents(again)
    assert list(held) == list(again.lines)
    assert [loads(bytes(held[each.address])) for each in (first, once, longer)] == [
        first,
        once,
        longer,
    ]


def test_a_move_adds_no_block(growing):
    first = replace(growing("sample:3", limit=9), provider_key=KEY.public)
    assert first.format == "tacit-task-3"
    moved = KEY.move(first, NEXT)
    chain = KEY.move(moved.extended([1, 2], open_from=28), LAST)
    assert loads(chain.document) == chain
    assert len(chain.growth.blocks) == len(chain.chain) == 2
    assert moved.growth == first.growth


@pytest.mark.parametrize("plan", ["catalogue", "sample:3"])
def test_a_task_that_cannot_be_extended_can_be_moved(keyed, plan):
    moved = KEY.move(keyed(plan), NEXT)
    assert loads(moved.document).origin == NEXT
    with pytest.raises(RequestError, match="can be extended"):
        moved.extended([1])


def test_a_task_without_a_key_is_written_as_before(ask, growing, keyed):
    """The key is a part of the question: nobody can offer the same one with another key."""
    for task in (ask(), ask(provider=FILMS), growing("sample:3")):
        fields = json.loads(task.document)
        assert "provider_key" not in fields
        assert fields.get("extendable", {}).get("provider_key") is None
    bare, own = ask(provider=FILMS), keyed()
    other = replace(own, provider_key=OTHER.public)
    assert len({bare.question, own.question, other.question}) == 3
    assert replace(own, provider_key=None) == bare


def test_a_move_requires_the_key_of_the_first_task(ask, keyed):
    bare = ask(provider=FILMS)
    for task, message in ((bare, "contains no key"), (keyed(), "contains another key")):
        with pytest.raises(RequestError, match=message):
            OTHER.move(task, NEXT)
    with pytest.raises(RequestError, match="has no provider_key"):
        bare.moved(NEXT, "A" * 512)
    with pytest.raises(RequestError, match="another origin than the present one"):
        KEY.move(keyed(), FILMS)
    with pytest.raises(DataError, match="as successor https"):
        KEY.move(keyed(), "http://next.example")
    forged = OTHER.move(replace(keyed(), provider_key=OTHER.public), NEXT).document
    line = forged.split(b"\n")[1]
    with pytest.raises(DataError, match="must name its task"):
        loads(keyed().document + b"\n" + line)


def test_no_move_without_a_key_in_the_first_task(ask):
    """An attacker with the origin, but not the key, cannot move devices of older tasks either."""
    bare = ask(provider=FILMS)
    move = Move(bare.address, NEXT, "")
    line = move._replace(signature=signature(move.statement)).document
    with pytest.raises(CertificateError, match="contains no key to verify this"):
        loads(bare.document + b"\n" + line)


def parses_padding(encoded):
    """A lax verifier: it accepts the hash wherever the padding seems to end."""
    end = encoded.index(0, 2)
    return encoded[:2] == b"\x00\x01" and sha256(MESSAGE).digest() in encoded[end:]


def test_forgeries_that_a_lax_verifier_accepts_are_refused():
    """Their powers are encoded messages of the right hash, which only the padding gives away."""
    made = encodings(MESSAGE)
    assert sum(map(parses_padding, made.values())) >= 6
    for name, encoded in made.items():
        assert not is_signed(MESSAGE, base64url(raw(encoded)), KEY.public), name
    assert is_signed(MESSAGE, signature(MESSAGE), KEY.public)


def test_a_signature_has_one_notation_and_is_below_the_modulus():
    modulus = KEY.private.public_key().public_numbers().n
    for count in range(99):
        message = str(count).encode()
        number = int.from_bytes(KEY._sign(message))
        assert is_signed(message, base64url(number), KEY.public)
        if number + modulus < 1 << (8 * SIZE):
            assert not is_signed(message, base64url(number + modulus), KEY.public)
            break
    else:
        pytest.fail("no signature has a second notation of 3072 bits")
    own = base64url(number)
    for text in (own[:-1], own + "=", own + "\n", "", own[:-1] + "é", base64url(modulus - number)):
        assert not is_signed(message, text, KEY.public)


def test_keys_are_odd_and_of_exactly_3072_bits():
    for number in (1 << 3071 | 1, (1 << 3072) - 1, (1 << 3071) + (1 << 999) + 1):
        assert is_provider_key(base64url(number))
    for number in (0, 1, 1 << 3071, (1 << 3071) - 1, (1 << 3072) - 2, (1 << 3070) + 1):
        assert not is_provider_key(base64url(number))
