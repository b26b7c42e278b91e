"""A choice of epsilon as a page to open: what is recommended, the figure, the table."""

from tacit.evaluation.comparison.figures import tradeoff as drawn
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.figure import ReportFigure
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance
from tacit.evaluation.tradeoff import LETTERS, Tradeoff, strength


def report(found: Tradeoff, said: list[str], limits: tuple[float, float], run: Provenance) -> str:
    """The page as HTML. `said`: the verdicts in sentences, the first one first; `limits`: the
    largest loss and the least strength that are acceptable."""
    return render(
        "choice.html",
        title="Tacit: choosing epsilon",
        said=said,
        figure=_figure(found, limits),
        letters=LETTERS,
        table=table(found),
        run=run,
    )


def _figure(found: Tradeoff, limits: tuple[float, float]) -> ReportFigure:
    losses = ", ".join(f"loss {loss:.3f} at {epsilon:g}" for epsilon, loss in found.points)
    picture = inline(drawn(found, *limits), "tradeoff", f"Against epsilon: {losses}.")
    caption = (
        f", against epsilon per {found.unit}; dotted is 1 - P, the line is where as much is lost "
        "as kept, and the band is what both limits allow."
    )
    return ReportFigure("Strength and loss", caption, [], [picture])


def table(found: Tradeoff) -> Table:
    """Strength and loss at every epsilon."""
    lines = tuple((f"{e:g}", f"{strength(e):.3f}", f"{loss:.3f}") for e, loss in found.points)
    heading = ("epsilon", "strength P", "loss A")
    return Table(f"Strength and loss; epsilon per {found.unit}", heading, lines)
