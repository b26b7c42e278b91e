"""Figures as part of a page: one panel a model, side by side where there is room for it."""

import re
from html import escape

from matplotlib.figure import Figure

from tacit.evaluation.comparison.chart import TITLES, Chart, describe
from tacit.evaluation.comparison.figures import INK, PALETTE, panel, svg

SHAPES = "●■▲◆▼✚✖"
AS_TEXT = "\ufe0e"  # A cross is a cross, not a picture.


def html(chart: Chart) -> str:
    """The chart as a figure: caption, legend, and a panel for each model."""
    panels = "\n".join(_panel(chart, number) for number in range(len(chart.models)))
    return (
        f"<figure>\n<figcaption><strong>{escape(TITLES[chart.metric])}</strong>, against epsilon "
        f"on a log scale: left is more private. {_spread(chart)}{_beyond(chart)}</figcaption>\n"
        f"{_legend(chart)}\n"
        f'<div class=panels style="--across:{_across(len(chart.models))}">\n{panels}\n</div>\n'
        "</figure>"
    )


def _across(panels: int) -> int:
    """How many panels abreast at most: three, but four make a square."""
    return 2 if panels == 4 else min(3, panels)


def _spread(chart: Chart) -> str:
    splits = len({(row.seed, row.fold) for row in chart.rows})
    if splits == 1:
        return "One split: how much figures vary is not known."
    return f"Bars are a standard deviation over {splits} splits."


def _beyond(chart: Chart) -> str:
    extreme = chart.beyond
    return (
        f" Lines that leave a panel go as far as {extreme:.2f}; the table has every figure."
        if extreme is not None
        else ""
    )


def _panel(chart: Chart, number: int) -> str:
    model = chart.models[number]
    rows = [row for row in chart.rows if row.method == model]
    words = describe(rows, chart.metric)
    return inline(panel(chart, model), f"{chart.metric}-{number}", words)


def inline(drawing: Figure, prefix: str, words: str) -> str:
    """A figure as part of a page, in the page's own colours, with `words` for those who cannot see
    it. Ids get the `prefix`: many figures are in one page, where an id may be given once."""
    picture = svg(drawing)
    text = picture[picture.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for style, colour in enumerate(PALETTE):
        text = text.replace(colour.lower(), f"var(--hue-{style})")
    text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(words, quote=True)}"', 1)


def in_a_notebook(drawing: Figure, words: str) -> str:
    """A figure for a page that has no colours of this one's style; `words` as for `inline`."""
    hues = ";".join(f"--hue-{style}:{colour}" for style, colour in enumerate(PALETTE))
    return f'<div style="{hues}">{inline(drawing, "notebook", words)}</div>'


def _legend(chart: Chart) -> str:
    entries = [entry(name, chart.style(name), chart.style(name)) for name in chart.shown]
    places = dict.fromkeys(row.where for row in chart.rows)
    entries += [f"<li><span class={name} aria-hidden=true></span> {name}</li>" for name in places]
    if any(chart.floor(model) is not None for model in chart.models):
        entries.append("<li><span class=free aria-hidden=true></span> provider, no privacy</li>")
    if chart.mean is not None:
        entries.append(
            f"<li><span class=mean aria-hidden=true></span> always the mean, {chart.mean:.3f}</li>"
        )
    return f"<ul class=legend>{''.join(entries)}</ul>"


def entry(name: str, hue: int, shape: int) -> str:
    """A line of a legend: the marker in its colour, and what it stands for."""
    return (
        f'<li><span style="color:var(--hue-{hue % len(PALETTE)})" aria-hidden="true">'
        f"{SHAPES[shape % len(SHAPES)]}{AS_TEXT}</span> {escape(name)}</li>"
    )
