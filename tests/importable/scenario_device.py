"""A device in Python that lives through the scenarios of `tests/vectors/device_scenarios.json`.

`ACTS` is all that a step may do. `tests/page/scenario_device.js` is the twin of this file.
"""

import json
import runpy
import sqlite3
from contextlib import closing
from pathlib import Path

from tacit import errors
from tacit.device.client import Client
from tacit.device.transport import Answer
from tacit.privacy.ledger import nats

TESTS = Path(__file__).parents[1]
FILE, STORES = TESTS / "vectors" / "device_scenarios.json", TESTS / "device" / "stores"
SPELLED = runpy.run_path(str(TESTS / "vectors" / "scenarios.py"))
TEXT = FILE.read_text(encoding="utf-8")
HELD = json.loads(TEXT)
DOCUMENTS = {name: SPELLED["document"](HELD, name).encode() for name in HELD["tasks"]}
ADDRESSES = {name: SPELLED["address"](HELD, name) for name in HELD["tasks"]}
NAMES = {address: name for name, address in ADDRESSES.items()}
QUIET = {"stored": 0, "waiting": 0, "given_up": 0, "late": 0, "refused": 0, "erased": 0,
         "erasing": 0, "again": None, "notes": False}  # fmt: skip
"""What becomes of reports where nothing is said about them."""


class Provider:
    """A transport that answers as told; otherwise it takes one payload an id and no other."""

    def __init__(self):
        self.answers, self.forged, self.known = [], {}, set(NAMES.values())
        self.sent, self.kept = [], {}

    def __call__(self, method, path, body=None, longest=0):
        address, *kind = path.split("/")[3:]
        if method == "GET":
            return Answer(404) if kind else self._document(NAMES[address])
        self.sent.append((path, body.decode()))
        answer = self.answers.pop(0) if self.answers else 200
        if answer in (200, "lost"):
            taken = self._take(NAMES[address], json.loads(body).get("reports", []))
            return taken if answer == 200 else None
        return None if answer == "cut" else self._refusal(answer, body)

    def _document(self, name):
        old, new = self.forged.get(name, ("", ""))
        return Answer(200, DOCUMENTS[name].replace(old.encode(), new.encode()))

    def _take(self, name, reports):
        if name not in self.known:
            return Answer(404)
        if any(self.kept.setdefault(one["id"], one) != one for one in reports):
            return Answer(409, b"one report has another's id")
        return Answer(200, b"{}")

    def _refusal(self, answer, body):
        if isinstance(answer, int):
            return Answer(answer)
        text, reports = answer.get("text", "{}"), json.loads(body).get("reports", [])
        if "refused" in answer and reports:
            why = [{"id": reports[int(k)]["id"], "problem": problem, "detail": "no"}
                   for k, problem in answer["refused"].items()]  # fmt: skip
            text = json.dumps({"refused": why})
        return Answer(answer["status"], text.encode(), answer.get("retry_after", 0))


def fix(monkeypatch, secrets):
    """Puts these secrets in the place of random ones, in order."""
    left = map(bytes.fromhex, secrets)
    monkeypatch.setattr("tacit.device.storage.store.token_bytes", lambda length: next(left))


class Life:
    """One scenario's device, its provider and its clock; the words of its draws, in order."""

    def __init__(self, path, now=1000, store=None, words=HELD["words"]):
        self.path, self.now, self.provider = path, now, Provider()
        self.url = "https://films.example"
        self.words = (int(word, 16) for word in words)
        self.terms, self.client = {}, None
        if store is not None:
            with closing(sqlite3.connect(path)) as db:
                db.executescript((STORES / f"{store}.sql").read_text(encoding="utf-8"))

    def device(self):
        """The device, opened anew after it was closed."""
        self.client = self.client or Client(
            self.path, self.url, **self.terms, transport=self.provider,
            clock=lambda: self.now, words=self.words.__next__, random_share=lambda: 0.5,
        )  # fmt: skip
        return self.client

    def close(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def spent(self):
        """What the ledger says in nats; the store itself, where no device is open on it."""
        if self.client is not None:
            return nats(self.client.ledger.spent)
        with closing(sqlite3.connect(self.path)) as db:
            return nats(db.execute("SELECT spent FROM person").fetchone()[0])


def agree(life, task, **terms):
    """A device that refuses a task keeps the terms that it had."""
    life.close()
    before = life.terms
    life.terms = {**before, "task": ADDRESSES[task], **terms}
    try:
        life.device()
    except errors.TacitError:
        life.terms = before
        raise


def agree_and_sync(life, **terms):
    agree(life, **terms)
    return sync(life)


def meet(life, task):
    agree(life, task)


def reopen(life):
    life.close()
    life.device()


def at(life, origin):
    """From now on the device is opened with this origin."""
    life.close()
    life.url = origin


def rate(life, place, level):
    items = life.device().task.items
    life.device().rate(items[place] if place < len(items) else "no item of it", level)


def clock(life, now):
    life.now = now


def provider(life, answers=(), knows=tuple(DOCUMENTS), forges=()):
    life.provider.answers, life.provider.known = list(answers), set(knows)
    life.provider.forged = dict(forges)


def sync(life):
    return became(life.device().sync())


def erase(life):
    return became(life.device().erase())


def became(outcome):
    """What became of reports; a sentence is in the words of each device."""
    known = vars(outcome)
    refusal = known.pop("refusal")
    assert isinstance(refusal, errors.BudgetError) == (known["refused"] > 0)
    return known | {"notes": bool(known["notes"])}


def export(life):
    held = life.device().export()
    return held | {"tasks": [placed(task) for task in held["tasks"]]}


def placed(task):
    """What is exported of a task, by place; whether each report of an epoch waits."""
    items = SPELLED["items"](HELD, NAMES[task["task"]])
    found = {
        key: [[items.index(item), *rest] for item, *rest in task[key]]
        for key in ("ratings", "answers", "reported")
    }
    return found | {"reports": [[one["epoch"], one["waiting"]] for one in task["reports"]]}


ACTS = {"agree": agree, "agree and sync": agree_and_sync, "meet": meet, "reopen": reopen, "at": at,
        "rate": rate, "clock": clock, "provider": provider, "sync": sync, "retry": sync,
        "erase": erase, "export": export}  # fmt: skip
TOLD = {*QUIET, "refuses", "sends", "holds", "spent"}


def lived(life, step):
    """What comes of a step: the kind of a refusal, what is held, or what became of reports."""
    said = {key: value for key, value in step.items() if key not in {*TOLD, "do"}}
    try:
        came = ACTS[step["do"]](life, **said)
    except errors.TacitError as error:
        return type(error).__name__
    return {key: came[key] for key in step["holds"]} if "holds" in step else came
