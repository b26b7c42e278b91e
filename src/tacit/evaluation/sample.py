"""What left one device, next to what was true: of one made-up or self-chosen person."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tacit.evaluation.cell import Tools
from tacit.readers import synthetic
from tacit.scale import RatingScale

PEOPLE, ITEMS = 10, 60


@dataclass(frozen=True)
class Sample:
    """One person's ratings and reports: (item, true rating, what the symbol stands for).

    The true ratings are shown to whoever reads the report, so they are a made-up person's, or
    those of somebody who asked for it. `symbols`: how many different ones the channel has.
    """

    person: str
    channel: str
    epsilon: str
    pairs: Sequence[tuple[str, float, float]]
    symbols: int | None = None


def made_up(scale: RatingScale, channel: str, epsilon: str, tools: Tools) -> Sample:
    """A few ratings of a made-up person on this scale, and what left her device just now."""
    crowd = synthetic(PEOPLE, ITEMS, PEOPLE * 25, scale)
    own = crowd.where((crowd.users == 0) & (crowd.items % 2 == 0))
    answers = tools.channel(channel, epsilon, scale)
    reports = tools.perturb(own, answers, None)
    names = (f"item {number}" for number in own.item_ids.take(own.items))
    pairs = zip(names, own.values.tolist(), reports.values.tolist(), strict=True)
    return Sample("A made-up person", channel, epsilon, tuple(pairs), len(answers.outputs))


def html(sample: Sample) -> str:
    """The sample as a table, each line with a strip: full dot true, hollow dot reported."""
    values = [value for _, *both in sample.pairs for value in both]
    low, high = min(values), max(values)
    lines = "\n".join(
        f"<tr><th scope=row>{escape(item)}</th><td class=n>{true:g}</td>"
        f"<td class=n>{left:.3g}</td>"
        f"<td class=across>{_strip(_share(true, low, high), _share(left, low, high))}</td></tr>"
        for item, true, left in sample.pairs
    )
    return (
        f"<p>{escape(sample.person)} answered through <em>{escape(sample.channel)}</em> at "
        f"epsilon = {escape(sample.epsilon)}. The provider received the items, which are public, "
        f"and a symbol for each: nothing else.{_symbols(sample)}</p>\n"
        f"<div class=wide><table class=sample>\n<thead><tr><th scope=col>item</th>"
        f"<th scope=col class=n>true, stays</th>"
        f"<th scope=col class=n>left the device</th>"
        f'<th scope=col class=across><span class="key true"></span> true '
        f'<span class="key left"></span> left</th></tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


def _symbols(sample: Sample) -> str:
    if sample.symbols is None:
        return ""
    return (
        f" There are {sample.symbols} symbols to draw from; the number shown is what the drawn one "
        "stands for. Another draw would look different."
    )


def _share(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / (high - low) if high > low else 50.0


def _strip(true: float, left: float) -> str:
    start, length = min(true, left), abs(true - left)
    return (
        f'<span class=strip aria-hidden=true><i class=move style="left:{start:.1f}%;'
        f'width:{length:.1f}%"></i><i class="key true" style="left:{true:.1f}%"></i>'
        f'<i class="key left" style="left:{left:.1f}%"></i></span>'
    )
