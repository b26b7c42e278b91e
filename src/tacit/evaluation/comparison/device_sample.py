"""What left one device, next to what was true: of one made-up or self-chosen person."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tacit.evaluation.comparison.runner import Tools
from tacit.evaluation.html.markup import wide
from tacit.readers import synthetic
from tacit.scale import RatingScale

PEOPLE, ITEMS = 10, 60


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
    return DeviceSample("A made-up person", channel, epsilon, pairs, symbols, shown)


def html(sample: DeviceSample) -> str:
    """The sample as a table, each line with a strip: full dot true, hollow dot reported."""
    values = [value for _, *both in sample.pairs for value in both if value is not None]
    low, high = min(values), max(values)
    lines = "\n".join(
        f"<tr><th scope=row>{escape(item)}</th><td class=n>{_figure(true)}</td>"
        f"<td class=n>{_figure(left)}</td>"
        f"<td class=across>{_strip(_share(true, low, high), _share(left, low, high))}</td></tr>"
        for item, true, left in sample.pairs
    )
    table = (
        "<table class=sample>\n<thead><tr><th scope=col>item</th>"
        "<th scope=col class=n>true, stays</th>"
        "<th scope=col class=n>left the device</th>"
        '<th scope=col class=across><span class="key true"></span> true '
        '<span class="key left"></span> left</th></tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody></table>"
    )
    return (
        f"<p>{escape(sample.person)} answered through <em>{escape(sample.channel)}</em> at "
        f"epsilon = {escape(sample.epsilon)}. {_received(sample)}{_symbols(sample)}</p>\n"
        f"{wide('What left one device', table)}"
    )


def _symbols(sample: DeviceSample) -> str:
    if sample.symbols is None:
        return ""
    return (
        f" There are {sample.symbols} symbols to draw from; the number shown is what the drawn one "
        "stands for. Another draw would look different."
    )


def _received(sample: DeviceSample) -> str:
    if sample.presence_public:
        return (
            "The provider received the items, which are public, and a symbol for each: nothing "
            "else."
        )
    return (
        "The provider received a symbol for every item it asked about, rated or not. Items without "
        "a true rating below were made up on the device; some that have one went missing there."
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _share(value: float | None, low: float, high: float) -> float | None:
    if value is None:
        return None
    return 100 * (value - low) / (high - low) if high > low else 50.0


def _strip(true: float | None, left: float | None) -> str:
    marks = [("key true", true), ("key left", left)]
    dots = "".join(
        f'<i class="{kind}" style="left:{place:.1f}%"></i>'
        for kind, place in marks
        if place is not None
    )
    return f"<span class=strip aria-hidden=true>{_move(true, left)}{dots}</span>"


def _move(true: float | None, left: float | None) -> str:
    if true is None or left is None:
        return ""
    start, length = min(true, left), abs(true - left)
    return f'<i class=move style="left:{start:.1f}%;width:{length:.1f}%"></i>'
