"""Averaging: what repeated reports of the same ratings reveal.

Fresh noise at every sync averages out. A device therefore draws a report once and repeats it. Real
devices are simulated, and compared with fresh draws from the same table. The guess is the row of
maximum likelihood given all observed symbols.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import World
from tacit.channels.table import Channel
from tacit.collection.sampler import BulkSampler, SeededWords
from tacit.device.client import Client
from tacit.device.store import MEMORY
from tacit.device.transport import Answer
from tacit.errors import RequestError
from tacit.scale import RatingScale
from tacit.wire.task import Task

# Reports of unchanged ratings over many syncs, from real devices in memory.

Symbols = NDArray[np.int64]
History = Callable[[Channel, RatingScale, Symbols, int, int], Symbols]
"""Return symbols, shape (slots, syncs), -1 where a sync has no report of a slot.

Arguments: a channel, its scale, true rows (slots,), the number of syncs, and a seed."""
SLOTS, EPOCH = 500, 60  # of one device; seconds
ORIGIN = "https://films.example"


def played(channel: Channel, scale: RatingScale, rows: Symbols, syncs: int, seed: int) -> Symbols:
    """Simulate a device for each 500 slots, which rates once and then syncs once per epoch."""
    items = tuple(range(min(SLOTS, len(rows))))
    task = Task(
        name="Repeated reports",
        scale=scale,
        plan="catalogue" if channel.missing else "rated",
        items=items,
        channels=(channel,),
        start=0,
        provider=ORIGIN,
        epoch_seconds=EPOCH,
    )
    words = _words(seed)
    parts = [rows[start : start + SLOTS] for start in range(0, len(rows), SLOTS)]
    return np.concatenate([_life(task, part, syncs, lambda: next(words)) for part in parts])


class _RecordingProvider:
    """A provider that accepts and records all reports by epoch."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.received: list[tuple[int, int, int]] = []

    def __call__(
        self, method: str, path: str, body: bytes | None = None, longest: int = 0
    ) -> Answer:
        if method == "POST":
            for report in json.loads(body or b"")["reports"]:
                self.received += [(*cell, report["epoch"]) for cell in report["cells"]]
            return Answer(200)
        if path.endswith(self.task.address):
            return Answer(200, self.task.document)
        if path.endswith("/tasks"):
            return Answer(200, json.dumps({"tasks": [self.task.address]}).encode())
        return Answer(404)


def _life(task: Task, rows: Symbols, syncs: int, words: Callable[[], int]) -> Symbols:
    channel, ear, now = task.channels[0], _RecordingProvider(task), [0]
    device = Client(
        MEMORY,
        ORIGIN,
        most_epsilon=channel.epsilon,
        lifetime=f"{Decimal(channel.epsilon) * (len(task.items) + 1):f}",
        transport=ear,
        clock=lambda: float(now[0]),
        words=words,
        random_share=lambda: 0.5,
    )
    with device:
        for item, row in enumerate(rows.tolist()):
            levels = (None, *channel.levels)[not channel.missing :]
            device.rate(item, levels[int(row)])
        for sync in range(syncs):
            now[0] = sync * EPOCH
            device.sync()
    symbols = np.full((len(rows), syncs), -1, np.int64)
    for index, symbol, epoch in ear.received:
        if index < len(rows):
            symbols[index, epoch] = symbol
    return symbols


def _words(seed: int) -> Iterator[int]:
    rng = np.random.default_rng(seed)
    while True:
        yield from rng.integers(0, 1 << 64, 4096, np.uint64).tolist()


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
    shares = [(some.sum() + 1) / (len(some) + 2) for some in each]
    variance = sum(p * (1 - p) / len(some) for p, some in zip(shares, each, strict=True))
    columns = np.array(channel.likelihood).max(0)
    return Finding(
        setting=setting,
        figure=FIGURE,
        value=float(np.mean([some.mean() for some in each])),
        baseline=1 / len(channel.weights),
        bound=float(columns.sum() / len(channel.weights)) if bounded else None,
        error=math.sqrt(variance) / len(kinds),
        count=len(rows),
    )
