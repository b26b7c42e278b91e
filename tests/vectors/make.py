"""Writes the worked examples that the Python and the JavaScript device both run.

    python tests/vectors/make.py

Everything is what Python says today, from fixed seeds; a test holds the files to it.
"""

import base64
import json
import math
import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from tacit.channels import compile_channel
from tacit.channels.certificate import exp_lower
from tacit.channels.table import Channel, draw
from tacit.channels.thresholds import hash_id, threshold_mix
from tacit.device.list_profile import ListProfile
from tacit.device.profile import Profile
from tacit.errors import TacitError
from tacit.privacy.guarantee import NO_PRIVACY, PARTS
from tacit.privacy.ledger import nano, nats
from tacit.scale import RatingScale, shortest
from tacit.wire import channel as wire_channel
from tacit.wire import report as wire_report
from tacit.wire.exposure import ItemExposure
from tacit.wire.item_model import ItemDraw, ItemModel, ItemPresence, ItemTarget
from tacit.wire.list_model import ItemNeighbours, ListModel, LowRank
from tacit.wire.origin import is_origin
from tacit.wire.report import (
    Report,
    block_key,
    block_report_id,
    erasure_key,
    person,
    report_id,
)
from tacit.wire.tasks import loading
from tacit.wire.tasks.blocks import Growth, ItemBlock, threshold_of
from tacit.wire.tasks.task import Task, asked

HERE = Path(__file__).parent
STARS = RatingScale.parse("1:5:1")
HALVES = RatingScale.parse("0.5:5:0.5")
ITEMS: tuple[int | str, ...] = (0, "b", 2, "d", 4, 5, 6, 7, "ü", 9, 10, "11")
ONE = RatingScale.parse("there")
SECRETS = (bytes(range(32)), bytes(32), b"\xff" * 32)


def chosen() -> list[Channel]:
    """Tables of several kinds, sizes and words, with and without a row for missing."""
    low, high = threshold_mix(epsilon="0.5", scale=STARS, thresholds=2)
    return [
        compile_channel("randomized-response", epsilon="1", scale=STARS),
        compile_channel(
            "randomized-response", epsilon="2.5", scale=STARS, missing=True, word_bits=16
        ),
        compile_channel("randomized-response", epsilon="0.01", scale=RatingScale.parse("-1:1:0.5")),
        compile_channel("modified-laplace", epsilon="1", scale=STARS, missing=True),
        compile_channel("bounded-laplace", epsilon="3", scale=HALVES, word_bits=32),
        compile_channel("duchi", epsilon="0.123456789", scale=STARS, word_bits=12),
        compile_channel("piecewise", epsilon="7", scale=STARS),
        low,
        high,
        compile_channel("randomized-response", epsilon="1", scale=ONE, missing=True),
        compile_channel("optimal", epsilon="3.5", scale=ONE, missing=True, word_bits=12),
    ]


def spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def verdict(read: Callable[[], object]) -> dict[str, str]:
    """What a reader says: "holds", or the kind of error with its sentence."""
    try:
        read()
    except TacitError as error:
        return {"verdict": type(error).__name__, "sentence": str(error)}
    return {"verdict": "holds"}


def channels() -> list[dict[str, Any]]:
    documents = [json.loads(wire_channel.dumps(channel)) for channel in chosen()]
    documents += forged(documents[0])
    texts = [spelled(document) for document in documents]
    return [{"channel": t, **verdict(lambda t=t: wire_channel.loads(t))} for t in texts]


def forged(good: dict[str, Any]) -> list[dict[str, Any]]:
    """Channels that a device must refuse, each for one reason."""
    weights = [list(row) for row in good["weights"]]
    moved = [list(row) for row in weights]
    moved[0][:2] = [str(int(moved[0][0]) + 1), str(int(moved[0][1]) - 1)]
    changes = [
        {"epsilon": "0.999999"},
        {"epsilon": "1e0"},
        {"epsilon": " 1"},
        {"epsilon": "1234"},
        {"epsilon": 1},
        {"id": "0" * 64},
        {"id": None},
        {"weights": moved},
        {"weights": weights[1:]},
        {"weights": [row[1:] for row in weights]},
        {"weights": [["0", *row[1:]] for row in weights]},
        {"weights": [[1, *row[1:]] for row in weights]},
        {"weights": "none"},
        {"outputs": []},
        {"outputs": ["1", "2", "3", "4", 5]},
        {"levels": ["1", "2", "3", "5", "4"]},
        {"scale": "1:5:0.5"},
        {"scale": "1:5:0"},
        {"scale": "5"},
        {"missing": True},
        {"missing": 0},
        {"word_bits": "64"},
        {"word_bits": True},
        {"word_bits": 63},
        {"format": "tacit-channel-2"},
        {"extra": 1},
    ]
    certified = (
        Channel(chosen()[0].levels, (Decimal(1),) * 2, rows, "1", word_bits=bits)
        for rows, bits in (
            (((1, 3),) * 5, 3),
            (((1, 3),) * 4 + ((2, 3),), 2),
            (((1, 3),) * 4 + ((3, 1),), 2),
            (((1, 3),) * 5, 65),
        )
    )
    short = {key: value for key, value in good.items() if key != "id"}
    tables = [json.loads(wire_channel.dumps(channel)) for channel in certified]
    return [good | change for change in changes] + [short] + tables


def draws() -> list[dict[str, Any]]:
    rng = Random(1)
    return [
        {
            "channel": wire_channel.dumps(channel),
            "rows": [_drawn(channel, row, rng) for row in range(len(channel.weights))],
        }
        for channel in chosen()
    ]


def _drawn(channel: Channel, row: int, rng: Random) -> dict[str, Any]:
    """Words at both sides of the bounds, and some at random."""
    shift = 64 - channel.word_bits
    edges = [bound << shift for bound in rng.sample(channel.bounds[row], k=1)]
    words = [0, (1 << 64) - 1, *edges, *(edge - 1 for edge in edges)]
    words += [rng.getrandbits(64) for _ in range(6)]
    return {
        "words": [str(word) for word in words],
        "symbols": [draw(channel, row, lambda w=word: w) for word in words],
    }


def posteriors() -> list[dict[str, Any]]:
    """P(input | symbol) under a uniform prior, by the naive formula."""
    found = []
    for channel in (*chosen()[:4], *chosen()[-2:]):
        columns = list(zip(*channel.likelihood, strict=True))[:6]
        shares = [[p / sum(column) for p in column] for column in columns]
        found.append({"channel": wire_channel.dumps(channel), "shares": shares})
    return found


def numbers() -> dict[str, Any]:
    decimals = ["0", "-0.0", "007.50", "-2.50", "10", "0.000000001", "12345678901234567890.10"]
    epsilons = ["0", "0.5", "0.0000000001", "1.0000000001", "7", "0.123456789"]
    points = [-6, -2.5, -1, -0.3, -1e-9, 0, 1e-12, 0.1, 0.5, 1, 1.7, 1.99, 2, 2.01, 3, 5, 9, 20]
    return {
        "shortest": [[text, shortest(Decimal(text))] for text in decimals],
        "nano": [[text, str(nano(text)), nats(nano(text))] for text in epsilons],
        "hash_id": [[one, str(hash_id(one))] for one in (0, 7, -3, "7", "Ä", "日本")],
        "exp_lower": [[e, str(exp_lower(Fraction(e)) * 10**40 // 1)] for e in epsilons],
        "erfc": [[x, math.erfc(x)] for x in points],
    }


def asking(plan: str, **changes: Any) -> Task:
    """A small task; `missing` follows the plan."""
    tables = tuple(
        compile_channel("randomized-response", epsilon=e, scale=STARS, missing=plan != "rated")
        for e in ("0.5", "2", "1")
    )
    fields = {
        "name": "Films & Bücher",
        "scale": STARS,
        "plan": plan,
        "items": ("7", "7a", "300", "ä", "日本", "-1"),
        "titles": ("Alien", 'a\n"b"\\', "\u2028\x7f", "Ä", "日本", ""),
        "channels": tables,
        "start": 1_000,
    }
    return Task(**fields | changes)


def marking(plan: str, **changes: Any) -> Task:
    """The same on the scale of one level, which has nothing to hide under "rated"."""
    tables = tuple(
        compile_channel("randomized-response", epsilon=e, scale=ONE, missing=True)
        for e in ("0.5", "2", "1")
    )
    return asking(plan, name="Seen", scale=ONE, channels=tables, **changes)


def tasks() -> list[dict[str, Any]]:
    good = [
        asking("rated"),
        asking("catalogue", titles=None, window=0, retention_days=0),
        asking("sample:3", start=-5, epoch_seconds=60, items=(7, 70, 300, -1, 0, 5)),
        asking("sample:100"),
        asking("rated", items=((1 << 53) - 1, 1 - (1 << 53), 0, 1, 2, 3)),
        asking("rated", items=("\U0001f3ac" * 200, "a", "b", "c", "d", "e")),
        asking("rated", provider="https://films.example"),
        asking("catalogue", provider="http://127.0.0.1:8000"),
        asking("sample:3", provider="https://[2001:db8::1]:8443"),
        marking("catalogue"),
        marking("sample:3", provider="https://films.example"),
        asking("catalogue", provider="https://films.example", uncovered=("the catalogue",)),
        asking("rated", uncovered=tuple(PARTS.values())),
        *_extended_tasks(),
        *_growing_tasks(),
    ]
    documents = [task.document.decode() for task in good]
    documents += [*_forged_tasks(documents[0]), "[]", "{"]
    documents += _forged_extensions() + _forged_growth()
    return [_read(document) for document in documents]


def _extended_tasks() -> list[Task]:
    """A first task with titles and one without, extended once and twice."""
    named = asking("rated", provider="https://films.example")
    once = named.extended(["new", "日本 2"], ["Neu\n\u2028", ""])
    bare = asking("rated", provider="https://films.example", titles=None, items=(1, 2, 3))
    return [once, once.extended(["9"], ["Neun"]), bare.extended([7]).extended([5, 6])]


def growing(plan: str, *, limit: int, renewals: tuple[int, ...] = (), **changes: Any) -> Task:
    """A small task over slots that can be extended."""
    task = asking(plan, provider="https://films.example", **changes)
    n = len(task.items)
    block = ItemBlock(0, n, threshold_of(task.slots, n), 0)
    return replace(task, growth=Growth(limit, renewals, (block,)))


def _growing_tasks() -> list[Task]:
    """Each plan, extended at other rates, and with a limit that the second block exceeds."""
    some = growing("sample:3", limit=9, renewals=(10, 17), uncovered=("the catalogue",))
    twice = some.extended(["new", "neu"], ["", "ü"], open_from=28, threshold=(1 << 64) - 1)
    every = growing("catalogue", limit=7, titles=None, items=range(1, 7))
    return [
        some,
        twice,
        twice.extended(["x"], ["X"], open_from=0, threshold=1),
        every,
        every.extended([7, 8], open_from=3).extended([9], open_from=4),
        growing("sample:9", limit=6),
    ]


def _forged_growth() -> list[str]:
    """Terms and blocks that a device must refuse, each for one reason."""
    task = _growing_tasks()[1]
    first, second = task.document.decode().split("\n")
    fields, block = json.loads(first), json.loads(second)
    terms = fields["extendable"]
    half = str(1 << 63)
    changes: list[dict[str, Any]] = [
        {"threshold": str((1 << 63) - 1)}, {"threshold": 1 << 63}, {"threshold": "0" + half},
        {"threshold": "-1"}, {"threshold": "²"}, {"threshold": ""}, {"threshold": half + " "},
        {"threshold": "1" * 21}, {"open_from": -1}, {"open_from": "0"}, {"open_from": None},
        {"limit": 2}, {"limit": -9}, {"limit": 4097}, {"limit": True}, {"limit": "9"},
        {"renewals": [0]}, {"renewals": [5, 5]}, {"renewals": [6, 5]}, {"renewals": [-1]},
        {"renewals": list(range(1, 102))}, {"renewals": None}, {"renewals": ["5"]},
        {"renewals": [1 << 53]}, {"provider_key": "key"}, {"provider_key": 0}, {"more": 1},
    ]  # fmt: skip
    forged = [spelled(fields | {"extendable": terms | change}) for change in changes]
    wrong: list[dict[str, Any]] = [
        {"extendable": None}, {"extendable": []}, {"extendable": {}}, {"plan": "rated"},
        {"plan": "catalogue"}, {"plan": "sample:4"}, {"format": "tacit-task-2"},
        {"format": "tacit-task-4"}, {"provider": None}, {"uncovered": []},
    ]  # fmt: skip
    forged += [spelled(fields | change) for change in wrong]
    forged += [spelled({key: fields[key] for key in fields if key != gone})
               for gone in ("extendable", "provider")]  # fmt: skip
    forged.append(spelled(fields | {"extendable": dict(reversed(terms.items()))}))
    rated = json.loads(asking("rated", provider="https://films.example").document)
    forged.append(spelled(rated | {"format": "tacit-task-3", "extendable": terms}))
    added: list[dict[str, Any]] = [
        {"format": "tacit-extension-1"}, {"parent": "0" * 64}, {"items": []}, {"items": ["7", "x"]},
        {"titles": None}, {"threshold": "0"}, {"threshold": str((1 << 64) + 1)}, {"threshold": 5},
        {"threshold": "05"}, {"open_from": -1}, {"open_from": 1.5}, {"open_from": 1 << 53},
        {"successor": "https://other.example"}, {"successor": ""}, {"more": 1},
    ]  # fmt: skip
    lines = [spelled(block | change) for change in added]
    lines.append(spelled(dict(list(block.items())[:4]) | {"format": "tacit-extension-1"}))
    forged += [f"{first}\n{line}" for line in lines]
    every, line = _growing_tasks()[4].document.decode().split("\n")[:2]
    return [*forged, f"{every}\n{spelled(json.loads(line) | {'threshold': half})}"]


def _forged_extensions() -> list[str]:
    """Extensions of other tasks, of what cannot be extended, and in another notation."""
    once = _extended_tasks()[0]
    first, second = once.document.decode().split("\n")
    fields = json.loads(second)
    slots = asking("sample:3", provider="https://films.example")
    nobody = asking("rated")
    changes: list[dict[str, Any]] = [
        {"format": "tacit-extension-2"}, {"format": "tacit-task-2"}, {"parent": "0" * 64},
        {"parent": once.question}, {"items": []}, {"items": [7, 8]}, {"items": ["7a", "x"]},
        {"items": ["x", "x"]}, {"items": ["x"]}, {"titles": None}, {"titles": ["x"]},
        {"titles": ["x", "y", "z"]}, {"name": "Films"}, {"items": "ab"}, {"items": ["", "x"]},
    ]  # fmt: skip
    lines = [spelled({**fields, **change}) for change in changes]
    lines += [json.dumps(fields), second + " ", "", "{}", second + "\n", second + "\n" + second]
    forged = ["\n".join((first, line)) for line in lines]
    for other in (slots, nobody):
        known = {"parent": other.address, "items": ["x"], "titles": ["x"]}
        forged.append(other.document.decode() + "\n" + spelled(fields | known))
    return [*forged, "\n" + first, second, second + "\n" + first]


def _forged_tasks(good: str) -> list[str]:
    fields = json.loads(good)
    table, slotted = fields["channels"][0], json.loads(asking("catalogue").document)["channels"]
    changes = [
        {"name": ""},
        {"name": "ü" * 201},
        {"plan": "sample:0"},
        {"plan": "sample:9999"},
        {"plan": "catalogue"},
        {"plan": "each"},
        {"channels": slotted},
        {"channels": [table, table]},
        {"channels": []},
        {"channels": [table | {"epsilon": "0.49"}]},
        {"channels": [table | {"epsilon": "0.50"}]},
        {"channels": [table | {"levels": ["1.0", *table["levels"][1:]]}]},
        {"channels": [dict(reversed(table.items()))]},
        {"items": ["7a", *fields["items"][1:]]},
        {"items": [7, *fields["items"][1:]]},
        {"items": [7, 7, 8, 9, 10, 11]},
        {"items": fields["items"][:5]},
        {"items": []},
        {"items": [1.5, 2, 3, 4, 5, 6]},
        {"items": [True, 2, 3, 4, 5, 6]},
        {"items": [1 << 53, 2, 3, 4, 5, 6]},
        {"items": [-(1 << 53), 2, 3, 4, 5, 6]},
        {"items": ["", *fields["items"][1:]]},
        {"items": ["x" * 201, *fields["items"][1:]]},
        {"titles": [None, *fields["titles"][1:]]},
        {"scale": "1:4:1"},
        {"scale": "1.0:5:1"},
        {"start": 1.0},
        {"start": "0"},
        {"epoch_seconds": 0},
        {"epoch_seconds": 31_622_401},
        {"window": 1001},
        {"window": -1},
        {"retention_days": 6},
        {"format": "tacit-task-2"},
        {"format": "tacit-task-3"},
        {"format": ["tacit-task-1"]},
        {"provider": "https://films.example"},
        {"extra": None},
        {"uncovered": []},
        {"uncovered": None},
        {"uncovered": "the catalogue"},
        {"uncovered": [1]},
        {"uncovered": ["the ratings"]},
        {"uncovered": ["the catalogue", "the catalogue"]},
        {"uncovered": ["the rating scale", "the catalogue"]},
        {"uncovered": [*PARTS.values(), "the catalogue"]},
    ]
    spellings = [
        spelled({"uncovered": ["the catalogue"]} | fields),
        good.replace('"start":1000', '"start":1000,"start":1000'),
        good.replace('"start":1000', '"start": 1000'),
        good.replace('"start":1000', '"start":1e3'),
        good.replace("Bücher", "B\\u00fccher"),
        good.replace("Alien", "\\ud800"),
        spelled(dict(reversed(fields.items()))),
        "\ufeff" + good,
        good + "\n",
    ]
    forged = [spelled(fields | change) for change in changes]
    return forged + spellings + _forged_providers() + _forged_marks()


def _forged_marks() -> list[str]:
    """Tasks of one level that show all, spell the scale otherwise, or have tables of stars."""
    good = json.loads(marking("catalogue").document)
    bare = Channel(ONE.levels, (Decimal(1),), ((1 << 64,),), "1")
    changes = [
        {"plan": "rated"},
        {"plan": "rated", "channels": [json.loads(wire_channel.dumps(bare))]},
        {"scale": "There"},
        *(
            {"scale": other, "channels": [table | {"scale": other} for table in good["channels"]]}
            for other in ("There", "there ", "1:1:1")
        ),
        {"scale": " there"},
        {"scale": "1:1:1"},
        {"scale": "there:1:1"},
        {"scale": "1:5:1"},
        {"channels": json.loads(asking("catalogue").document)["channels"]},
        {"channels": [table | {"scale": "1:1:1"} for table in good["channels"]]},
        {"channels": [table | {"levels": ["2"]} for table in good["channels"]]},
        {"channels": [table | {"missing": False} for table in good["channels"]]},
    ]
    return [spelled(good | change) for change in changes]


def _forged_providers() -> list[str]:
    """Tasks that name a provider which is none, or in another place than theirs."""
    good = asking("rated", provider="https://films.example").document.decode()
    wrong = (
        "https://films.example/",
        "HTTPS://films.example",
        "https://films.example:443",
        "",
        None,
    )
    fields = json.loads(good)
    first = {"provider": fields.pop("provider")}
    moved = [first | fields, fields | first]
    return [spelled(json.loads(good) | {"provider": one}) for one in wrong] + [
        spelled(one) for one in moved
    ]


def _read(document: str) -> dict[str, Any]:
    address = sha256(document.encode().rpartition(b"\n")[2]).hexdigest()
    read = {"task": document, "address": address}
    said = verdict(lambda: loading.loads(document.encode(), address))
    if said["verdict"] != "holds":
        return read | said
    task = loading.loads(document.encode())
    return read | said | {
        "provider": task.provider,
        "question": task.question,
        **({"root": task.root, "ancestors": task.ancestors, "items": task.items,
            "titles": task.titles} if task.lineage else {}),
        **({"uncovered": list(task.uncovered)} if task.uncovered else {}),
        **({"growth": _growth(task.growth)} if task.growth else {}),
        "epochs": [[now, task.epoch(now)] for now in (-100, 999, 999.5, 1000, 87_399.9, 10**9)],
        "chosen": {
            most: verdict(lambda m=most: task.choose(m)).get("sentence") or task.choose(most).id
            for most in ("0.1", "0.50", "0.999", "1.0", "100", "1e0", "")
        },
        "people": [_names(task, secret) for secret in SECRETS],
    }  # fmt: skip


def _growth(growth: Growth) -> dict[str, Any]:
    return {
        "limit": growth.limit,
        "renewals": growth.renewals,
        "blocks": [[b.first, b.end, str(b.threshold), b.open_from] for b in growth.blocks],
        "generations": [[epoch, growth.generation(epoch)] for epoch in (0, 9, 10, 16, 17, 99)],
    }


def _names(task: Task, secret: bytes) -> dict[str, Any]:
    where, provider = task.root, task.provider
    me = person(secret, where, provider)
    places = (0, 5) if task.plan == "rated" else (None,)
    ids = [[e, p, report_id(secret, where, e, p, provider)] for e in (0, 17) for p in places]
    erasing = {} if provider is None else {"key": erasure_key(secret, where, provider).hex()}
    names = {"secret": secret.hex(), "person": me}
    if task.growth is not None:
        return names | erasing | {"blocks": list(_queried(task, secret))}
    return names | {"ids": ids, "asked": list(asked(task, me))} | erasing


def _queried(task: Task, secret: bytes) -> Iterator[dict[str, Any]]:
    """Key, items and report ids of each block, whether within the limit or not."""
    assert task.growth is not None
    assert task.provider is not None
    for block, address in zip(task.growth.blocks, task.chain, strict=True):
        key = block_key(secret, task.provider, address)
        ids = [block_report_id(secret, task.provider, task.root, address, g)
               for g in range(task.growth.generations)]  # fmt: skip
        yield {"key": key, "places": block.places(key, task.item_hashes), "ids": ids}


def origins() -> list[list[Any]]:
    """Texts, and whether they are origins in their one spelling."""
    hosts = ("films.example", "Films.example", "films.example.", "films..example", "a_b.example",
             "-a.example", "a-.example", "a" * 63 + ".b", "a" * 64, "bücher.example", "127.0.0.1",
             "127.1", "1.2.3.04", "1.2.3.256", "1.2.3.4.5", "0x7f.1", "a.0x", "a.1", "1a.example",
             "localhost", "[::1]", "[::]", "[::0]", "[1::0:1]", "[0:0:0:0:0:0:0:1]", "[1:0:0:2::3]",
             "[1:0:0:2:0:0:0:3]", "[1:0:0:2::]", "[1::2:0:0:3:4]", "[1:0:0:2:3::4]", "[::FFFF]",
             "[::ffff:102:304]", "[::ffff:1.2.3.4]", "[::1%25a]", "[12345::]", "[:::]", "me@a.b",
             ".".join(["a" * 61] * 4), ".".join(["a" * 63] * 4), "", " ", "a b", "a\n")  # fmt: skip
    texts = [f"https://{host}" for host in hosts]
    ports = ("", "0", "1", "80", "443", "0443", "8443", "65535", "65536", "123456", "x", "-1")
    texts += [f"{scheme}://a.b:{port}" for scheme in ("http", "https") for port in ports]
    texts += [
        "HTTP://a.b",
        "ftp://a.b",
        "//a.b",
        "a.b",
        "https:/a.b",
        "https://a.b/",
        "https://a.b?",
    ]
    return [[text, is_origin(text)] for text in texts]


def reports() -> list[dict[str, Any]]:
    rng = Random(2)
    found = []
    for channel in chosen():
        symbols = [0, len(channel.outputs) - 1, rng.randrange(len(channel.outputs))]
        report = Report("ab" * 16, channel.id, 17, "0f" * 16, (0, 11, 4095), tuple(symbols))
        text = wire_report.dumps(report, channel).decode()
        block = wire_report.dumps(replace(report, key="c4" * 16), channel).decode()
        found.append(
            {"channel": wire_channel.dumps(channel), "symbols": symbols, "report": text,
             "block": block, "upload": wire_report.upload([text.encode()] * 2).decode()}
        )  # fmt: skip
    return found


def profiles() -> list[dict[str, Any]]:
    stars = {0: 5.0, "b": 1.0, 2: 3.0, "d": 4.0, 6: 5.0, "gone": 2.0}
    halves = {9: 0.5, 4: 5.0, 2: 3.5, 0: 4.5}
    made = [
        (published(STARS, "linear", presence=False), stars),
        (published(STARS, "linear", presence=True), stars),
        (published(STARS, "cells", presence=False), stars),
        (published(STARS, "cells", presence=True), stars),
        (published(HALVES, "cells", presence=True), halves),
        (published(STARS, "cells", presence=True), {}),
        (published(STARS, "cells", presence=True, shrinking=True), stars),
        (published(STARS, "linear", presence=False, shrinking=True), stars),
        (across_domains(STARS), stars),
        (replace(across_domains(STARS), target=ItemTarget(10)), stars),
    ]
    # Format 3: exposure with and without levels of its own, and for a user without items.
    made += [
        (replace(made[number][0], exposure=exposed(K, level=level)), ratings)
        for number, K, level, ratings in (
            (1, 3, False, stars), (6, 40, True, stars), (3, 0, True, stars), (4, 2, True, halves),
            (5, 3, False, {}), (5, 3, True, {}),
        )
    ]  # fmt: skip
    # Format 4: hidden items, own and unrated ones, without and with an exposure.
    made += [
        (made[number][0].hiding(("b", 4, 6, "unknown")), made[number][1])
        for number in (0, 3, 8, 11, 13)
    ]
    return [_solved(model, ratings) for model, ratings in made]


def exposed(K: int, *, level: bool) -> ItemExposure:
    """An exposure with vectors over all bytes, and scores of either sign."""
    rng, n = Random(f"exposure {K} {level}"), len(ITEMS)
    spectrum = array("f", [1e-9 * rng.uniform(-1, 4) for _ in range(K)])
    popularity = array("f", [0.3 * _bell(rng) for _ in range(n if level else 0)])
    return ItemExposure(spectrum, rng.randbytes(n * K), popularity)


def published(
    scale: RatingScale, link: str, *, presence: bool, shrinking: bool = False
) -> ItemModel:
    """A small item model out of thin air, with numbers of a natural size."""
    rng = Random(f"{scale}{link}{presence}")
    n, K, d = len(ITEMS), 3, 2

    def normal(count: int, spread: float) -> "array[float]":
        return array("f", [spread * _bell(rng) for _ in range(count)])

    def item_side() -> ItemDraw:
        precision = array("f", [rng.uniform(1, 4) for _ in range(1 + K)])
        prior = normal((1 + d) * (1 + K) if presence else 0, 0.2)
        mu, bias, factors = 3 + 0.2 * _bell(rng), normal(n, 0.4), normal(n * K, 0.6)
        more = array("f", [rng.uniform(0, 0.5) for _ in range(n if shrinking else 0)])
        return ItemDraw(mu, bias, factors, precision, prior, more)

    draws = tuple(item_side() for _ in range(2))
    recipe = ItemPresence(normal(n * d, 0.3), normal(d, 0.1), 1.4, 0.7, 2.0) if presence else None
    sigma = 0.85 if link == "cells" else 0.0
    return ItemModel(scale, ITEMS, K, link, sigma, draws, replace(NO_PRIVACY), recipe)


def across_domains(scale: RatingScale) -> ItemModel:
    """A model of two domains, whose last items get medians."""
    target = ItemTarget(5, (2.5, 2.75, 2.75, 3.25))
    return replace(published(scale, "linear", presence=False), target=target)


def _bell(rng: Random) -> float:
    """Nearly normal, with no digit that hangs on a machine's own logarithm."""
    return sum(rng.uniform(-1, 1) for _ in range(3))


def _solved(model: ItemModel, ratings: dict[int | str, float]) -> dict[str, Any]:
    # What a device reads: format 2 rounds factors and vectors to halves.
    profile = Profile(ItemModel.from_bytes(model.to_bytes()), ratings)
    return {
        "list_model": base64.b64encode(a_list(3, 12).to_bytes()).decode(),
        "model": base64.b64encode(model.to_bytes()).decode(),
        "ratings": [list(pair) for pair in ratings.items()],
        "rows": profile.rows,
        "predictions": [[item, profile.predict(item)] for item in (*model.items, "gone")],
        "recommended": [list(pair) for pair in profile.recommend(4)],
        "by_rating": [list(pair) for pair in profile.recommend(4, "rating")],
    }


def lists() -> list[dict[str, Any]]:
    """Models of every shape, and one in which all items are tied but for their neighbours."""
    shapes = [(0, 0), (3, 0), (0, 2), (0, 12), (3, 2), (3, 12)]
    owns: list[list[int | str]] = [
        [], ["b", 9, 2], [2, "gone", 9, "b", 2, "2"], list(ITEMS[1:]), list(ITEMS),
    ]  # fmt: skip
    return [
        {
            "model": base64.b64encode(model.to_bytes()).decode(),
            "profiles": [_ranked(model, own) for own in owns],
        }
        for model in (
            *(a_list(*shape) for shape in shapes),
            _tied(),
            a_list(3, 2).hiding(["b", 4]),
            _tied().hiding(ITEMS),
        )
    ]


def a_list(factors: int, neighbours: int) -> ListModel:
    """A small list model out of thin air; numbers of so many sizes that the order of a sum
    is seen in its digits."""
    rng = Random(f"{factors} {neighbours}")
    n = len(ITEMS)

    def singles(count: int) -> "array[float]":
        return array("f", [rng.uniform(-1, 1) * 2.0 ** rng.randint(-9, 9) for _ in range(count)])

    def halves(count: int) -> bytes:
        sizes = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-24, 3) for _ in range(count)]
        return struct.pack(f"<{count}e", *sizes)

    popularity, low, near = singles(n), None, None
    if factors:
        low = LowRank(singles(n), singles(n), singles(factors), halves(n * factors))
    if neighbours:
        listed = neighbours if neighbours < n else 0
        rows = [sorted(rng.sample(range(n), listed)) for _ in range(n)]
        places = struct.pack(f"<{n * listed}H", *(place for row in rows for place in row))
        near = ItemNeighbours(neighbours, places, halves(n * neighbours))
    return ListModel(ITEMS, popularity, NO_PRIVACY, low, near)


def _tied() -> ListModel:
    n = len(ITEMS)
    near = ItemNeighbours(1, struct.pack(f"<{n}H", *[7] * n), struct.pack(f"<{n}e", *[0.1] * n))
    return ListModel(ITEMS, array("f", [-0.0, 0.0] * (n // 2)), NO_PRIVACY, None, near)


def _ranked(model: ListModel, own: list[int | str]) -> dict[str, Any]:
    profile = ListProfile(model, own)
    best = [list(pair) for pair in profile.recommend(20)]
    return {"own": own, "scores": profile.scores, "recommended": best}


def unknown() -> list[dict[str, Any]]:
    """Profiles of which a model knows no item, and what both kinds of model say of them."""
    model, listed = published(STARS, "linear", presence=False), a_list(3, 12)
    owns: list[list[int | str]] = [
        [], ["gone"], [12], ["gone", 12, -1], ["gone", "gone"], ["gone", 2], ["gone", "b", 2],
    ]  # fmt: skip
    return [
        {
            "model": base64.b64encode(model.to_bytes()).decode(),
            "list_model": base64.b64encode(listed.to_bytes()).decode(),
            "own": own,
            "profile": verdict(lambda own=own: Profile(model, dict.fromkeys(own, 3.0))),
            "list": verdict(lambda own=own: ListProfile(listed, own)),
        }
        for own in owns
    ]


VECTORS: dict[str, Callable[[], Any]] = {
    "channels": channels,
    "draws": draws,
    "posteriors": posteriors,
    "numbers": numbers,
    "tasks": tasks,
    "origins": origins,
    "reports": reports,
    "profiles": profiles,
    "lists": lists,
    "unknown": unknown,
}


def text_of(name: str) -> str:
    """The file of that name, one example a line."""
    made = VECTORS[name]()
    if isinstance(made, dict):
        lines = [f"{json.dumps(key)}: {spelled(value)}" for key, value in made.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"
    return "[\n" + ",\n".join(spelled(example) for example in made) + "\n]\n"


if __name__ == "__main__":
    for name in VECTORS:
        (HERE / f"{name}.json").write_text(text_of(name), encoding="utf-8")
