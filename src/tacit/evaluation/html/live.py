"""Data of interactive panels, which replace static pictures if scripts run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tacit.evaluation.comparison.figures import MARKERS, PALETTE

Point = tuple[float, float, float, str]
"""x, the mean, its standard deviation over splits, and the mean as text."""


@dataclass(frozen=True)
class LiveLine:
    """A line with a marker at each point. `stroke`: "solid", "dashed", "dotdashed", "dotted" or
    "baseline". `even`: independent of x. Such a line is thin, with a band instead of error bars."""

    name: str
    hue: int
    shape: int
    stroke: str
    points: Sequence[Point]
    even: bool = False


@dataclass(frozen=True)
class LiveFloor:
    """A baseline, drawn as a dashed line, with its name and its value as text."""

    name: str
    value: float
    said: str


@dataclass(frozen=True)
class LivePanel:
    """Lines against `x`, with labelled `ticks`, and the limits `ends` of y.

    `rows`: names of the rows, bottom first, if every system has a row and x is the metric. Each
    line is then one point, (figure, row, deviation). `band`: a named interval of x. `rule`: a named
    value of x.
    """

    title: str
    x: str
    ticks: Sequence[tuple[float, str]]
    ends: tuple[float, float]
    lines: Sequence[LiveLine]
    floors: Sequence[LiveFloor] = ()
    logarithmic: bool = True
    rows: Sequence[str] = ()
    band: tuple[float, float, str] | None = None
    rule: tuple[float, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the panel as JSON-ready values, with colours and shapes modulo their count."""
        values = asdict(self)
        for line in values["lines"]:
            line["hue"] %= len(PALETTE)
            line["shape"] %= len(MARKERS)
        return values
