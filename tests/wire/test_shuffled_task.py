"""A shuffled task is verified from its numbers alone, as is a second round."""

import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest
from mutating import Mutator
from rsa_numbers import modulus
from shuffled_tasks import (
    ITEM_ROUND,
    ITEMS,
    LEAST_PAIRS,
    LEAST_STARS,
    MEANS,
    SCALE,
    certificate,
    item_task,
    pair_task,
    star_task,
)

from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import CertificateError, DataError, RequestError
from tacit.privacy.shuffled_messages import ShuffledRound, shuffled_epsilon
from tacit.scale import RatingScale, shortest
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES
from tacit.wire.shuffled.round_terms import pair_buckets_of
from tacit.wire.shuffled.task import (
    KEYS,
    SEALED_BYTES,
    SIGNED_KEYS,
    STAR_KEYS,
    is_shuffled_task,
    loads,
)


def altered(task, **changes) -> bytes:
    fields = json.loads(task.document) | changes
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("announced", [None, LEAST_PAIRS])
def test_round_trip(announced):
    for task in (item_task(announced), item_task(announced, items=("Ä", "\u2028", "1"))):
        assert loads(task.document, task.address) == task
        assert tuple(json.loads(task.document)) == KEYS
        assert task.bundle_bytes == (3 + 40) * SEALED_BYTES
        assert task.announced == announced
    second = pair_task(item_task())
    assert loads(second.document, second.address) == second
    assert second.round.buckets == 28


def test_a_changed_task_is_refused():
    task = item_task()
    with pytest.raises(CertificateError, match="changed in transit"):
        loads(altered(task, name="Films!"), task.address)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "value"),
    [("replaced", "0.5"), ("empty", "0.5"), ("delta", "0.001"), ("bundles", 10),
     ("rounds", [[28, 3, 39], [21, 2, 21]]), ("rounds", [[28, 4, 40], [21, 2, 21]])],
)  # fmt: skip
def test_numbers_that_do_not_prove_the_claim_are_refused(key, value):
    """Each change alone makes the same claim false, or violates delta <= .01 / bundles."""
    task = item_task(certificate=certificate(ITEM_ROUND, LEAST_PAIRS))
    exact = shuffled_epsilon(task.certificate.rounds, devices=20, delta=1e-4)
    tight = replace(task.certificate, replaced=shortest(Decimal(f"{exact * 1.0002:.6f}")))
    loads(replace(task, certificate=tight).document)
    with pytest.raises(CertificateError):
        loads(altered(replace(task, certificate=tight), **{key: value}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"provider": "https://shuffler.example"}, "different origins"),
     ({"shuffler": "shuffler.example"}, "is not an origin"),
     ({"items": ()}, "1 to 1000000 items"), ({"items": (1, 1)}, "occurs twice"),
     ({"items": tuple(range(28))}, "more buckets than items"),
     ({"first": "0" * 64}, "is the first one"), ({"key": b""}, "32 bytes"),
     ({"about": "people"}, "items or pairs"), ({"about": "pairs"}, "has 36 buckets"),
     ({"closes": 0}, "Unix seconds"), ({"name": ""}, "1 to 200 characters")],
)  # fmt: skip
def test_an_invalid_task_is_refused_with_the_reason(changes, reason):
    with pytest.raises(RequestError, match=reason):
        replace(item_task(), **changes)


def test_a_bundle_must_fit_in_an_upload():
    many = ShuffledRound(buckets=28, messages=3, dummies=4_944)
    with pytest.raises(RequestError, match="at most 4946 messages"):
        item_task(None, certificate=replace(certificate(ITEM_ROUND), rounds=(many,)))


@pytest.mark.parametrize(
    "changes",
    [{"rounds": [[28, 6, 40]]}, {"rounds": [[28.5, 3, 40]]}, {"rounds": [[28, 14, 40]]},
     {"rounds": []}, {"key": "0" * 63}, {"key": "G" * 64}, {"delta": "1e-4"}, {"honest": 1},
     {"honest": "1.0"},
     {"format": "tacit-shuffled-2"}, {"extends": "0" * 64}, {"closes": True}],
)  # fmt: skip
def test_a_malformed_document_is_refused(changes):
    with pytest.raises((DataError, CertificateError)):
        loads(altered(item_task(), **changes))


def test_a_second_notation_is_refused():
    spaced = json.dumps(json.loads(item_task().document), ensure_ascii=False).encode()
    with pytest.raises(DataError, match="canonical"):
        loads(spaced)


def test_an_announced_round_costs_at_most_the_announced_epsilon():
    first = item_task()
    limit = float(first.certificate.replaced)
    for head in (6, 7, 8):
        second = pair_task(first, ITEMS[:head])
        assert second.is_announced_by(first)
        bound = shuffled_epsilon(second.certificate.rounds, devices=20, delta=1e-4)
        assert bound <= limit * (1 + 1e-9)


def test_other_rounds_are_not_announced():
    first = item_task()
    second = pair_task(first)
    fewer = ShuffledRound(buckets=28, messages=2, dummies=27)
    smaller = ShuffledRound(buckets=15, messages=2, dummies=21)
    more = ShuffledRound(buckets=28, messages=3, dummies=60)
    assert second.is_announced_by(first)
    for other in (
        replace(second, first="0" * 64),
        replace(second, provider="https://books.example"),
        replace(second, certificate=certificate(ITEM_ROUND, fewer)),
        replace(second, certificate=certificate(ITEM_ROUND, more)),
        replace(second, certificate=certificate(ITEM_ROUND, smaller), items=ITEMS[:5]),
        replace(second, certificate=replace(second.certificate, bundles=19)),
        replace(second, certificate=replace(second.certificate, replaced="60")),
    ):
        assert not other.is_announced_by(first)
    assert not second.is_announced_by(item_task(None))
    assert not first.is_announced_by(first)


def test_a_signer_is_a_new_format_and_the_token_is_part_of_the_request():
    """Documents without a signer have the bytes that they had before."""
    plain, signed = item_task(), item_task(signer=modulus(1))
    assert b"tacit-shuffled-1" in plain.document
    assert b"signer" not in plain.document
    assert tuple(json.loads(signed.document)) == SIGNED_KEYS
    assert json.loads(signed.document)["format"] == "tacit-shuffled-2"
    assert loads(signed.document, signed.address) == signed
    assert is_shuffled_task(plain.document)
    assert is_shuffled_task(signed.document)
    assert signed.request_bytes - signed.bundle_bytes == SIGNED_BYTES == 416
    assert plain.request_bytes == plain.bundle_bytes == signed.bundle_bytes


@pytest.mark.parametrize("signer", [b"", b"\x01" * 384, modulus(1)[1:]])
def test_an_invalid_signer_is_refused(signer):
    with pytest.raises(RequestError, match="odd number of 3072 bits"):
        item_task(signer=signer)


def test_both_rounds_require_tokens_or_neither_does():
    plain, signed = item_task(), item_task(signer=modulus(1))
    assert pair_task(signed, signer=modulus(2)).is_announced_by(signed)
    assert not pair_task(signed, signer=None).is_announced_by(signed)
    assert not pair_task(plain, signer=modulus(2)).is_announced_by(plain)


class TestStars:
    """A scale is a third format, with or without a signer. It doubles buckets."""

    @pytest.mark.parametrize("signer", [None, modulus(1)])
    @pytest.mark.parametrize("announced", [None, LEAST_STARS])
    @pytest.mark.parametrize("scale", ["1:5:1", "0.5:5:0.5", "-10:10:0.125"])
    def test_round_trip(self, scale, announced, signer):
        first = star_task(announced, scale=RatingScale.parse(scale), signer=signer)
        assert loads(first.document, first.address) == first
        fields = json.loads(first.document)
        assert tuple(fields) == STAR_KEYS
        assert (fields["format"], fields["scale"]) == ("tacit-shuffled-3", scale)
        assert (fields["signer"], fields["means"]) == (signer and signer.hex(), None)
        assert is_shuffled_task(first.document)
        assert first.announced == announced

    def test_a_task_about_pairs_has_a_mean_per_item(self):
        first = star_task()
        second = pair_task(first)
        assert loads(second.document, second.address) == second
        assert json.loads(second.document)["means"] == list(MEANS[:7])
        assert second.round.buckets == 7 * 6 + 300
        assert second.is_announced_by(first)

    def test_buckets_are_those_of_a_signed_plan(self):
        """Two per item and per pair, and unused ones, as simulated devices number them."""
        plan = ShuffledPlan(
            messages=2, items=8, epsilon="4", delta="0.0001", bundles=20, honest="1", signed=True
        )
        for head in range(plan.least_head, 9):
            assert plan.pair_round(head).buckets == pair_buckets_of(head, signed=True)
        rounds = (plan.item_round(), plan.pair_round(plan.least_head))
        task = star_task(certificate=certificate(*rounds))
        assert loads(task.document) == task

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"scale": RatingScale.parse("there")}, "its scale must have several levels"),
            ({"scale": RatingScale.parse("0:1e13:1e13")}, "below 2\\^53 thousandths"),
            ({"scale": RatingScale.parse("-1e13:0:1e13")}, "below 2\\^53 thousandths"),
            ({"means": MEANS}, "one mean per item if it is about pairs, and else none"),
            ({"items": tuple(range(14))}, "two buckets per item, and unused ones"),
            ({"scale": None, "means": MEANS}, "a task without a scale has no means"),
        ],
    )  # fmt: skip
    def test_invalid_terms_of_items_are_refused(self, changes, reason):
        with pytest.raises(RequestError, match=reason):
            replace(star_task(), **changes)

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"means": None}, "one mean per item"),
            ({"means": MEANS[:6]}, "one mean per item"),
            ({"means": MEANS}, "one mean per item"),
            ({"means": (5001, *MEANS[1:7])}, "thousandths within the scale 1:5:1"),
            ({"means": (999, *MEANS[1:7])}, "thousandths within"),
            ({"means": (True, *MEANS[1:7])}, "means must be integers"),
            ({"means": (3500.0, *MEANS[1:7])}, "means must be integers"),
            ({"items": ITEMS[:6], "means": MEANS[:6]}, "has 330 buckets, got 342"),
            ({"scale": None, "means": None}, "has 28 buckets, got 342"),
        ],
    )
    def test_invalid_terms_of_pairs_are_refused(self, changes, reason):
        with pytest.raises(RequestError, match=reason):
            replace(pair_task(star_task()), **changes)

    @pytest.mark.parametrize(
        "changes",
        [{"format": "tacit-shuffled-1"}, {"format": "tacit-shuffled-2"}, {"scale": None},
         {"scale": "1.0:5:1"}, {"scale": 5}, {"scale": 0}, {"scale": ""}, {"scale": "there"},
         {"means": []}, {"means": {}}, {"signer": 7}, {"signer": ""}, {"format": []},
         {"more": 1}],
    )  # fmt: skip
    def test_a_malformed_document_is_refused(self, changes):
        with pytest.raises(DataError):
            loads(altered(star_task(), **changes))

    @pytest.mark.parametrize(
        "means", [None, [True, *MEANS[1:7]], ["3500", *MEANS[1:7]], [3500.5, *MEANS[1:7]],
                  [3500.0, *MEANS[1:7]], [10**400, *MEANS[1:7]], [], 3500],
    )  # fmt: skip
    def test_malformed_means_are_refused(self, means):
        with pytest.raises(DataError):
            loads(altered(pair_task(star_task()), means=means))

    @pytest.mark.parametrize("key", ["signer", "scale", "means"])
    def test_a_missing_key_is_refused(self, key):
        fields = json.loads(star_task().document)
        del fields[key]
        with pytest.raises(DataError, match="with its keys"):
            loads(json.dumps(fields, separators=(",", ":")).encode())

    def test_both_rounds_have_the_same_scale_or_none(self):
        """A second task on another scale is a debit in full."""
        first = star_task()
        second = pair_task(first)
        for scale in ("0:5:1", "1:5:0.5"):
            assert not replace(second, scale=RatingScale.parse(scale)).is_announced_by(first)
        assert not second.is_announced_by(replace(first, scale=None))
        assert second.is_announced_by(first)
        assert first.scale == SCALE

    def test_a_mutated_document_is_read_or_refused(self):
        """No other error, and what is read is written as it was."""
        mutator = Mutator(5)
        good = [star_task(), pair_task(star_task()), star_task(None, signer=modulus(1))]
        documents = [
            mutator.text(good[number % 3].document.decode(), spaced=False)
            for number in range(1_500)
        ]
        read = [written for written in documents if self.is_read(written)]
        assert 100 < len(read) < 1_000

    def is_read(self, document) -> bool:
        with suppress(DataError, CertificateError):
            assert loads(document).document == document
            return True
        return False
