"""Figures as data: lines, baselines and axes, drawn by matplotlib and, if scripts run, by uPlot."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

# Okabe and Ito's palette, safe for all types of colour vision, without yellow, too pale for lines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
SHAPES = "●■▲◆▼✚✖"
AS_TEXT = "\ufe0e"  # selects text presentation instead of an emoji
ONE_SPLIT = "One split, so the standard deviation cannot be estimated."

Point = tuple[float, float, float, str]
"""x, the mean, its standard deviation over splits, and the mean as text."""
Ends = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A line with a marker at each point.

    `hue` and `shape`: numbers of its colour and marker. `stroke`: "solid", "dashed", "dotdashed",
    "dotted" (no privacy) or "baseline". `even`: independent of x. Such a line is thin, with a band
    instead of error bars.
    """

    name: str
    hue: int
    shape: int
    stroke: str
    points: Sequence[Point]
    even: bool = False


@dataclass(frozen=True)
class ReferenceLine:
    """A baseline, drawn as a dashed line, with its name and its value as text."""

    name: str
    value: float
    text: str


@dataclass(frozen=True)
class Panel:
    """Lines against `x`, with labelled `ticks`, and the limits `ends` of y.

    `rows`: names of the rows, bottom first, if every system has a row and x is the metric. Each
    line is then one point, (figure, row, deviation). `band`: a named interval of x. `rule`: a named
    value of x.
    """

    title: str
    x: str
    ticks: Sequence[tuple[float, str]]
    ends: Ends
    lines: Sequence[Line]
    baselines: Sequence[ReferenceLine] = ()
    logarithmic: bool = True
    rows: Sequence[str] = ()
    band: tuple[float, float, str] | None = None
    rule: tuple[float, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the panel as JSON-ready values, with colours and shapes modulo their count."""
        values = asdict(self)
        for line in values["lines"]:
            line["hue"] %= len(PALETTE)
            line["shape"] %= len(SHAPES)
        return values

    def describe(self, caption: str) -> str:
        """Return the text alternative: the caption, then every line and baseline."""
        return " ".join([f"{caption}, against {self.x}.", *self.sentences()])

    def sentences(self) -> Iterator[str]:
        """Yield the figures of every line and baseline, a sentence each."""
        labels = dict(self.ticks)
        for line in self.lines:
            if self.rows or line.even or line.stroke == "dotted":
                yield f"{line.name}: {line.points[0][3]}."
            else:
                values = (f"{text} at {labels[at]}" for at, _, _, text in line.points)
                yield f"{line.name}: {', '.join(values)}."
        for baseline in self.baselines:
            yield f"{baseline.name[0].upper()}{baseline.name[1:]}: {baseline.text}."


@dataclass(frozen=True)
class LegendEntry:
    """A legend entry: `words`, with a `shape` in the colour `hue` or a `stroke` of the style
    sheet."""

    words: str
    hue: int = 0
    shape: str = ""
    stroke: str = ""


def marker(words: str, hue: int, shape: int) -> LegendEntry:
    """Return a legend entry with the marker and the colour of these numbers, modulo their count."""
    return LegendEntry(words, hue % len(PALETTE), SHAPES[shape % len(SHAPES)] + AS_TEXT)


def style(number: int) -> tuple[int, int]:
    """Return the numbers of a line's colour and marker, a distinct pair per line."""
    return number % len(PALETTE), (number + number // len(PALETTE)) % len(SHAPES)


def limits(
    figures: Sequence[float],
    *,
    lower_is_better: bool,
    baselines: Sequence[float] = (),
    spreads: Sequence[float] = (),
) -> Ends | None:
    """Return the limits of an axis for these figures, robust to outliers. None without figures.

    If the distance of the worst figure from the best one exceeds four times that of the median, the
    axis ends at three times that of the median. It is extended to each of the `baselines` if the
    figures still cover a third of it. The margin is at least the median of the `spreads`, so that
    differences within the noise look small.
    """
    if not figures:
        return None
    best, worst = sorted((min(figures), max(figures)), reverse=not lower_is_better)
    usual = median(figures) - best
    if abs(worst - best) > 4 * abs(usual) > 0:
        worst = best + 3 * usual
    low, high = sorted((best, worst))
    for baseline in baselines:
        start, end = min(low, baseline), max(high, baseline)
        if high == low or end - start <= 3 * (high - low):
            low, high = start, end
    margin = max(0.06 * (high - low) or 0.01, 1.2 * median(spreads or (0.0,)))
    return low - margin, high + margin


def beyond(figures: Sequence[float], ends: Ends | None) -> float | None:
    """Return the figure furthest outside an axis with these limits. None if all are inside."""
    low, high = ends or (-math.inf, math.inf)
    off = (figure for figure in figures if not low <= figure <= high)
    return max(off, key=lambda figure: abs(figure - low), default=None)


def separated(places: Sequence[float], *, logarithmic: bool) -> list[float]:
    """Return the ascending ticks whose labels do not overlap: the first and the last, and between
    them those at a distance of at least a tenth of the axis from their neighbours."""
    if len(places) < 3:
        return list(places)
    along = [math.log(tick) for tick in places] if logarithmic else list(places)
    least, chosen = 0.1 * (along[-1] - along[0]), [0]
    for k in range(1, len(places) - 1):
        if along[k] - along[chosen[-1]] >= least and along[-1] - along[k] >= least:
            chosen.append(k)
    return [places[k] for k in (*chosen, len(places) - 1)]
