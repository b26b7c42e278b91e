"""Reports of unchanged ratings over many syncs, from real devices in memory."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.device.client import Client
from tacit.device.store import MEMORY
from tacit.device.transport import Answer
from tacit.scale import RatingScale
from tacit.wire.task import Task

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
        name="The same question again",
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
        chance=lambda: 0.5,
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
