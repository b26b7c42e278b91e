"""Template values of a figure in a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tacit.evaluation.comparison.figures import PALETTE
from tacit.evaluation.html.live import LivePanel

SHAPES = "●■▲◆▼✚✖"
AS_TEXT = "\ufe0e"  # selects text presentation instead of an emoji


@dataclass(frozen=True)
class LegendEntry:
    """A legend entry: `words`, with a `shape` in the colour `hue` or a `stroke` of the style
    sheet."""

    words: str
    hue: int = 0
    shape: str = ""
    stroke: str = ""


@dataclass(frozen=True)
class FigurePanel:
    """A static picture, and the interactive panel that replaces it, if any."""

    picture: Markup
    live: LivePanel | None = None


@dataclass(frozen=True)
class ReportFigure:
    """`caption`: continues the title in the same paragraph. `across`: maximum panels per row."""

    title: str
    caption: str
    legend: Sequence[LegendEntry]
    panels: Sequence[FigurePanel]

    @property
    def across(self) -> int:
        """Maximum panels per row on a wide screen."""
        return min(4, len(self.panels))


def marker(words: str, hue: int, shape: int) -> LegendEntry:
    """Return a legend entry with the marker and the colour of these numbers, modulo their count."""
    return LegendEntry(words, hue % len(PALETTE), SHAPES[shape % len(SHAPES)] + AS_TEXT)
