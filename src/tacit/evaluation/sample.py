"""What left one device, next to what was true: of one made-up or self-chosen person."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tacit.evaluation.cell import Tools
from tacit.readers import synthetic
from tacit.scale import RatingScale

PEOPLE, ITEMS = 10, 60
WIDTH, HEIGHT, EDGE = 160, 16, 6


@dataclass(frozen=True)
class Sample:
    """One person's ratings and reports: (item, true rating, what left the device).

    The true ratings are shown to whoever reads the report, so they are a made-up person's, or
    those of somebody who asked for it.
    """

    person: str
    channel: str
    epsilon: str
    pairs: Sequence[tuple[str, float, float]]


def made_up(scale: RatingScale, channel: str, epsilon: str, tools: Tools) -> Sample:
    """A few ratings of a made-up person on this scale, and what left her device just now."""
    crowd = synthetic(PEOPLE, ITEMS, PEOPLE * 25, scale)
    own = crowd.where((crowd.users == 0) & (crowd.items % 2 == 0))
    reports = tools.perturb(own, tools.channel(channel, epsilon, scale), None)
    names = (f"item {number}" for number in own.item_ids.take(own.items))
    pairs = zip(names, own.values.tolist(), reports.values.tolist(), strict=True)
    return Sample("A made-up person", channel, epsilon, tuple(pairs))


def html(sample: Sample) -> str:
    """The sample as a table, each line with a strip: full dot true, hollow dot reported."""
    values = [value for _, *both in sample.pairs for value in both]
    low, high = min(values), max(values)
    lines = "\n".join(
        f"<tr><td>{escape(item)}</td><td class=n>{true:g}</td><td class=n>{left:.3g}</td>"
        f"<td>{_strip(_place(true, low, high), _place(left, low, high))}</td></tr>"
        for item, true, left in sample.pairs
    )
    return (
        f"<p>{escape(sample.person)} answered through <em>{escape(sample.channel)}</em> at "
        f"epsilon = {escape(sample.epsilon)}. The provider received the items and the third "
        f"column, nothing else.</p>\n"
        f"<div class=wide><table>\n<thead><tr><th>item</th><th class=n>true, stays</th>"
        f"<th class=n>left the device</th><th>● true ○ left</th></tr></thead>\n"
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


def _place(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return EDGE + share * (WIDTH - 2 * EDGE)


def _strip(true: float, left: float) -> str:
    middle = HEIGHT / 2
    return (
        f'<svg class=strip viewBox="0 0 {WIDTH} {HEIGHT}" width={WIDTH} height={HEIGHT} '
        f'aria-hidden="true"><line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{middle}" y2="{middle}" '
        f'class=rule /><line x1="{true:.1f}" x2="{left:.1f}" y1="{middle}" y2="{middle}" '
        f'class=move /><circle cx="{true:.1f}" cy="{middle}" r="4" class=true />'
        f'<circle cx="{left:.1f}" cy="{middle}" r="4.5" class=left /></svg>'
    )
