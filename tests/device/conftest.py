from decimal import Decimal

import pytest
from fake_collector import FakeCollector

from tacit.channels import compile
from tacit.device.client import Client
from tacit.scale import RatingScale
from tacit.wire.task import Task

STARS = RatingScale.parse("1:5:1")
START = 1_000


class Clock:
    """Unix seconds that stand still; `epoch` moves them to the begin of one of 60 s."""

    now = START

    def __call__(self):
        return self.now

    def epoch(self, number):
        self.now = START + 60 * number


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ask():
    """Makes a small task whose epochs have 60 s; `missing` follows the plan."""

    def made(plan="rated", epsilons=("1",), items=range(100, 106), scale=STARS, **changes):
        channels = tuple(
            compile("randomized-response", epsilon=e, scale=scale, missing=plan != "rated")
            for e in epsilons
        )
        fields = {
            "name": "Films",
            "scale": scale,
            "plan": plan,
            "items": tuple(items),
            "channels": channels,
            "start": START,
            "epoch_seconds": 60,
        }
        return Task(**fields | changes)

    return made


@pytest.fixture
def device(clock):
    """Opens a device that asks a fake collector; closed in the end."""
    opened = []

    def made(collector, path=":memory:", *, most_epsilon="2", lifetime="50", **changes):
        told = {"transport": collector, "clock": clock, "chance": lambda: 0.5} | changes
        mine = Client(
            path, "https://films.example", most_epsilon=most_epsilon, lifetime=lifetime, **told
        )
        opened.append(mine)
        return mine

    yield made
    for mine in opened:
        mine.close()


@pytest.fixture
def collector(ask):
    """A fake collector that asks a task made by `ask` with these arguments."""
    return lambda *given, **named: FakeCollector([ask(*given, **named)])


def spent(mine):
    """Epsilon spent in a life, in nats."""
    return Decimal(mine.ledger.spent) / 10**9
