"""Writes moves of a provider that both devices verify, and forged ones, which both refuse.

PYTHONPATH=tests/importable python tests/vectors/moves.py
"""

import json
import runpy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from provider_keys import KEY, OTHER, encodings, raw, signature

from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.moves import Move, base64url, is_signed, is_successor
from tacit.wire.tasks.task import Task

HERE = Path(__file__).parent
MAKE = runpy.run_path(str(HERE / "make.py"))
asking, growing, spelled, verdict = (
    MAKE[name] for name in ("asking", "growing", "spelled", "verdict")
)
FILMS, NEXT, LAST = "https://films.example", "https://next.example", "https://last.example:8443"
ORIGINS = (
    NEXT, LAST, "http://localhost", "http://localhost:8000", "http://127.0.0.1:8000",
    "http://127.8.9.1", "http://[::1]:8000", "http://next.example", "http://128.0.0.1",
    "http://localhost.next.example", "http://127.0.0.1.next.example", "http://[::2]",
    "http://10.0.0.1", NEXT + "/", NEXT + ":443", "https://Next.example", "next.example", "",
    "wss://next.example", "http://my-localhost", "http://[::7f00:1]", "https://a@next.example",
)  # fmt: skip
KEYS = (
    KEY.public, OTHER.public, "", KEY.public[:-1], KEY.public + "A", KEY.public + "==",
    "A" + KEY.public[1:], "f" + KEY.public[1:], KEY.public[:-1] + "A", KEY.public[:-1] + "4",
    KEY.public[:-1] + "\n", "=" + KEY.public[1:], "+" + KEY.public[1:], KEY.public[:-1] + "é",
)  # fmt: skip


def signatures() -> list[dict[str, Any]]:
    """Signatures of messages, and forgeries of each kind."""
    messages = ["", "a", "move " * 200]
    modulus = KEY.private.public_key().public_numbers().n
    made: list[tuple[str, str, str]] = []
    for text in messages:
        message = text.encode()
        own = signature(message)
        made += [(text, own, KEY.public), (text, signature(message, OTHER), OTHER.public)]
        made += [(text, own, OTHER.public), (text + " ", own, KEY.public)]
        made += [(text, base64url(raw(each)), KEY.public) for each in encodings(message).values()]
    small = next(text for text in map(str, range(99)) if _number(text) + modulus < 1 << 3072)
    number, own = _number(small), signature(small.encode())
    wrong = [number + modulus, modulus - number, modulus, modulus + 1, 0, 1, modulus - 1]
    made += [(small, base64url(each), KEY.public) for each in wrong]
    texts = [own[:-1], own + "A", own + "==", "", own[:-1] + "=", own[1:], own + "\n", " " + own]
    made += [(small, each, KEY.public) for each in texts]
    made += [(small, own, each) for each in KEYS]
    return [
        {"message": text, "signature": one, "key": key, "holds": is_signed(text.encode(), one, key)}
        for text, one, key in made
    ]


def _number(text: str) -> int:
    return int.from_bytes(KEY._sign(text.encode()))


def moved() -> list[Task]:
    """Moves of each plan: after and before an extension, twice, and back."""
    rated = _keyed(asking("rated", provider=FILMS))
    slots = _keyed(growing("sample:3", limit=9))
    longer = slots.extended(["new"], ["Neu"], open_from=28)
    once = KEY.move(rated, NEXT)
    return [
        rated,
        once,
        KEY.move(once.extended(["new", "neu"], ["", "ü"]), LAST),
        KEY.move(once, FILMS).extended(["new"], [""]),
        slots,
        KEY.move(longer, NEXT),
        KEY.move(slots, NEXT).extended(["new"], [""], open_from=28),
        KEY.move(_keyed(asking("sample:3", provider=FILMS)), "http://[::1]:8000"),
    ]


def _keyed(task: Task, **changes: Any) -> Task:
    return replace(task, channels=task.channels[:1], provider_key=KEY.public, **changes)


def forged() -> list[str]:
    """Moves that a device must refuse, each for one reason."""
    rated, once, twice, *_ = moved()
    first, line = once.document.decode().split("\n")
    fields = json.loads(line)
    other, bare = replace(rated, name="Other films"), replace(rated, provider_key=None)
    changes: list[dict[str, Any]] = [
        {"parent": "0" * 64}, {"parent": rated.question}, {"parent": 0}, {"successor": LAST},
        {"successor": "http://next.example"}, {"successor": NEXT + "/"}, {"successor": None},
        {"signature": ""}, {"signature": None}, {"signature": fields["signature"][:-1]},
        {"signature": fields["signature"] + "="}, {"more": 1}, {"format": "tacit-move-2"},
        {"signature": signature(line.encode())}, {"signature": fields["signature"][::-1]},
        {"signature": signature(Move(rated.address, NEXT, "").statement, OTHER)},
    ]  # fmt: skip
    lines = [spelled(fields | change) for change in changes]
    lines += [spelled(dict(reversed(fields.items()))), json.dumps(fields), line + " ", line + "\n"]
    statement = Move(rated.address, NEXT, "").statement
    for each in encodings(statement).values():
        lines.append(spelled(fields | {"signature": base64url(raw(each))}))
    lines.append(_signed(rated.address, FILMS))
    found = [f"{first}\n{each}" for each in lines]
    found += [f"{each.document.decode()}\n{line}" for each in (other, bare, once)]
    found.append(f"{bare.document.decode()}\n{_signed(bare.address, NEXT)}")
    found.append(f"{other.document.decode()}\n{_signed(rated.address, NEXT)}")
    found.append("\n".join(twice.document.decode().split("\n")[::2]))
    known = json.loads(first)
    found.append(f"{spelled(known | {'provider_key': OTHER.public})}\n{line}")
    found += [spelled(known | {"provider_key": key}) for key in (*KEYS[2:], None, 5)]
    terms = json.loads(moved()[4].document)
    for key in ("", "key", KEYS[3], 0):
        change = {"extendable": terms["extendable"] | {"provider_key": key}}
        found.append(spelled(terms | change))
    found.append(spelled({key: known[key] for key in known if key != "provider_key"}))
    found.append(spelled({key: known[key] for key in known if key != "provider"}))
    found.append(spelled(known | {"format": "tacit-task-2"}))
    found.append(spelled(terms | {"provider_key": KEY.public}))
    return found


def _signed(parent: str, successor: str) -> str:
    move = Move(parent, successor, "")
    return move._replace(signature=signature(move.statement)).document.decode()


def tasks() -> list[dict[str, Any]]:
    """Each task with its verdict, and what a device reads in it."""
    found = []
    for document in [*(task.document.decode() for task in moved()), *forged()]:
        line = document.rpartition("\n")[2].encode()
        address = MAKE["sha256"](line).hexdigest()
        said = verdict(partial(loads, document.encode(), address))
        read = _read(document) if said["verdict"] == "holds" else {}
        found.append({"task": document, "address": address, **said, **read})
    return found


def _read(document: str) -> dict[str, Any]:
    task = loads(document.encode())
    names = ("provider", "question", "root", "ancestors", "chain", "origins")
    return {name: getattr(task, name) for name in names} | {"key": task.provider_key}


def text() -> str:
    """The file: one example a line."""
    made = {
        "origins": [[origin, is_successor(origin)] for origin in ORIGINS],
        "signatures": signatures(),
        "tasks": tasks(),
    }
    parts = [
        f"{json.dumps(name)}: [\n" + ",\n".join(map(spelled, some)) + "\n]"
        for name, some in made.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    (HERE / "moves.json").write_text(text(), encoding="utf-8")
