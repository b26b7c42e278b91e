"""Accuracy figures of a page: one panel per model, side by side."""

import re
from html import escape

from markupsafe import Markup
from matplotlib.figure import Figure

from tacit.evaluation.comparison.chart import TITLES, AccuracyLine, Chart, describe
from tacit.evaluation.comparison.figures import INK, PALETTE, panel, svg
from tacit.evaluation.html.figure import FigurePanel, LegendEntry, ReportFigure, marker
from tacit.evaluation.html.live import LiveFloor, LiveLine, LivePanel

ONE_SPLIT = "One split, so the standard deviation is unknown."
STROKES = {"provider": "solid", "device": "dashed", "curator": "dotdashed"}


def chart_figure(chart: Chart) -> ReportFigure:
    """Return a figure with caption, legend, and a panel for each model that has a line."""
    return ReportFigure(
        TITLES[chart.metric],
        f", against {chart.axis} on a log scale: left is more private. {_spread(chart)}"
        f"{_beyond(chart)}",
        _legend(chart),
        [_panel(chart, number) for number in range(len(chart.drawn))],
    )


def _spread(chart: Chart) -> str:
    splits = len({(row.seed, row.fold) for row in chart.rows})
    if splits == 1:
        return ONE_SPLIT
    return f"Bars are a standard deviation over {splits} splits."


def _beyond(chart: Chart) -> str:
    extreme = chart.beyond
    return (
        f" The largest figure outside a panel is {extreme:.2f}. The table has all figures."
        if extreme is not None
        else ""
    )


def _panel(chart: Chart, number: int) -> FigurePanel:
    model = chart.drawn[number]
    rows = [row for row in chart.rows if row.method == model]
    words = describe(rows, chart.metric)
    picture = inline(panel(chart, model), f"{chart.metric}-{number}", words)
    return FigurePanel(picture, _live(chart, model))


def _live(chart: Chart, model: str) -> LivePanel | None:
    if chart.limits is None:
        return None
    lines = [_line(chart, line) for line in chart.lines(model)]
    if (free := chart.floor(model)) is not None:
        points = [(epsilon, free, 0.0, chart.said(free)) for epsilon in chart.epsilons]
        lines.append(LiveLine("provider, no privacy", 6, 0, "dotted", points))
    floors = [LiveFloor(name, value, chart.said(value)) for name, value in chart.floors.items()]
    ticks = [(epsilon, f"{epsilon:g}") for epsilon in chart.epsilons]
    return LivePanel(model, chart.axis, ticks, chart.limits, lines, floors)


def _line(chart: Chart, line: AccuracyLine) -> LiveLine:
    style = chart.style(line.channel)
    points = [(epsilon, mean, spread, chart.said(mean)) for epsilon, mean, spread in line.points]
    return LiveLine(f"{line.channel}, {line.where}", style, style, STROKES[line.where], points)


def _legend(chart: Chart) -> list[LegendEntry]:
    entries = [marker(name, chart.style(name), chart.style(name)) for name in chart.shown]
    places = dict.fromkeys(row.where for row in chart.rows if row.method in chart.drawn)
    entries += [LegendEntry(name, stroke=name) for name in places]
    if any(chart.floor(model) is not None for model in chart.drawn):
        entries.append(LegendEntry("provider, no privacy", stroke="free"))
    return entries + [_baseline(chart, name) for name in chart.floors]


def _baseline(chart: Chart, name: str) -> LegendEntry:
    """Return the legend entry of a baseline, with a remark if it is outside all panels."""
    figure = chart.floors[name]
    low, high = chart.limits or (figure, figure)
    off = ", above the panels" if figure > high else ", below the panels" if figure < low else ""
    return LegendEntry(f"{name}, {chart.said(figure)}{off}", stroke="mean")


def inline(drawing: Figure, prefix: str, words: str) -> Markup:
    """Return a figure as inline SVG in the colours of the page, with `words` as text alternative.
    Ids get the `prefix`, because they must be unique in the page."""
    picture = svg(drawing)
    text = picture[picture.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for style, colour in enumerate(PALETTE):
        text = text.replace(colour.lower(), f"var(--hue-{style})")
    text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{escape(prefix)}-", text)
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1))


def in_a_notebook(drawing: Figure, words: str) -> str:
    """Return a figure for a page without this style sheet. `words`: as for `inline`."""
    hues = ";".join(f"--hue-{style}:{colour}" for style, colour in enumerate(PALETTE))
    return f'<div style="{hues}">{inline(drawing, "notebook", words)}</div>'
