"""A choice of epsilon as a page to open: what is recommended, the figure, the table."""

from tacit.evaluation.choice.drawing import KEPT, LOSS, STRENGTH, live, picture
from tacit.evaluation.choice.tradeoff import LETTERS, MEAN_WORDS, Tradeoff, strength
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.html.drawing import ONE_SPLIT, inline
from tacit.evaluation.html.figure import FigurePanel, LegendEntry, ReportFigure, marker
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance


def report(found: Tradeoff, said: list[str], limits: tuple[float, float], run: Provenance) -> str:
    """The page as HTML. `said`: the verdicts in sentences, the first one first; `limits`: the
    largest loss and the least strength that are acceptable."""
    return render(
        "choice.html",
        title="Tacit: choosing epsilon",
        said=said,
        figure=_figure(found, limits),
        letters=LETTERS.splitlines(),
        table=table(found),
        run=run,
    )


def _figure(found: Tradeoff, limits: tuple[float, float]) -> ReportFigure:
    losses = ", ".join(f"loss {loss:.3f} at {epsilon:g}" for epsilon, loss in found.points)
    words = f"Against epsilon: {losses}."
    panel = FigurePanel(inline(picture(found, limits), "tradeoff", words), live(found, limits))
    spread = "Bars are a standard deviation over splits." if found.spreads else ONE_SPLIT
    caption = f", against epsilon per {found.unit} on a log scale. {spread}"
    return ReportFigure(
        "Privacy strength and accuracy loss", caption, _legend(found, limits), [panel]
    )


def _legend(found: Tradeoff, limits: tuple[float, float]) -> list[LegendEntry]:
    """The lines, then the band and the crossing by the names that they have in the figure."""
    band, rule = found.band(*limits), found.rule
    entries = [
        marker(STRENGTH, 0, 0),
        marker(LOSS, 1, 1),
        LegendEntry(f"{KEPT}, strength lost", stroke="free"),
        LegendEntry(f"{MEAN_WORDS}, A = 1", stroke="mean"),
    ]
    if rule:
        entries.append(LegendEntry(f"{rule[1]}, A = 1 - P", stroke="rule"))
    if band:
        entries.append(LegendEntry(f"{band[2]}, within both limits", stroke="band"))
    return entries


def table(found: Tradeoff) -> Table:
    """Strength and loss at every epsilon."""
    lines = tuple(
        (f"{e:g}", f"{strength(e):.3f}", f"{1 - strength(e):.3f}", f"{loss:.{found.digits}f}")
        for e, loss in found.points
    )
    heading = ("epsilon", "privacy strength P", "1 - P", "accuracy loss A")
    return Table(f"Privacy strength and accuracy loss; epsilon per {found.unit}", heading, lines)
