"""True ratings and reports of one device: of a synthetic user, or of one who was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.collection.perturb import perturb
from tacit.collection.plan import Plan
from tacit.readers import synthetic
from tacit.reporting.table import NOTHING
from tacit.scale import RatingScale

PEOPLE, ITEMS = 10, 60
PRESENCE_PUBLIC = "The provider received the item ids, which are public, and one symbol per item."
PRESENCE_HIDDEN = (
    "The provider received one symbol per slot of the plan, rated or not. A report for an unrated "
    "item is pure noise. A true rating can be reported as missing."
)
SYMBOLS = (
    "The channel has {} symbols. The report column shows the rating encoded by the drawn symbol. "
    "Another draw would give different reports."
)


@dataclass(frozen=True)
class DeviceSample:
    """One user's ratings and reports: (item, true rating, reported value), None without a rating,
    and without a report or for the symbol "missing".

    The true ratings are visible in the report, so they must be synthetic, or of a user who agreed
    to this. `symbols`: number of symbols of the channel. `presence_public`: whether the reports
    reveal the rated items.
    """

    person: str
    channel: str
    epsilon: str
    pairs: Sequence[tuple[str, float | None, float | None]]
    symbols: int | None = None
    presence_public: bool = True

    @property
    def received(self) -> str:
        """Sentences on what the provider received."""
        sentence = PRESENCE_PUBLIC if self.presence_public else PRESENCE_HIDDEN
        return sentence if self.symbols is None else f"{sentence} {SYMBOLS.format(self.symbols)}"

    @property
    def strips(self) -> list["SampleStrip"]:
        """One strip per item."""
        values = [value for _, *both in self.pairs for value in both if value is not None]
        return [SampleStrip(*pair, ends=(min(values), max(values))) for pair in self.pairs]


@dataclass(frozen=True)
class SampleStrip:
    """One item of a sample, on a strip from the lowest to the highest value of all items, `ends`.

    A full dot is the true value, a hollow one the reported value. Positions are in percent, as
    text.
    """

    item: str
    true_value: float | None
    left_value: float | None
    ends: tuple[float, float]

    @property
    def true(self) -> str:
        """True rating as text."""
        return _figure(self.true_value)

    @property
    def left(self) -> str:
        """Reported value as text."""
        return _figure(self.left_value)

    @property
    def dots(self) -> list[tuple[str, str]]:
        """Kinds and positions of the dots."""
        both = {"true": self.true_value, "left": self.left_value}
        return [(k, f"{self._share(value):.1f}") for k, value in both.items() if value is not None]

    @property
    def move(self) -> tuple[str, str] | None:
        """Start and length of the line between the dots."""
        if self.true_value is None or self.left_value is None:
            return None
        start, end = sorted((self._share(self.true_value), self._share(self.left_value)))
        return f"{start:.1f}", f"{end - start:.1f}"

    def _share(self, value: float) -> float:
        low, high = self.ends
        return 100 * (value - low) / (high - low) if high > low else 50.0


def synthetic_sample(plan: Plan, channel: str, epsilon: str, scale: RatingScale) -> DeviceSample:
    """Return ratings of a synthetic user on this scale, and new reports under the plan.

    `channel`: its name. `epsilon`: nats per value or slot.
    """
    people = synthetic(PEOPLE, ITEMS, PEOPLE * 25, scale)
    ratings = people.where((people.users == 0) & (people.items % 2 == 0))
    reports = perturb(ratings, plan)
    sent = reports.where((reports.users == 0) & ~np.isnan(reports.values))
    true: dict[int, float] = dict(zip(ratings.items.tolist(), ratings.values.tolist(), strict=True))
    left: dict[int, float] = dict(zip(sent.items.tolist(), sent.values.tolist(), strict=True))
    names = ratings.item_ids.ids.to_list()
    pairs = tuple(
        (f"item {names[item]}", true.get(item), left.get(item)) for item in sorted({*true, *left})
    )
    symbols = len(plan.channels[0].outputs)
    shown = plan.guarantee.unit == "value"
    return DeviceSample("A synthetic user", channel, epsilon, pairs, symbols, shown)


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"
