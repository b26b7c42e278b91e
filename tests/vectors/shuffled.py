"""Writes the worked examples of shuffled tasks that the Python and the JavaScript device both run.

    PYTHONPATH=tests/importable python tests/vectors/shuffled.py

Everything is what Python says today, from fixed seeds; a test holds the file to it.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hostile_recipes.bases import MAKE
from rsa_numbers import modulus
from shuffled_tasks import ITEM_ROUND, ITEMS, LEAST_PAIRS, certificate, item_task, pair_task

from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.sealing import sealing_info
from tacit.privacy.shuffled_messages import ShuffledRound, shuffled_delta, shuffled_epsilon
from tacit.scale import shortest
from tacit.wire.shuffled import register, task
from tacit.wire.shuffled.register import BEGIN, Closing, Register
from tacit.wire.shuffled.round_terms import MESSAGE_BYTES
from tacit.wire.shuffled.task import ShuffledTask

HERE = Path(__file__).parent
KEY = X25519PrivateKey.from_private_bytes(bytes(range(32)))
FILMS, BOOKS = "https://films.example", "https://books.example"
LAST = (1 << 64) - 1


def tasks() -> list[dict[str, Any]]:
    """Documents, good and forged, and what is read of the good ones."""
    public = KEY.public_key().public_bytes_raw()
    first = item_task(key=public)
    named = item_task(None, name="Ä\u2028\x1f\U0001f3a5", items=("Ä", "\u2028", "1"))
    signed = item_task(key=public, signer=modulus(1))
    second = pair_task(signed, signer=modulus(2))
    good = [first, named, item_task(None), pair_task(first), pair_task(first, ITEMS)]
    good += [signed, second, item_task(None, items=(1, 2), signer=modulus(3))]
    documents = [one.document.decode() for one in good]
    forged = [*_forged(first), *_forged_signers(signed), *_forged_claims()]
    return [_read(text) for text in [*documents, *forged]]


def _read(text: str) -> dict[str, Any]:
    document = text.encode()
    address = hashlib.sha256(document).hexdigest()
    verdict = MAKE["verdict"](lambda: task.loads(document, address))["verdict"]
    example = {"task": text, "address": address, "verdict": verdict}
    return example | _fields(task.loads(document)) if verdict == "holds" else example


def _fields(read: ShuffledTask) -> dict[str, Any]:
    return {
        "round": asdict(read.round),
        "announced": read.announced and asdict(read.announced),
        "bundle_bytes": read.bundle_bytes,
        "request_bytes": read.request_bytes,
        "signer": read.signer and read.signer.hex(),
        "key": read.key.hex(),
        "items": list(read.items),
        "devices": read.certificate.devices,
        "about": read.about,
        "first": read.first,
        "closes": read.closes,
    }


def _altered(good: ShuffledTask, **changes: Any) -> str:
    fields = json.loads(good.document) | changes
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _forged(first: ShuffledTask) -> Iterator[str]:
    """Malformed documents, and one that a device must not take for another notation."""
    changes: list[dict[str, Any]] = [
        {"provider": "https://shuffler.example"}, {"shuffler": "shuffler.example"},
        {"items": []}, {"items": [1, 1]}, {"items": [1, "1"]}, {"items": [1, "2"]},
        {"items": [1.5]}, {"items": list(range(28))}, {"items": [""]},
        {"first": "0" * 64}, {"key": ""}, {"key": "0" * 63}, {"key": "G" * 64}, {"key": "A" * 64},
        {"about": "people"}, {"about": "pairs"}, {"closes": 0}, {"closes": True},
        {"closes": 1 << 53}, {"name": ""}, {"name": "Ä" * 201}, {"name": 7},
        {"rounds": []}, {"rounds": [[28, 3, 40]] * 3}, {"rounds": [[28.5, 3, 40]]},
        {"rounds": [[28, 14, 40]]}, {"rounds": [[28, 0, 40]]}, {"rounds": [[28, 3, -1]]},
        {"rounds": [[28, 3]]}, {"rounds": [[28, 3, 40, 1]]}, {"rounds": [[28, 3, 4_944]]},
        {"rounds": [{}]}, {"rounds": None}, {"bundles": 0}, {"bundles": "20"},
        {"delta": "1e-4"}, {"delta": "0"}, {"delta": "1.5"}, {"delta": 0.0001}, {"honest": 1},
        {"honest": "1.0"}, {"honest": "-1"}, {"honest": "1.1"}, {"replaced": "0"}, {"empty": "-1"},
        {"replaced": "NaN"}, {"format": "tacit-shuffled-2"}, {"extends": "0" * 64},
    ]  # fmt: skip
    for change in changes:
        yield _altered(first, **change)
    for buckets in (1 << 40, (1 << 40) + 1):  # the number of a bucket has five bytes
        claim = {"bundles": 1 << 40, "delta": "0.000000000000001", "replaced": "4", "empty": "4"}
        yield _altered(first, rounds=[[buckets, 3, 300]], **claim)
    second = pair_task(first)
    yield _altered(second, first=None)
    yield _altered(second, rounds=[[28, 2, 28]])
    yield _altered(first, items=["@"]).replace("@", "\\ud800")
    text = first.document.decode()
    yield json.dumps(json.loads(text), ensure_ascii=False)
    yield "\ufeff" + text
    yield text + "\n"
    yield text.replace('"closes":2000', '"closes":2e3')
    yield text.replace('"name":"Films"', '"name":"\\u0046ilms"')
    yield text.replace('"name":"Films",', '"name":"Films","name":"Films",')
    yield text.replace('"bundles":20,"honest":"1"', '"honest":"1","bundles":20')
    yield text[:-1]
    yield "[]"


def _forged_signers(signed: ShuffledTask) -> Iterator[str]:
    """Keys of another length, form or notation, and formats that do not match them."""
    number = modulus(1)
    others = [
        number[1:], b"\x7f" + number[1:], number[:-1] + b"\x02", b"\x80" + number, b"",
    ]  # fmt: skip
    for other in others:
        yield _altered(signed, signer=other.hex())
    for value in (number.hex().upper(), None, 7, number.hex() + " ", [number.hex()]):
        yield _altered(signed, signer=value)
    yield _altered(signed, format="tacit-shuffled-1")
    yield _altered(item_task(), format="tacit-shuffled-2")
    yield _altered(signed, rounds=[[28, 3, 4_940]])  # no room for the token in a request


def _forged_claims() -> Iterator[str]:
    """Numbers that do not prove their claims: each change alone makes a tight claim false."""
    good = item_task(certificate=certificate(ITEM_ROUND, LEAST_PAIRS))
    exact = shuffled_epsilon(good.certificate.rounds, devices=20, delta=1e-4)
    claim = replace(good.certificate, replaced=shortest(Decimal(f"{exact * 1.0002:.6f}")))
    tight = replace(good, certificate=claim)
    yield tight.document.decode()
    changes: list[dict[str, Any]] = [
        {"replaced": "0.5"}, {"empty": "0.5"}, {"delta": "0.001"}, {"delta": "0.00009"},
        {"bundles": 19}, {"honest": "0.95"}, {"honest": "0.9" + "9" * 38}, {"bundles": 101},
        {"rounds": [[28, 3, 39], [21, 2, 21]]}, {"rounds": [[28, 4, 40], [21, 2, 21]]},
        {"rounds": [[28, 3, 40], [21, 2, 20]]}, {"rounds": [[28, 3, 40], [21, 2, 0]]},
        {"bundles": (1 << 53) - 1, "delta": f"0.{'0' * 25}1", "rounds": [[28, 3, 4_900]]},
    ]  # fmt: skip
    for change in changes:
        yield _altered(tight, **change)


def announced() -> list[dict[str, Any]]:
    """Second tasks, and whether the certificate of the first one covers them."""
    first = item_task()
    second = pair_task(first)
    fewer = ShuffledRound(buckets=28, messages=2, dummies=27)
    smaller = ShuffledRound(buckets=15, messages=2, dummies=21)
    more = ShuffledRound(buckets=28, messages=3, dummies=60)
    sparse = ShuffledRound(buckets=28, messages=1, dummies=27)  # the same epsilon holds
    same = certificate(ITEM_ROUND, sparse, replaced=first.certificate.replaced)
    others = [
        second,
        pair_task(first, ITEMS),
        pair_task(first, messages=1),
        replace(second, first="0" * 64),
        replace(second, provider=BOOKS),
        replace(second, certificate=certificate(ITEM_ROUND, fewer)),
        replace(second, certificate=same),
        replace(second, certificate=certificate(ITEM_ROUND, more)),
        replace(second, certificate=certificate(ITEM_ROUND, smaller), items=ITEMS[:5]),
        replace(second, certificate=replace(second.certificate, bundles=21)),
        replace(second, certificate=replace(second.certificate, replaced="60")),
        first,
        replace(second, signer=modulus(2)),
    ]
    signed = item_task(signer=modulus(1))
    with_signer = [(signed, pair_task(signed, signer=key)) for key in (modulus(2), None)]
    return [
        {
            "first": before.document.decode(),
            "task": one.document.decode(),
            "announced": one.is_announced_by(before),
        }
        for before, one in [
            *((first, one) for one in others),
            (item_task(None), second),
            *with_signer,
        ]
    ]


def registers() -> list[dict[str, Any]]:
    """Registers, good and forged, with the digest that a device has seen before."""
    a, b, c, d = (letter * 64 for letter in "abcd")
    made = Register()
    made.add_task(a, FILMS)
    made.add_task(b, BOOKS)
    seen = made.head
    made.add_closing(a, Closing(bundles=20, batch=d))
    made.add_task(c, FILMS)
    made.add_closing(b, Closing(bundles=3, batch=None))
    other = Register()
    other.add_task(c, FILMS)
    lines = made.document.decode().splitlines(keepends=True)
    bad: list[dict[str, Any]] = [
        {"task": c, "provider": BOOKS}, {"task": d, "provider": FILMS},
        {"task": a, "bundles": 1, "batch": None}, {"task": c, "bundles": -1, "batch": None},
        {"task": c, "bundles": 1.5, "batch": None}, {"task": c, "bundles": 1, "batch": "no"},
        {"task": c, "bundles": 1, "batch": int("1" * 64)}, {"task": c, "batch": None, "bundles": 1},
        {"task": "e", "provider": BOOKS}, {"task": d, "provider": "books"}, {"task": d},
        {"task": 7, "provider": BOOKS}, {"task": d, "provider": BOOKS, "more": 1},
    ]  # fmt: skip
    spelled = [json.dumps({"before": made.head, **one}, separators=(",", ":")) for one in bad]
    last = f'{{"before":"{made.head}","task":"{d}","provider":"{BOOKS}"}}'
    texts = [
        *("".join(lines[:count]) for count in range(6)),
        "".join(lines[:-1])[:-1],
        "".join(lines[1:]),
        "".join([lines[1], lines[0], *lines[2:]]),
        "".join([*lines[:3], lines[4]]),
        *("".join([*lines, line, "\n"]) for line in spelled),
        *(
            "".join([*lines, text, "\n"])
            for text in (last, last.replace('":', '": '), "\ufeff" + last)
        ),
        other.document.decode(),
    ]
    return [_register(text, before) for text in texts for before in (BEGIN, seen)]


def _register(text: str, before: str) -> dict[str, Any]:
    document = text.encode()
    verdict = MAKE["verdict"](lambda: register.loads(document, before))["verdict"]
    example = {"register": text, "before": before, "verdict": verdict}
    if verdict != "holds":
        return example
    read = register.loads(document, before)
    closed = {address: [one.bundles, one.batch] for address, one in read.closed.items()}
    return example | {
        "head": read.head, "open": read.open, "closed": closed, "released": read.released,
    }  # fmt: skip


def deltas() -> list[dict[str, Any]]:
    """Bounds on delta, from rounds of a dozen messages to those of a country."""
    one = ShuffledRound(buckets=28, messages=3, dummies=40)
    two = ShuffledRound(buckets=21, messages=2, dummies=21)
    pairs = ShuffledRound(buckets=44_850, messages=100, dummies=1_776)
    items = ShuffledRound(buckets=4_006, messages=10, dummies=178)
    many = ShuffledRound(buckets=45_150, messages=30, dummies=4_900)
    known = [
        ((one,), 20, 3.0), ((one, two), 20, 3.0), ((one,), 1, 3.0), ((two,), 3, 9.0),
        ((pairs,), 102_680, 1.0), ((items, pairs), 102_680, 1.0), ((items, pairs), 1_002_640, 0.5),
        ((many,), 10**9, 0.05), ((one,), (1 << 53) - 1, 0.05),
        ((ShuffledRound(buckets=28, messages=3),), 20, 1.0),
    ]  # fmt: skip
    return [
        {
            "rounds": [asdict(each) for each in rounds],
            "devices": devices,
            "epsilon": epsilon,
            "neighbour": neighbour,
            "delta": shuffled_delta(rounds, devices=devices, epsilon=epsilon, neighbour=neighbour),
        }
        for rounds, devices, epsilon in known
        for neighbour in ("replaced", "empty")
    ]


def bundles() -> list[dict[str, Any]]:
    """Messages that are drawn from given words, some of which are redrawn."""
    rng = Random(1)
    small, bare = (
        ShuffledRound(buckets=21, messages=4, dummies=6),
        ShuffledRound(buckets=9, messages=2),
    )
    made = [(own, small) for own in ([], [3], [0, 5, 9, 20], [*range(21)], [7, 2, 13, 4, 19, 1])]
    return [_drawn(own, one, rng) for own, one in [*made, (list(range(9)), bare), ([], bare)]]


def _drawn(own: list[int], shuffled: ShuffledRound, rng: Random) -> dict[str, Any]:
    words = [LAST if rng.random() < 0.1 else rng.getrandbits(64) for _ in range(60)]
    source = iter(words)
    messages = draw_bundle(own, shuffled, source.__next__)
    used = words[: len(words) - len(list(source))]
    words = [str(word) for word in used]
    return {"own": own, "round": asdict(shuffled), "words": words, "messages": messages}


def sealed() -> dict[str, Any]:
    """Messages that are sealed with given ephemeral keys. A test opens them."""
    rng = Random(2)
    ephemeral = [rng.randbytes(32) for _ in range(5)]
    messages, address = [0, 1, 255, 44_849, (1 << 40) - 1], "0123456789abcdef" * 4
    made = [
        seal_with(X25519PrivateKey.from_private_bytes(one), KEY.public_key(), message, address)
        for one, message in zip(ephemeral, messages, strict=True)
    ]
    return {
        "private": KEY.private_bytes_raw().hex(),
        "public": KEY.public_key().public_bytes_raw().hex(),
        "address": address,
        "messages": messages,
        "ephemeral": [
            [
                one.hex(),
                X25519PrivateKey.from_private_bytes(one).public_key().public_bytes_raw().hex(),
            ]
            for one in ephemeral
        ],
        "sealed": b"".join(made).hex(),
    }


def seal_with(
    ephemeral: X25519PrivateKey, recipient: X25519PublicKey, message: int, address: str
) -> bytes:
    """HPKE in base mode as RFC 9180 writes it down, with a key that is not random."""
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"
    sent, public = ephemeral.public_key().public_bytes_raw(), recipient.public_bytes_raw()
    secret = extract(b"", kem, b"eae_prk", ephemeral.exchange(recipient))
    shared = expand(secret, kem, b"shared_secret", sent + public, 32)
    hashes = (
        extract(b"", suite, b"psk_id_hash", b""),
        extract(b"", suite, b"info_hash", sealing_info(address)),
    )
    context = b"\x00" + b"".join(hashes)
    secret = extract(shared, suite, b"secret", b"")
    key, nonce = (
        expand(secret, suite, label, context, size)
        for label, size in ((b"key", 16), (b"base_nonce", 12))
    )
    return sent + AESGCM(key).encrypt(nonce, message.to_bytes(MESSAGE_BYTES, "big"), b"")


def extract(salt: bytes, suite: bytes, label: bytes, material: bytes) -> bytes:
    """LabeledExtract."""
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + material, "sha256")


def expand(secret: bytes, suite: bytes, label: bytes, info: bytes, size: int) -> bytes:
    """LabeledExpand to at most 32 bytes."""
    labeled = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(secret, labeled + b"\x01", "sha256")[:size]


def text() -> str:
    """The file: one example a line."""
    parts = []
    for made in (tasks, announced, registers, deltas, bundles, sealed):
        value, spelled = made(), MAKE["spelled"]
        lines = "[\n" + ",\n".join(map(spelled, value)) + "\n]" if isinstance(value, list) else None
        parts.append(f"{json.dumps(made.__name__)}: {lines or spelled(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    (HERE / "shuffled.json").write_text(text(), encoding="utf-8")
