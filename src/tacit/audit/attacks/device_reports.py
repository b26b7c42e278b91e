"""Reports of real devices in memory, whose ratings may change between syncs."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.device.client import Client
from tacit.device.storage.store import MEMORY
from tacit.device.transport import Answer
from tacit.scale import RatingScale
from tacit.wire.tasks.blocks import Growth, ItemBlock, threshold_of
from tacit.wire.tasks.task import Task

Symbols = NDArray[np.int64]
SLOTS, EPOCH = 500, 60  # of one device; seconds
ORIGIN = "https://films.example"


def device_reports(
    channel: Channel,
    scale: RatingScale,
    rows: Symbols,
    seed: int,
    renewals: Sequence[int] | None = None,
) -> Symbols:
    """Simulate a device for each 500 slots, which syncs once per epoch.

    Parameters
    ----------
    channel
        Channel of the reports.
    scale
        Rating scale.
    rows
        True row of the table before each sync, shape (slots, syncs).
    seed
        Seed of the draws.
    renewals
        Epochs in which a task is renewed that is answered block by block. None for a task that is
        answered every epoch.

    Returns
    -------
    NDArray
        Symbols, shape (slots, syncs), -1 where a sync has no report of a slot.
    """
    task = Task(
        name="Repeated reports",
        scale=scale,
        plan="catalogue" if channel.missing else "rated",
        items=tuple(range(min(SLOTS, len(rows)))),
        channels=(channel,),
        start=0,
        provider=ORIGIN,
        epoch_seconds=EPOCH,
    )
    if renewals is not None:
        n = len(task.items)
        block = ItemBlock(0, n, threshold_of(None, n), 0)
        task = replace(task, growth=Growth(n, tuple(renewals), (block,)))
    words = _words(seed)
    parts = [rows[start : start + SLOTS] for start in range(0, len(rows), SLOTS)]
    return np.concatenate([_life(task, part, lambda: next(words)) for part in parts])


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


def _life(task: Task, rows: Symbols, words: Callable[[], int]) -> Symbols:
    channel, provider, now = task.channels[0], _RecordingProvider(task), [0]
    draws = len(task.items) * (rows.shape[1] + 1)
    device = Client(
        MEMORY,
        ORIGIN,
        most_epsilon=channel.epsilon,
        lifetime=f"{Decimal(channel.epsilon) * draws:f}",
        transport=provider,
        clock=lambda: float(now[0]),
        words=words,
        random_share=lambda: 0.5,
    )
    levels = (None, *channel.levels)[not channel.missing :]
    with device:
        for sync, current in enumerate(rows.T):
            changed = current != rows[:, sync - 1] if sync else np.ones(len(rows), np.bool_)
            for item in np.flatnonzero(changed).tolist():
                device.rate(item, levels[int(current[item])])
            now[0] = sync * EPOCH
            device.sync()
    symbols = np.full(rows.shape, -1, np.int64)
    for index, symbol, epoch in provider.received:
        if index < len(rows):
            symbols[index, epoch] = symbol
    return symbols


def _words(seed: int) -> Iterator[int]:
    rng = np.random.default_rng(seed)
    while True:
        yield from rng.integers(0, 1 << 64, 4096, np.uint64).tolist()
