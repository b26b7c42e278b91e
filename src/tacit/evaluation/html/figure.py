"""A figure of a report as its template sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tacit.evaluation.comparison.figures import PALETTE
from tacit.evaluation.html.live import LivePanel

SHAPES = "●■▲◆▼✚✖"
AS_TEXT = "\ufe0e"  # A cross is a cross, not a picture.


@dataclass(frozen=True)
class LegendEntry:
    """A line of a legend: what stands for the `words`, a `shape` in the colour `hue`, or a `stroke`
    of the style sheet."""

    words: str
    hue: int = 0
    shape: str = ""
    stroke: str = ""


@dataclass(frozen=True)
class FigurePanel:
    """A picture, and what a script draws in its place; None where it stays."""

    picture: Markup
    live: LivePanel | None = None


@dataclass(frozen=True)
class ReportFigure:
    """`caption`: what follows the title in the same paragraph. `across`: how many panels abreast at
    most."""

    title: str
    caption: str
    legend: Sequence[LegendEntry]
    panels: Sequence[FigurePanel]

    @property
    def across(self) -> int:
        """As many as a wide screen has room for."""
        return min(4, len(self.panels))


def marker(words: str, hue: int, shape: int) -> LegendEntry:
    """The marker and the colour of these numbers, which begin again where there are no more."""
    return LegendEntry(words, hue % len(PALETTE), SHAPES[shape % len(SHAPES)] + AS_TEXT)
