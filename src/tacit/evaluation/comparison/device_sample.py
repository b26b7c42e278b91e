"""True ratings and reports of one device: of a synthetic user, or of one who was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.evaluation.comparison.runner import Tools
from tacit.evaluation.comparison.tables import NOTHING
from tacit.readers import synthetic
from tacit.scale import RatingScale

PEOPLE, ITEMS = 10, 60
PRESENCE_PUBLIC = "The provider received the item ids, which are public, and a symbol for each."
PRESENCE_HIDDEN = (
    "The provider received a symbol for each item of the plan, rated or not. A report without a "
    "true rating is noise. A true rating can be reported as missing."
)
SYMBOLS = (
    "The channel has {} symbols. The report column shows the rating that the drawn symbol stands "
    "for. Another draw gives other reports."
)


@dataclass(frozen=True)
class DeviceSample:
    """One person's ratings and reports: (item, true rating, what the symbol stands for), None for
    no rating, and for no report or the symbol "missing".

    The true ratings are shown to whoever reads the report, so they are a made-up person's, or
    those of somebody who asked for it. `symbols`: how many different ones the channel has.
    `presence_public`: whether the provider was told which items the person rated.
    """

    person: str
    channel: str
    epsilon: str
    pairs: Sequence[tuple[str, float | None, float | None]]
    symbols: int | None = None
    presence_public: bool = True

    @property
    def received(self) -> str:
        """What the provider got, and what it may have been instead."""
        said = PRESENCE_PUBLIC if self.presence_public else PRESENCE_HIDDEN
        return said if self.symbols is None else f"{said} {SYMBOLS.format(self.symbols)}"

    @property
    def strips(self) -> list["SampleStrip"]:
        """A line for each item."""
        values = [value for _, *both in self.pairs for value in both if value is not None]
        return [SampleStrip(*pair, ends=(min(values), max(values))) for pair in self.pairs]


@dataclass(frozen=True)
class SampleStrip:
    """One item of a sample, on a strip from the lowest to the highest value of all, `ends`.

    A full dot is true, a hollow one left the device; their places are in percent, as text.
    """

    item: str
    true_value: float | None
    left_value: float | None
    ends: tuple[float, float]

    @property
    def true(self) -> str:
        """The true rating."""
        return _figure(self.true_value)

    @property
    def left(self) -> str:
        """What left the device."""
        return _figure(self.left_value)

    @property
    def dots(self) -> list[tuple[str, str]]:
        """Which dot is where."""
        both = {"true": self.true_value, "left": self.left_value}
        return [(k, f"{self._share(value):.1f}") for k, value in both.items() if value is not None]

    @property
    def move(self) -> tuple[str, str] | None:
        """Where the line between the dots starts, and its length."""
        if self.true_value is None or self.left_value is None:
            return None
        start, end = sorted((self._share(self.true_value), self._share(self.left_value)))
        return f"{start:.1f}", f"{end - start:.1f}"

    def _share(self, value: float) -> float:
        low, high = self.ends
        return 100 * (value - low) / (high - low) if high > low else 50.0


def made_up(
    scale: RatingScale, channel: str, epsilon: str, tools: Tools, plan: str = "rated"
) -> DeviceSample:
    """A few ratings of a made-up person on this scale, and what left their device just now.

    `epsilon`: nats per value or slot.
    """
    people = synthetic(PEOPLE, ITEMS, PEOPLE * 25, scale)
    own = people.where((people.users == 0) & (people.items % 2 == 0))
    chosen = tools.plan(plan, channel, epsilon, scale, None)
    reports = tools.perturb(own, chosen)
    sent = reports.where((reports.users == 0) & ~np.isnan(reports.values))
    true: dict[int, float] = dict(zip(own.items.tolist(), own.values.tolist(), strict=True))
    left: dict[int, float] = dict(zip(sent.items.tolist(), sent.values.tolist(), strict=True))
    names = own.item_ids.ids.to_list()
    pairs = tuple(
        (f"item {names[item]}", true.get(item), left.get(item)) for item in sorted({*true, *left})
    )
    symbols = len(chosen.channels[0].outputs)
    shown = chosen.guarantee.unit == "value"
    return DeviceSample("A synthetic user", channel, epsilon, pairs, symbols, shown)


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"
