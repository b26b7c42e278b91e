"""Manipulation of a thin block: fake devices among the few that answer for a new item.

A block that few devices are queried about has few answers. Fake devices choose their secrets, so
all of them can be queried about it, while of real ones a fraction t is. With m fake devices among A
real answers, each of which adds w(symbol) to an unbiased mean,

    shift = m / (A + m) (w_max - mean) <= m / (A + m) (w_max - w_min)

A cap on ratings per user requires blocks with many expected slots for the same reason.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import World
from tacit.channels.table import Channel
from tacit.errors import RequestError

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ThinBlock:
    """Settings of the attack.

    `queried`: fractions of real devices that are queried about the block. `devices`: number of real
    ones. `fakes`: fake devices as a fraction of these. `share`: fraction of users for whom what is
    estimated holds. `stored`: answers of a fake device that the collector stores, replaced to test
    another collector.

    Raises `RequestError` for a fraction that is not above 0 and at most 1, and a number below 1.
    """

    queried: tuple[float, ...] = (1.0, 0.1, 0.01)
    devices: int = 20_000
    fakes: float = 0.01
    share: float = 0.05
    stored: int = 1

    name = "thin-block"
    knows = (
        "The attacker runs fake devices, one for each 100 real ones, chooses their secrets so that "
        "all of them are queried about one new item, and has access to the channel's table."
    )
    baseline = "fake devices that are queried like real ones"
    needs = "channel"

    def __post_init__(self) -> None:
        fractions = (*self.queried, self.fakes, self.share)
        if not self.queried or not all(0 < each <= 1 for each in fractions):
            raise RequestError(
                f"queried, fakes and share must be above 0 and at most 1, got {fractions}."
            )
        if min(self.devices, self.stored) < 1:
            raise RequestError(
                f"devices and stored must be at least 1, got {self.devices} and {self.stored}."
            )

    def run(self, world: World) -> list[Finding]:
        """Return the shift of the estimated fraction of users, for each fraction queried."""
        channel = world.channel
        if channel is None:
            return []
        rng = np.random.default_rng(world.seed)
        return [self._finding(channel, queried, rng) for queried in self.queried]

    def _finding(self, channel: Channel, queried: float, rng: np.random.Generator) -> Finding:
        table, weights = np.array(channel.likelihood), estimator(channel)
        real = max(int(rng.binomial(self.devices, queried)), 1)
        holds = rng.random(real) < self.share
        rows = np.where(holds, rng.integers(_first(channel), len(table), real), 0)
        symbols = (rng.random((real, 1)) > np.cumsum(table, 1)[rows, :-1]).sum(1)
        fakes, mean = self.devices * self.fakes, float(weights[symbols].mean())
        most, width = float(weights.max()), float(np.ptp(weights))
        shift = (most - mean) * _part(fakes * self.stored, real)
        event = "is rated" if channel.missing else "has the top rating"
        return Finding(
            setting=f"{queried:.0%} of devices queried",
            figure=f"shift of how often an item {event}",
            value=min(shift, 1.0),
            baseline=min((most - mean) * _part(fakes * queried, real), 1.0),
            bound=min(width * _part(fakes, real), 1.0),
            count=real,
        )


def estimator(channel: Channel) -> Doubles:
    """Return w with E[w(symbol)] = 1 where the event holds, else 0; shape (symbols,).

    The event is that an item is rated, or, of a channel without "missing", has the top rating. Of
    the solutions that are closest to unbiased it is the smallest one.
    """
    table = np.array(channel.likelihood)
    holds = np.zeros(len(table))
    holds[_first(channel) :] = 1
    return np.asarray(np.linalg.lstsq(table, holds)[0], np.float64)


def _first(channel: Channel) -> int:
    """Return the first row for which the event holds."""
    return 1 if channel.missing else len(channel.likelihood) - 1


def _part(fakes: float, real: int) -> float:
    return fakes / (fakes + real)
