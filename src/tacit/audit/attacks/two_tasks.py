"""Linkage across tasks: match a user's pseudonym in one task to that in another.

Names are independent, and noise is fresh, but the reports are about the same ratings. Each pair of
names is scored by the log-likelihood ratio of its columns if both belong to one user:

    score = sum over items i of log P(c_i, c'_i | one user) - log P(c_i) - log P(c'_i)
"""

from dataclasses import dataclass

import numpy as np

from tacit.audit.attacks.linkage import LEAST, drawn, places
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import Doubles, World
from tacit.errors import RequestError
from tacit.kernels.linkage import task_places


@dataclass(frozen=True, kw_only=True)
class TwoTasks:
    """`most_victims`: a sample of this size is drawn from more users.

    Raises `RequestError` for fewer than one.
    """

    most_victims: int = 400

    name = "two-tasks"
    knows = (
        "The attacker observes the reports of all users to two tasks with the same items, under "
        "unrelated pseudonyms, and has the channel's table and the true rating distribution of "
        "each item."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        if self.most_victims < 1:
            raise RequestError(f"most_victims must be at least 1, got {self.most_victims}.")

    def run(self, world: World) -> list[Finding]:
        """Return the expected top-1 and top-10 of a name in the second task, ties at random."""
        victims = drawn(world, self.most_victims, np.random.default_rng(world.seed))
        second = np.ascontiguousarray(world.again(1).columns.T)
        better, ties = np.zeros((2, len(victims), 1), np.int32)
        task_places(victims, world.columns, second, pair_ratios(world), better, ties)
        return places("the same ratings in two tasks", better[:, 0], ties[:, 0], world)


def pair_ratios(world: World) -> Doubles:
    """Return log P(c, c' | one user) - log P(c) - log P(c'), shape (items, columns, columns)."""
    table = world.likelihood
    joint = np.einsum("ix,xa,xb->iab", world.shares, table, table, optimize=True)
    alone = np.log(np.maximum(world.shares @ table, LEAST))
    return np.log(np.maximum(joint, LEAST)) - alone[:, :, None] - alone[:, None, :]
