"""The attackers of a label: played on made-up people, through each table of the task."""

import math

import pytest

from tacit import channels
from tacit.labels.document import document
from tacit.labels.label import of_task, through
from tacit.labels.simulated_attacks import found_by_attackers
from tacit.scale import RatingScale
from tacit.wire.tasks.task import Task


def asked(plan: str, *epsilons: str, items: int = 60, scale: str = "1:5:1") -> Task:
    levels = RatingScale.parse(scale)
    return Task(
        name="Films",
        scale=levels,
        plan=plan,
        items=tuple(range(items)),
        channels=tuple(
            channels.compile_channel(
                "randomized-response", epsilon=each, scale=levels, missing=plan != "rated"
            )
            for each in epsilons
        ),
        start=0,
        provider="https://films.example",
    )


def by_table(task):
    """The figures of each table of the task, by setting and figure."""
    found = found_by_attackers(task)
    tables = dict.fromkeys(one.through for one in found)
    assert list(tables) == [through(channel) for channel in task.channels]
    return [
        {(one.setting, one.figure): one for one in found if one.through == table}
        for table in tables
    ]


def test_averaging_finds_what_one_answer_of_the_table_does():
    """Twenty syncs are one answer: (the sum of column maxima) / rows, from the table itself."""
    task = asked("rated", "1", "3")
    for figures, channel in zip(by_table(task), task.channels, strict=True):
        columns = zip(*(list(row) for row in channel.likelihood), strict=True)
        once = sum(map(max, columns)) / len(channel.levels)
        (averaged,) = [one for one in figures.values() if one.attack == "averaging"]
        assert averaged.value == pytest.approx(once, abs=4 * math.sqrt(0.25 / 500))


def test_more_epsilon_is_more_found_and_plans_that_hide_presence_find_less():
    top = ("8 random items with stars", "top-1")
    half, three = by_table(asked("catalogue", "0.5", "3"))
    assert half[top].value < three[top].value
    (rated,) = by_table(asked("rated", "0.5"))
    assert half[top].value < rated[top].value
    assert rated["presence, per slot", "recall"].value == 1  # it is public


def test_the_same_task_has_the_same_figures_and_a_label_has_them():
    task = asked("catalogue", "1")
    found = found_by_attackers(task)
    assert found == found_by_attackers(task)
    told = document(of_task(task, delta="1e-6", found=found))
    assert [one["value"] for one in told["found"]] == [one.value for one in found]
    assert all("1,000 synthetic users" in one["data"] for one in told["found"])


def test_where_stars_say_nothing_no_figure_is_made_of_them():
    (figures,) = by_table(asked("catalogue", "1", scale="there"))
    assert not any(setting.startswith("stars") for setting, _ in figures)


def test_a_task_too_small_for_made_up_people_has_none():
    assert found_by_attackers(asked("rated", "1", items=1)) == ()
