"""Ratings of an earlier task, copied to a new first task at the user's wish."""

from dataclasses import replace

import pytest
from fake_collector import FakeCollector

from tacit.channels import compile_channel
from tacit.errors import RequestError
from tacit.scale import RatingScale

TITLES = ("Alien", "Brazil", "Clue", "Dune", "Eraserhead")


@pytest.fixture
def before(ask):
    return ask(items=(1, 2, 3, 4, 5), titles=TITLES)


@pytest.fixture
def now(before):
    return replace(
        before,
        name="New films",
        items=("9", "5", "4", "3", "1"),
        titles=("Alien", "Eraserhead", "Dune", "The Clue", "Alien"),
    )


@pytest.fixture
def rated(before, now, device, tmp_path):
    """A device that rated four items of the task before, and now has the new one."""
    asks = FakeCollector([before])
    with device(asks, tmp_path / "me.db") as mine:
        for item, rating in {1: 5, 2: 4, 3: 3, 4: 2}.items():
            mine.rate(item, rating)
        mine.sync()
    asks.tasks = [now]
    mine = device(asks, tmp_path / "me.db")
    mine.sync()
    return mine, asks


def test_the_same_items_are_copied_and_nothing_is_sent(rated, before):
    mine, asks = rated
    assert mine.ratings == {}
    mine.rate("4", 1)
    sent, spent = list(asks.asked), mine.ledger.spent
    assert mine.copy_ratings(before.address) == 1
    assert mine.ratings == {"1": "5", "4": "1"}
    assert (asks.asked, mine.ledger.spent) == (sent, spent)
    assert mine.copy_ratings(before.address) == 0
    earlier = {each["task"]: each["ratings"] for each in mine.export()["tasks"]}
    assert earlier[before.address] == [(1, "5"), (2, "4"), (3, "3"), (4, "2")]


def test_copied_ratings_are_reported_under_the_new_pseudonym_and_paid(rated, before, now):
    mine, asks = rated
    old = {report["person"] for report in asks.reports}
    mine.copy_ratings(before.address)
    spent = mine.ledger.spent
    assert mine.sync().stored == 2
    assert mine.ledger.spent - spent == 2 * 10**9
    new = {report["person"] for report in asks.reports} - old
    assert len(old) == len(new) == 1


def test_an_extended_task_is_copied_by_the_address_of_its_last_extension(ask, device):
    first = ask(provider="https://films.example")
    extended = first.extended((500,))
    asks = FakeCollector([extended])
    mine = device(asks)
    mine.rate(500, 4)
    mine.rate(100, 2)
    asks.tasks = [ask(items=(500, 100, 7))]
    mine.sync()
    assert mine.copy_ratings(extended.address) == 2
    assert mine.ratings == {500: "4", 100: "2"}


def test_the_current_task_and_unknown_ones_are_refused(before, device):
    mine = device(FakeCollector([before]))
    for address in (before.address, "0" * 64):
        with pytest.raises(RequestError, match="must be the address of an earlier task"):
            mine.copy_ratings(address)


def test_the_scale_must_be_the_same(ask, device):
    """A rating of 4 has another meaning on a scale up to 10."""
    asks = FakeCollector([before := ask()])
    mine = device(asks)
    scale = RatingScale.parse("1:10:1")
    channel = compile_channel("randomized-response", epsilon="1", scale=scale, missing=False)
    asks.tasks = [ask(scale=scale, channels=(channel,))]
    mine.sync()
    with pytest.raises(RequestError, match="scale 1:5:1, and this task has the scale 1:10:1"):
        mine.copy_ratings(before.address)
