"""Averaging: what repeated reports of the same ratings reveal.

Fresh noise at every sync averages out. A device therefore draws a report once and repeats it. Real
devices are simulated, and compared with fresh draws from the same table. The guess is the row of
maximum likelihood given all observed symbols.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.device_reports import device_reports
from tacit.audit.attacks.protocol import Finding, balanced_error
from tacit.audit.attacks.world import World
from tacit.channels.table import Channel
from tacit.collection.sampler import BulkSampler, SeededWords
from tacit.errors import RequestError
from tacit.scale import RatingScale

Symbols = NDArray[np.int64]
History = Callable[[Channel, RatingScale, Symbols, int, int], Symbols]
"""Return symbols, shape (slots, syncs), -1 where a sync has no report of a slot.

Arguments: a channel, its scale, true rows (slots,), the number of syncs, and a seed."""


def played(channel: Channel, scale: RatingScale, rows: Symbols, syncs: int, seed: int) -> Symbols:
    """Simulate devices that rate once and then sync once per epoch."""
    return device_reports(channel, scale, np.repeat(rows[:, None], syncs, axis=1), seed)


FIGURE = "balanced accuracy"


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """Settings of the averaging attack.

    `syncs`: number of syncs. `slots`: about how many in total, equally many for every row of the
    table. `history`: simulator of devices, replaced to test another kind.

    Raises `RequestError` for no sync, or no slot.
    """

    syncs: int = 100
    slots: int = 2000
    history: History = played

    name = "averaging"
    knows = (
        "The attacker observes every sync of devices whose ratings do not change, has access to "
        "the channel's table, and has a uniform prior over its rows."
    )
    baseline = "a guess"
    needs = "channel"

    def __post_init__(self) -> None:
        if self.syncs < 1 or self.slots < 1:
            raise RequestError(
                f"syncs and slots must be at least 1, got {self.syncs} syncs and {self.slots} "
                "slots."
            )

    def run(self, world: World) -> list[Finding]:
        """Return the accuracy after 1, 10 and all syncs of devices, and from fresh draws."""
        channel = world.channel
        if channel is None:
            return []
        rows = np.arange(self.slots) % len(channel.weights)
        repeated = self.history(channel, world.ratings.scale, rows, self.syncs, world.seed)
        drawn = fresh(channel, rows, self.syncs, world.seed)
        findings: list[Finding] = []
        for heard in sorted({1, min(10, self.syncs), self.syncs}):
            for what, symbols in (("syncs of a device", repeated), ("fresh draws", drawn)):
                bounded = symbols is repeated
                setting = f"{heard} {what}"
                findings.append(
                    _finding(setting, symbols[:, :heard], rows, channel, bounded=bounded)
                )
        return findings


def fresh(channel: Channel, rows: Symbols, draws: int, seed: int) -> Symbols:
    """Return a new draw of each row at every sync, which no device makes; shape (slots, draws)."""
    sampler = BulkSampler((channel,), SeededWords(seed))
    each = sampler.draw(np.repeat(rows, draws).astype(np.uint16))
    return each.reshape(len(rows), draws).astype(np.int64)


def likeliest(symbols: Symbols, channel: Channel) -> Symbols:
    """Return the maximum-likelihood row of each slot, ignoring symbols of -1; shape (slots,)."""
    table = np.log(np.array(channel.likelihood))
    score = np.zeros((len(symbols), len(table)))
    for heard in symbols.T:
        score += np.where(heard[:, None] >= 0, table[:, heard].T, 0)
    return score.argmax(1)


def _finding(
    setting: str, symbols: Symbols, rows: Symbols, channel: Channel, *, bounded: bool
) -> Finding:
    right: NDArray[np.bool_] = likeliest(symbols, channel) == rows
    kinds = np.unique(rows)
    each = [right[rows == row] for row in kinds]
    columns = np.array(channel.likelihood).max(0)
    return Finding(
        setting=setting,
        figure=FIGURE,
        value=float(np.mean([some.mean() for some in each])),
        baseline=1 / len(channel.weights),
        bound=float(columns.sum() / len(channel.weights)) if bounded else None,
        error=balanced_error(each),
        count=len(rows),
    )
