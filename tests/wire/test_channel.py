"""A channel survives the wire to the last digit, and nothing forged does."""

import json
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.channels import MECHANISMS, compile_channel
from tacit.channels.table import Channel
from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import RatingScale
from tacit.wire.channel import KEYS, dumps, loads

STARS = RatingScale.parse("1:5:1")
PLAIN = compile_channel("randomized-response", epsilon="1", scale=STARS)


def tampered(**changes) -> str:
    return json.dumps(json.loads(dumps(PLAIN)) | changes)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("scale", ["1:5:1", "0.5:5:0.5", "-10:10:1"])
def test_round_trip(name, scale):
    channel = compile_channel(name, epsilon="0.75", scale=RatingScale.parse(scale))
    again = loads(dumps(channel))
    assert again == channel
    assert again.id == channel.id
    assert dumps(again) == dumps(channel)


def test_missing_round_trip():
    channel = compile_channel("randomized-response", epsilon="2", scale=STARS, missing=True)
    assert json.loads(dumps(channel))["outputs"][0] is None
    assert loads(dumps(channel).encode()) == channel


def test_the_form_is_fixed():
    fields = json.loads(dumps(PLAIN))
    assert tuple(fields) == KEYS
    assert fields["levels"] == ["1", "2", "3", "4", "5"]
    assert fields["weights"][0][0] == str(PLAIN.weights[0][0])
    assert all(type(weight) is str for row in fields["weights"] for weight in row)


def test_the_id_is_the_hash_of_a_text_anyone_can_write():
    quarter = Channel(
        levels=(Decimal("0.5"), Decimal("1.0")),
        outputs=(None, Decimal("-2.50")),
        weights=((1, 3), (3, 1), (2, 2)),
        epsilon="1.1",
        missing=True,
        word_bits=2,
    )
    text = "tacit-channel-1\n0.5,1\n1\n?,-2.5\n2\n1,3\n3,1\n2,2"
    assert quarter.id == sha256(text.encode()).hexdigest()


def test_the_id_ignores_the_claim_and_nothing_else():
    assert replace(PLAIN, epsilon="2").id == PLAIN.id
    assert replace(PLAIN, outputs=PLAIN.outputs[::-1]).id != PLAIN.id
    assert replace(PLAIN, weights=PLAIN.weights[::-1]).id != PLAIN.id


def greedy_rows(by: int) -> list[list[str]]:
    true, false = PLAIN.weights[0][:2]
    return [[str(true + 4 * by if x == y else false - by) for y in range(5)] for x in range(5)]


def test_a_changed_table_is_refused_by_its_id():
    with pytest.raises(CertificateError, match="it was changed in transit"):
        loads(tampered(weights=greedy_rows(1)))


def test_a_changed_table_with_its_own_id_is_refused_by_the_certificate():
    rows = tuple(tuple(map(int, row)) for row in greedy_rows(1))
    with pytest.raises(CertificateError, match=r"above e\^1"):
        loads(tampered(weights=greedy_rows(1), id=replace(PLAIN, weights=rows).id))


def test_a_smaller_claim_is_refused_by_the_certificate():
    with pytest.raises(CertificateError, match=r"above e\^0.9"):
        loads(tampered(epsilon="0.9"))


ROWS = json.loads(dumps(PLAIN))["weights"]
MALFORMED = {
    "unknown or missing keys: note": {"note": 1},
    "got 'x'": {"format": "x"},
    "levels differ from those of its scale": {"scale": "1:5:2"},
    "scale '5:1:1' is wrong": {"scale": "5:1:1"},
    "scale '1:1e999999:1' is wrong": {"scale": "1:1e999999:1"},
    "levels contain 1": {"levels": [1, 2, 3, 4, 5]},
    "levels are '1', not a list": {"levels": "1"},
    "missing is '0'": {"missing": 0},
    "one row per level": {"missing": True},
    "outputs contain '1e3'": {"outputs": ["1e3", "2", "3", "4", "5"]},
    "must have 6 weights": {"outputs": ["1", "2", "3", "4", "5", "6"]},
    "word_bits is '64.0'": {"word_bits": 64.0},
    "weights contain 1": {"weights": [[1] * 5, *ROWS[1:]]},
    "weights contain '-1'": {"weights": [["-1"] * 5, *ROWS[1:]]},
    "weights contain '1_0'": {"weights": [["1_0"] * 5, *ROWS[1:]]},
    "weights contain '٣'": {"weights": [["٣"] * 5, *ROWS[1:]]},
    "weights are 'None', not a list": {"weights": [None, *ROWS[1:]]},
    "epsilon is '1', not of type str": {"epsilon": 1},
}


@pytest.mark.parametrize("sentence", MALFORMED)
def test_malformed_channels_are_refused_with_the_reason(sentence):
    with pytest.raises(DataError) as refusal:
        loads(tampered(**MALFORMED[sentence]))
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_needed(key):
    fields = json.loads(dumps(PLAIN))
    del fields[key]
    with pytest.raises(DataError, match=f"unknown or missing keys: {key}"):
        loads(json.dumps(fields))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", "[" * 100_000, b"\xff\xfe", '{"a":1,"a":2}']
)
def test_what_is_no_channel_is_refused(text):
    with pytest.raises(DataError):
        loads(text)


def test_zero_bits_of_word_are_refused_by_the_certificate():
    rows = (("1",) * 1,) * 5
    channel = Channel(STARS.levels, (Decimal(1),), ((1,),) * 5, "1", word_bits=0)
    with pytest.raises(CertificateError, match="got 0"):
        loads(tampered(weights=rows, outputs=["1"], word_bits=0, id=channel.id))


def test_uneven_levels_have_no_scale():
    uneven = replace(PLAIN, levels=(*PLAIN.levels[:4], Decimal(7)))
    with pytest.raises(RequestError, match="not evenly spaced"):
        dumps(uneven)


@given(st.text(max_size=200))
def test_arbitrary_text_never_crashes(text):
    with pytest.raises(DataError):
        loads(text)


@settings(max_examples=40)
@given(
    st.sampled_from(KEYS),
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists),
)
def test_arbitrary_values_never_crash(key, value):
    try:
        loads(tampered(**{key: value}))
    except (DataError, CertificateError):
        return
    assert json.loads(dumps(PLAIN))[key] == value
