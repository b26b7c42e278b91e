"""Order: whether the position of a report among the others reveals its content.

A file sorted by rating, reported in file order, reveals every rating, whatever the epsilon of each
report. The attacker estimates the levels at each position from one half of the users, and predicts
the stars of the other half.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.linkage import LEAST
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import Doubles, World, taken
from tacit.collection.slots import SlotReports

Longs = NDArray[np.int64]
PLACES = 20
"""Bins of positions in a sequence."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The order attack, without settings."""

    name = "order"
    knows = (
        "The attacker observes the order of reports and has access to the channel's table, each "
        "item's true rating distribution, and every other user's ratings."
    )
    baseline = "the same reports ordered by user and item"
    needs = "channel"

    def run(self, world: World) -> list[Finding]:
        """Return the accuracy of stars by symbol and position, in all reports and per user."""
        sent = world.reports
        sorted_ = taken(sent, np.lexsort((sent.items, sent.users)))
        findings: list[Finding] = []
        for setting, where in (
            ("position among all reports", _among_all),
            ("position in a profile", _within_user),
        ):
            right = guessed(world, sent, where(sent))
            usual = float(guessed(world, sorted_, where(sorted_)).mean()) if len(right) else 0.0
            if len(right) == 0:
                continue
            findings.append(
                Finding(
                    setting=setting,
                    figure="accuracy",
                    value=float(right.mean()),
                    baseline=usual,
                    bound=usual,
                    error=math.sqrt(0.25 / len(right)),
                    count=len(right),
                )
            )
        return findings


def guessed(world: World, reports: SlotReports, positions: Longs) -> NDArray[np.bool_]:
    """Return which stars of the second half are predicted correctly.

    `positions`: of the reports, shape (reports,).
    """
    rows = world.rows[reports.users, reports.items].astype(np.int64)
    rated = rows > 0
    level, where, item = rows[rated] - 1, positions[rated], reports.items[rated]
    learnt = reports.users[rated] % 2 == 0
    odds = _odds(level[learnt], where[learnt], world.ratings.scale.n_levels)
    prior = np.log(np.maximum(world.star_shares, LEAST))
    symbols = np.log(world.likelihood[1:, 1:])[:, reports.symbols[rated][~learnt]]
    score = prior[item[~learnt]] + symbols.T + odds[where[~learnt]]
    return score.argmax(1) == level[~learnt]


def _odds(level: Longs, position: Longs, levels: int) -> Doubles:
    """Return log P(place | level) with add-one smoothing; shape (places, levels)."""
    counts = np.bincount(position * levels + level, minlength=PLACES * levels) + 1.0
    table = counts.reshape(PLACES, levels)
    return np.log(table / table.sum(0))


def _among_all(reports: SlotReports) -> Longs:
    return np.arange(len(reports.users)) * PLACES // max(1, len(reports.users))


def _within_user(reports: SlotReports) -> Longs:
    order = np.argsort(reports.users, kind="stable")
    people = reports.users[order]
    starts = np.searchsorted(people, people)
    sizes = np.searchsorted(people, people, side="right") - starts
    positions = np.empty(len(order), np.int64)
    positions[order] = (np.arange(len(order)) - starts) * PLACES // np.maximum(sizes, 1)
    return positions
