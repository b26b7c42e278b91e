"""Aliases: what reports about several ids of one title reveal together.

A provider that lists a title several times gets several reports about the same rating, each with
its own noise, and k of them are k times epsilon. A device that answers block by block draws a key
per id after the catalogue is published, so that a provider cannot choose ids that one user is
queried about: only a known fraction of them is. The guess is the row of maximum likelihood.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.audit.attacks.averaging import likeliest
from tacit.audit.attacks.device_reports import ORIGIN, SLOTS, Symbols, device_reports
from tacit.audit.attacks.protocol import Finding, balanced_error
from tacit.audit.attacks.world import World
from tacit.channels.table import Channel
from tacit.channels.thresholds import hash_id
from tacit.errors import RequestError
from tacit.scale import RatingScale
from tacit.wire.report import block_key
from tacit.wire.tasks.blocks import ItemBlock, threshold_of

Answers = Callable[[Channel, RatingScale, Symbols, int, int | None], Symbols]
"""Return symbols, shape (slots,), -1 without a report.

Arguments: a channel, its scale, true rows (slots,), a seed, and the average number of queried slots
of a device, None for all."""
FIGURE = "balanced accuracy"


def once(
    channel: Channel, scale: RatingScale, rows: Symbols, seed: int, queried: int | None
) -> Symbols:
    """Simulate devices that answer block by block, or, under the plan rated, every rating."""
    renewals = () if channel.missing else None
    symbols = device_reports(channel, scale, rows[:, None], seed, renewals)[:, 0]
    if queried is not None:
        block = ItemBlock(0, len(rows), threshold_of(queried, SLOTS), 0)
        key = block_key(seed.to_bytes(32), ORIGIN, "0" * 64)
        hashes = tuple(hash_id(item) for item in range(len(rows)))
        symbols[np.setdiff1d(np.arange(len(rows)), block.places(key, hashes))] = -1
    return symbols


@dataclass(frozen=True, kw_only=True)
class Aliases:
    """Settings of the attack by several ids of one title.

    `ids`: numbers of ids, ascending. `titles`: how many in total, equally many for every row of the
    table. `queried`: average number of queried ids of 500, where not all are. `answers`: simulator
    of devices, replaced to test another kind.

    Raises `RequestError` for a number below 1, for more than 500 queried ids, and when run with
    fewer titles than rows.
    """

    ids: tuple[int, ...] = (1, 3, 5, 11)
    titles: int = 600
    queried: int = 50
    answers: Answers = once

    name = "aliases"
    knows = (
        "The attacker lists several ids of one title, all of which have the same rating, observes "
        "the reports about them, has access to the channel's table, and has a uniform prior over "
        "its rows."
    )
    baseline = "a guess"
    needs = "channel"

    def __post_init__(self) -> None:
        least = min((*self.ids, self.titles, self.queried)) if self.ids else 0
        if least < 1 or self.queried > SLOTS:
            raise RequestError(
                "ids, titles and queried must be at least 1, and queried at most "
                f"{SLOTS}, got ids {self.ids}, titles {self.titles} and queried {self.queried}."
            )

    def run(self, world: World) -> list[Finding]:
        """Return the accuracy where all ids are queried, and where a fraction is."""
        channel = world.channel
        if channel is None:
            return []
        findings: list[Finding] = []
        fractions = (None, self.queried) if channel.missing else (None,)
        for queried in fractions:
            for count in self.ids:
                findings.append(self._finding(world, channel, count, queried))
        return findings

    def _finding(self, world: World, channel: Channel, count: int, queried: int | None) -> Finding:
        kinds = len(channel.weights)
        if self.titles < kinds:
            raise RequestError(
                f"titles must be at least {kinds}, the number of rows of the channel's table, got "
                f"{self.titles}."
            )
        titles = np.arange(self.titles) % kinds
        rows = np.repeat(titles, count).astype(np.int64)
        symbols = self.answers(channel, world.ratings.scale, rows, world.seed, queried)
        is_right = likeliest(symbols.reshape(len(titles), count), channel) == titles
        each = [is_right[titles == kind] for kind in range(kinds)]
        fraction = 1.0 if queried is None else queried / SLOTS
        part = "all" if queried is None else f"{fraction:.0%}"
        return Finding(
            setting=f"{count} ids of a title, {part} queried",
            figure=FIGURE,
            value=float(np.mean([some.mean() for some in each])),
            baseline=1 / kinds,
            bound=_bound(float(channel.epsilon), kinds, count, fraction),
            error=balanced_error(each),
            count=len(titles),
        )


def _bound(epsilon: float, kinds: int, count: int, fraction: float) -> float:
    """Return the largest accuracy of a guess of one of `kinds` rows.

    Reports about k ids bound the posterior odds by e^(k epsilon); k is binomial.
    """
    answered = [
        math.comb(count, k) * fraction**k * (1 - fraction) ** (count - k) for k in range(count + 1)
    ]
    odds = [math.exp(min(k * epsilon, 700.0)) for k in range(count + 1)]
    return sum(p * each / (each + kinds - 1) for p, each in zip(answered, odds, strict=True))
