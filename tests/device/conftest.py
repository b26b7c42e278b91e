import pytest
from fake_collector import FakeCollector

from tacit.device.client import Client

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
def ask(ask):
    """Makes a small task whose epochs have 60 s."""
    return lambda *given, **named: ask(*given, **{"epoch_seconds": 60} | named)


@pytest.fixture
def device(clock):
    """Opens a device that asks a fake collector; closed in the end."""
    opened = []

    def made(
        collector, path=":memory:", *, url="https://films.example", most_epsilon="2",
        lifetime="50", **changes
    ):  # fmt: skip
        options = {"transport": collector, "clock": clock, "random_share": lambda: 0.5} | changes
        mine = Client(path, url, most_epsilon=most_epsilon, lifetime=lifetime, **options)
        opened.append(mine)
        return mine

    yield made
    for mine in opened:
        mine.close()


@pytest.fixture
def collector(ask):
    """A fake collector that asks a task made by `ask` with these arguments."""
    return lambda *given, **named: FakeCollector([ask(*given, **named)])
