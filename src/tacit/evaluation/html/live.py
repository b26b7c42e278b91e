"""What a script draws in the place of a panel's picture: the same lines, with figures to read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tacit.evaluation.comparison.figures import MARKERS, PALETTE

Point = tuple[float, float, float, str]
"""A place of x, the mean there, the deviation over splits, and the mean as it is said."""


@dataclass(frozen=True)
class LiveLine:
    """A line with a marker at each point. `stroke`: "solid", "dashed", "dotdashed" or "dotted".
    `even`: it does not depend on the axis, and is thin, with a band for bars."""

    name: str
    hue: int
    shape: int
    stroke: str
    points: Sequence[Point]
    even: bool = False


@dataclass(frozen=True)
class LiveFloor:
    """A dashed line across, with its name and its figure as it is said."""

    name: str
    value: float
    said: str


@dataclass(frozen=True)
class LivePanel:
    """Lines against `x`, at the places `ticks` with their labels, between the `ends` of y.

    `rows`: names of the rows from below, where every system has a row and x is what is measured;
    each line then is one point, (figure, row, deviation). `band`: an interval of x, `rule`: a place
    of x, each with a name.
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
        """The panel as JSON-ready values, colours and shapes as numbers that begin again."""
        values = asdict(self)
        for line in values["lines"]:
            line["hue"] %= len(PALETTE)
            line["shape"] %= len(MARKERS)
        return values
