"""HTML report on a choice of epsilon: recommendation, figure and table."""

from tacit.evaluation.choice.drawing import KEPT, LOSS, STRENGTH, live, picture
from tacit.evaluation.choice.tradeoff import LETTERS, MEAN_WORDS, Tradeoff, strength
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.html.drawing import ONE_SPLIT, inline
from tacit.evaluation.html.figure import FigurePanel, LegendEntry, ReportFigure, marker
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance


def report(
    tradeoff: Tradeoff, verdicts: list[str], limits: tuple[float, float], run: Provenance
) -> str:
    """Return the report as HTML. `verdicts`: sentences, the most important first. `limits`: maximum
    loss and minimum strength."""
    return render(
        "choice.html",
        title="Tacit: choosing epsilon",
        said=verdicts,
        figure=_figure(tradeoff, limits),
        letters=LETTERS.splitlines(),
        table=table(tradeoff),
        run=run,
    )


def _figure(tradeoff: Tradeoff, limits: tuple[float, float]) -> ReportFigure:
    losses = ", ".join(f"loss {loss:.3f} at {epsilon:g}" for epsilon, loss in tradeoff.points)
    words = f"Against epsilon: {losses}."
    panel = FigurePanel(
        inline(picture(tradeoff, limits), "tradeoff", words), live(tradeoff, limits)
    )
    spread = "Bars are a standard deviation over splits." if tradeoff.spreads else ONE_SPLIT
    caption = f", against epsilon per {tradeoff.unit} on a log scale. {spread}"
    return ReportFigure(
        "Privacy strength and accuracy loss", caption, _legend(tradeoff, limits), [panel]
    )


def _legend(tradeoff: Tradeoff, limits: tuple[float, float]) -> list[LegendEntry]:
    """Return the entries of the lines, the crossing and the acceptable interval."""
    band, rule = tradeoff.band(*limits), tradeoff.rule
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


def table(tradeoff: Tradeoff) -> Table:
    """Return strength and loss at every epsilon."""
    lines = tuple(
        (f"{e:g}", f"{strength(e):.3f}", f"{1 - strength(e):.3f}", f"{loss:.{tradeoff.digits}f}")
        for e, loss in tradeoff.points
    )
    heading = ("epsilon", "privacy strength P", "1 - P", "accuracy loss A")
    return Table(f"Privacy strength and accuracy loss; epsilon per {tradeoff.unit}", heading, lines)
