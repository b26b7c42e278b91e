"""Figures as part of a page: one panel a model, side by side where there is room for it."""

import re
from html import escape

from tacit.evaluation.chart import TITLES, Chart, describe
from tacit.evaluation.figures import INK, PALETTE, panel, svg

SHAPES = "●■▲◆▼✚✖"
AS_TEXT = "\ufe0e"  # A cross is a cross, not a picture.


def html(chart: Chart) -> str:
    """The chart as a figure: caption, legend, and a panel for each model."""
    panels = "\n".join(_panel(chart, number) for number in range(len(chart.models)))
    return (
        f"<figure>\n<figcaption><strong>{escape(TITLES[chart.metric])}</strong>, against epsilon "
        f"on a log scale: left is more private.{_beyond(chart)}</figcaption>\n{_legend(chart)}\n"
        f'<div class=panels style="--across:{_across(len(chart.models))}">\n{panels}\n</div>\n'
        "</figure>"
    )


def _across(panels: int) -> int:
    """How many panels abreast at most: three, but four make a square."""
    return 2 if panels == 4 else min(3, panels)


def _beyond(chart: Chart) -> str:
    extreme = chart.beyond
    return (
        f" Lines that leave a panel go as far as {extreme:.2f}; the table has every figure."
        if extreme is not None
        else ""
    )


def _panel(chart: Chart, number: int) -> str:
    model = chart.models[number]
    picture = svg(panel(chart, model))
    inline = picture[picture.index("<svg") :].replace(INK, "currentColor")
    inline = re.sub(r"<metadata>.*?</metadata>", "", inline, flags=re.DOTALL)
    for style, colour in enumerate(PALETTE):
        inline = inline.replace(colour.lower(), f"var(--hue-{style})")
    # Many figures are in one page, where an id may be given once.
    inline = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{chart.metric}-{number}-", inline)
    rows = [row for row in chart.rows if row.method == model]
    words = escape(describe(rows, chart.metric), quote=True)
    return inline.replace("<svg", f'<svg role="img" aria-label="{words}"', 1)


def _legend(chart: Chart) -> str:
    styles = ((name, chart.style(name)) for name in chart.shown)
    entries = [
        f'<li><span style="color:var(--hue-{style % len(PALETTE)})" aria-hidden="true">'
        f"{SHAPES[style % len(SHAPES)]}{AS_TEXT}</span> {escape(name)}</li>"
        for name, style in styles
    ]
    places = dict.fromkeys(row.where for row in chart.rows)
    entries += [f"<li><span class={name} aria-hidden=true></span> {name}</li>" for name in places]
    if any(chart.floor(model) is not None for model in chart.models):
        entries.append("<li><span class=free aria-hidden=true></span> provider, no privacy</li>")
    return f"<ul class=legend>{''.join(entries)}</ul>"
