"""Attacks on synthetic users under a task's terms, for its label."""

from collections.abc import Iterator

from tacit.audit.attacks import attack
from tacit.audit.attacks.averaging import FIGURE as AVERAGED
from tacit.audit.attacks.reconstruction import KNOWN as STARS
from tacit.audit.attacks.reconstruction import PRESENCE
from tacit.audit.attacks.world import World
from tacit.collection.named_plans import plan
from tacit.errors import RequestError
from tacit.labels.label import AttackFigure, through
from tacit.ratings import Ratings
from tacit.readers.synthetic import MOST_OF_CATALOGUE, synthetic
from tacit.wire.tasks.task import Task

PEOPLE, MOST_ITEMS, EACH = 1000, 2000, 40
KNOWN = 8
ATTACKS = (
    attack("linkage", known=(KNOWN,), most_victims=500),
    attack("reconstruction"),
    attack("averaging", syncs=20, slots=500),
)
SHOWN = {
    (f"{KNOWN} random items with stars", "top-1"),
    (f"{KNOWN} random items without stars", "top-1"),
    (STARS, "accuracy"),
    (PRESENCE, "precision"),
    (PRESENCE, "recall"),
    ("20 syncs of a device", AVERAGED),
}
"""Settings and metrics in a label. `tacit attack` reports all of them."""


def found_by_attackers(task: Task) -> tuple[AttackFigure, ...]:
    """Run linkage, reconstruction and averaging on reports through each channel of the task.

    A thousand users of `synthetic` report once on as many items as the task has, at most 2,000.
    Empty if the task has too few items for synthetic users, or is renewed: its devices draw each
    slot again in every generation, which these attacks do not use.
    """
    if task.growth is not None and task.growth.generations > 1:
        return ()
    try:
        ratings = _people(task)
    except RequestError:
        return ()
    rated = len(ratings) / ratings.n_users
    data = (
        f"{ratings.n_users:,} synthetic users, each with {rated:.0f} ratings of "
        f"{ratings.n_items:,} items. No real ratings were used."
    )
    return tuple(_figures(task, ratings, data))


def _people(task: Task) -> Ratings:
    items = min(len(task.items), MOST_ITEMS)
    each = min(EACH, int(items * MOST_OF_CATALOGUE))
    return synthetic(PEOPLE, items, PEOPLE * each, task.scale, fewest=max(1, each // 2))


def _figures(task: Task, ratings: Ratings, data: str) -> Iterator[AttackFigure]:
    # A device that answers block by block has reported the most at its limit.
    name = task.plan if task.growth is None else f"sample:{task.growth.limit}"
    for channel in task.channels:
        scenario = World.through(ratings, plan(name, channel), 0)
        for played in ATTACKS:
            for finding in played.run(scenario):
                # A baseline of 1, as for ratings on a one-level scale, leaves nothing to infer.
                if (finding.setting, finding.figure) in SHOWN and finding.baseline < 1:
                    yield AttackFigure(
                        attack=played.name,
                        through=through(channel),
                        knows=played.knows,
                        setting=finding.setting,
                        figure=finding.figure,
                        value=finding.value,
                        baseline=finding.baseline,
                        data=data,
                    )
