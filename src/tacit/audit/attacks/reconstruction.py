"""Reconstruction: predict which items were rated, and how, from single reports.

The maximum-a-posteriori row given a column is the optimal prediction, so table and shares determine
its expected accuracy. A higher accuracy means that the reports do not follow the table.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.protocol import Finding, balanced_error, mean_error
from tacit.audit.attacks.world import Doubles, World

EACH = "stars, uniform prior"
KNOWN = "stars, item's true distribution as prior"
PRESENCE = "presence, per slot"


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """The reconstruction attack, without settings."""

    name = "reconstruction"
    knows = (
        "The attacker observes a user's reports, has access to the channel's table and each "
        "item's true rating distribution, and uses every report separately."
    )
    baseline = "the item's modal star, or most rated items"
    needs = "reports"

    def run(self, world: World) -> list[Finding]:
        """Return the accuracy of stars, and precision and recall of presence."""
        return [*levels(world), *presence(world)]


def levels(world: World) -> list[Finding]:
    """Return the accuracy of stars among reported ratings, given that they are ratings.

    By likelihood alone, as a mean over levels; and by the posterior under the item's shares.
    """
    ratings, table = world.ratings, world.likelihood[1:, 1:]
    columns = world.columns[ratings.users, ratings.items].astype(np.int64)
    reported = columns > 0
    items, seen = ratings.items[reported], columns[reported] - 1
    true = ratings.levels[reported].astype(np.int64)
    if len(true) == 0:
        return []
    joint = world.star_shares[:, :, None] * table
    right = joint.argmax(1)[items, seen] == true
    modal = world.star_shares.argmax(1)[items] == true
    return [
        _balanced(table.argmax(0)[seen] == true, true, table),
        Finding(
            setting=KNOWN,
            figure="accuracy",
            value=float(right.mean()),
            baseline=float(modal.mean()),
            bound=float(joint.max(1).sum(1)[items].mean()),
            error=mean_error(right),
            count=len(true),
        ),
    ]


def _balanced(right: NDArray[np.bool_], true: NDArray[np.int64], table: Doubles) -> Finding:
    """Return the balanced accuracy over levels, at most e^eps / (e^eps + levels - 1)."""
    each = [right[true == level] for level in range(len(table)) if (true == level).any()]
    return Finding(
        setting=EACH,
        figure="balanced accuracy",
        value=float(np.mean([some.mean() for some in each])),
        baseline=1 / len(table),
        bound=float(table.max(0).sum() / len(table)) if len(each) == len(table) else None,
        error=balanced_error(each),
        count=len(right),
    )


def presence(world: World) -> list[Finding]:
    """Return recall and precision of slots that are more likely rated than not.

    The baseline selects as many slots, of the items with most raters.
    """
    table, shares = world.likelihood, world.shares
    here, absent = shares[:, 1:] @ table[1:], shares[:, :1] * table[0]
    chosen = here > absent
    if table[:, 0].all():
        chosen[:, 0] = False  # slots that were not queried
    slots = _Slots.of(world, chosen)
    findings = [_presence("recall", slots.hits, slots.rated, slots, None)]
    if slots.named:
        expected, named = (np.where(chosen, part, 0).sum() for part in (here, here + absent))
        bound = float(expected / named)
        findings.append(_presence("precision", slots.hits, slots.named, slots, bound))
    return findings


@dataclass(frozen=True)
class _Slots:
    """Counts of queried slots.

    `named`: predicted as rated. `hits`: rated ones among these. `rated`: all rated ones. `easy`:
    rated ones among as many slots of the items with most raters.
    """

    named: int
    hits: int
    rated: int
    easy: float

    @classmethod
    def of(cls, world: World, chosen: NDArray[np.bool_]) -> "_Slots":
        items = np.arange(world.ratings.n_items)
        named = hits = 0
        queried, rated = np.zeros((2, len(items)), np.int64)
        for seen, rows in zip(world.columns, world.rows, strict=True):
            some = chosen[items, seen]
            named += int(some.sum())
            hits += int(np.count_nonzero(rows[some]))
            queried += (seen > 0) | (world.likelihood[0, 0] == 1)
            rated += (rows > 0) & (seen > 0)
        best = np.argsort(world.shares[:, 0], kind="stable")
        all_queried, all_rated = (np.append(0, np.cumsum(part[best])) for part in (queried, rated))
        easy = np.interp(named, all_queried, all_rated)
        return cls(named, hits, int(rated.sum()), float(easy))


def _presence(figure: str, hits: int, of: int, slots: _Slots, bound: float | None) -> Finding:
    return Finding(
        setting=PRESENCE,
        figure=figure,
        value=hits / max(1, of),
        baseline=slots.easy / max(1, of),
        bound=bound,
        error=mean_error(np.arange(of) < hits),
        count=of,
    )
