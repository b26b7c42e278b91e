"""Change detection: whether the reports of a device show that a rating changed.

A device that repeats its reports draws a changed rating anew, and a flipped symbol gives the change
away with certainty. A device that answers block by block draws a slot once, so no symbol changes
until the next renewal. Then every slot is drawn anew, and the two symbols of a changed slot are at
most e^epsilon times as likely as those of an unchanged one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.device_reports import Symbols, device_reports
from tacit.audit.attacks.protocol import Finding, balanced_error
from tacit.audit.attacks.world import World
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.scale import RatingScale

History = Callable[[Channel, RatingScale, Symbols, int, Sequence[int] | None], Symbols]
"""Return symbols, shape (slots, syncs); the arguments are those of `device_reports`."""
RECALL, ACCURACY = "recall without false alarms", "balanced accuracy"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Settings of the attack that detects changed ratings.

    `slots`: number of slots, of which every second one changes between two syncs. `history`:
    simulator of devices, replaced to test another kind. Raises `RequestError` for fewer than 2
    slots.
    """

    slots: int = 2000
    history: History = device_reports

    name = "changes"
    knows = (
        "The attacker observes the reports of a device in two syncs, between which half of the "
        "ratings change to another value, and has access to the channel's table."
    )
    baseline = "a guess"
    needs = "channel"

    def __post_init__(self) -> None:
        if self.slots < 2:
            raise RequestError(f"slots must be at least 2, got {self.slots}.")

    def run(self, world: World) -> list[Finding]:
        """Return the recall of changes, and the accuracy after a renewal of a task by block."""
        channel = world.channel
        if channel is None:
            return []
        scale, seed = world.ratings.scale, world.seed
        rows, is_changed = _two_syncs(self.slots, len(channel.weights), seed)
        repeated = self.history(channel, scale, rows, seed, None)
        if not channel.missing:  # a report after the first sync exists for changed ratings alone
            return [_recall("reports of each change", repeated[:, 1] >= 0, is_changed, None)]
        once = self.history(channel, scale, rows, seed, ())
        renewed = self.history(channel, scale, rows, seed, (1,))
        odds = math.exp(float(channel.epsilon))
        return [
            _recall("reports in every epoch", _differs(repeated), is_changed, None),
            _recall("one report by block", _differs(once), is_changed, 0.0),
            _accuracy("reports before and after a renewal", _differs(renewed), is_changed, odds),
        ]


def _two_syncs(slots: int, n_rows: int, seed: int) -> tuple[Symbols, NDArray[np.bool_]]:
    """Return rows of the table before both syncs, (slots, 2), and which slots change."""
    rng = np.random.default_rng(seed)
    before, is_changed = np.arange(slots) % n_rows, rng.permutation(slots) % 2 == 1
    after = (before + rng.integers(1, n_rows, slots)) % n_rows
    rows = np.stack([before, np.where(is_changed, after, before)], axis=1)
    return rows.astype(np.int64), is_changed


def _differs(symbols: Symbols) -> NDArray[np.bool_]:
    """Return which slots have two reports with different symbols, (slots,)."""
    return (symbols[:, 1] >= 0) & (symbols[:, 0] != symbols[:, 1])


def _recall(
    setting: str, is_flagged: NDArray[np.bool_], is_changed: NDArray[np.bool_], bound: float | None
) -> Finding:
    """Return the fraction of changes that are detected, 0 if a detector raises false alarms."""
    count, alarms = int(is_changed.sum()), int(is_flagged[~is_changed].sum())
    value = float(is_flagged[is_changed].mean()) if alarms == 0 else 0.0
    return Finding(
        setting=setting,
        figure=RECALL,
        value=value,
        baseline=0.0,
        bound=bound,
        error=math.sqrt(value * (1 - value) / count),
        count=count,
    )


def _accuracy(
    setting: str, is_flagged: NDArray[np.bool_], is_changed: NDArray[np.bool_], odds: float
) -> Finding:
    """Return the balanced accuracy of the better of a flag and its negation."""
    parts = [is_flagged[is_changed], is_flagged[~is_changed]]
    rates = [float(part.mean()) for part in parts]
    return Finding(
        setting=setting,
        figure=ACCURACY,
        value=0.5 + abs(rates[0] - rates[1]) / 2,
        baseline=0.5,
        bound=odds / (1 + odds),
        error=balanced_error(parts),
        count=len(is_changed),
    )
