"""Figure and HTML report of a choice of epsilon."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from tacit.reporting.page import FigurePanel, Provenance, ReportFigure, render
from tacit.reporting.panel import ONE_SPLIT, LegendEntry, Line, Panel, ReferenceLine, marker
from tacit.reporting.plot import INK, draw
from tacit.reporting.table import Table, text
from tacit.results.choice.tradeoff import LETTERS, MEAN_WORDS, Tradeoff, strength

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false


STRENGTH, LOSS, COMPLEMENT = "strength P", "loss of accuracy A", "1 - P"
ENDS = (-0.02, 1.06)
SIZE = (6.4, 3.6)


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """What makes an epsilon acceptable: accuracy loss A at most `most_loss`, and privacy strength P
    at least `least_strength`. `weight`: of P in the weighted score, the rest is that of 1 - A."""

    weight: float = 0.5
    most_loss: float = 0.5
    least_strength: float = 0.1

    @property
    def limits(self) -> tuple[float, float]:
        """Maximum loss and minimum strength."""
        return self.most_loss, self.least_strength

    def verdicts(self, tradeoff: Tradeoff) -> list[str]:
        """Return the crossing, the best epsilon and the interval, a sentence each."""
        return tradeoff.verdicts(self.weight, *self.limits)


def as_text(tradeoff: Tradeoff, criteria: Criteria) -> str:
    """Return the table, the definitions of P and A, and the verdicts."""
    return "\n".join((text(table(tradeoff)), "", LETTERS, "", *criteria.verdicts(tradeoff)))


def report(tradeoff: Tradeoff, criteria: Criteria, run: Provenance) -> str:
    """Return the report as HTML: verdicts, figure, definitions, table and provenance."""
    return render(
        "choice.html",
        title="Tacit: choosing epsilon",
        said=criteria.verdicts(tradeoff),
        figure=_report_figure(tradeoff, criteria.limits),
        letters=LETTERS.splitlines(),
        table=table(tradeoff),
        run=run,
    )


def figure(tradeoff: Tradeoff, limits: tuple[float, float]) -> Figure:
    """Return a standalone figure with a legend. `limits`: maximum loss and minimum strength."""
    drawing = draw(panel(tradeoff, limits), SIZE)
    drawing.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
    return drawing


def panel(tradeoff: Tradeoff, limits: tuple[float, float]) -> Panel:
    """Return strength and loss against epsilon, with the crossing and the acceptable interval."""
    spreads = tradeoff.spreads or (0.0,) * len(tradeoff.points)
    strengths = [(e, strength(e), 0.0, f"{strength(e):.3f}") for e, _ in tradeoff.points]
    losses = [
        (e, loss, spread, f"{loss:.{tradeoff.digits}f}")
        for (e, loss), spread in zip(tradeoff.points, spreads, strict=True)
    ]
    complements = [(e, 1 - p, 0.0, f"{1 - p:.3f}") for e, p, _, _ in strengths]
    return Panel(
        title="",
        x=f"epsilon per {tradeoff.unit}",
        ticks=[(e, f"{e:g}") for e, _ in tradeoff.points],
        ends=ENDS,
        lines=[
            Line(STRENGTH, 0, 0, "solid", strengths),
            Line(LOSS, 1, 1, "solid", losses),
            Line(COMPLEMENT, 6, 0, "dotted", complements),
        ],
        baselines=[ReferenceLine(MEAN_WORDS, 1.0, "1")],
        band=tradeoff.band(*limits),
        rule=tradeoff.rule,
    )


def table(tradeoff: Tradeoff) -> Table:
    """Return strength and loss at every epsilon."""
    lines = tuple(
        (f"{e:g}", f"{strength(e):.3f}", f"{1 - strength(e):.3f}", f"{loss:.{tradeoff.digits}f}")
        for e, loss in tradeoff.points
    )
    heading = ("epsilon", "privacy strength P", "1 - P", "accuracy loss A")
    return Table(f"Privacy strength and accuracy loss; epsilon per {tradeoff.unit}", heading, lines)


def _report_figure(tradeoff: Tradeoff, limits: tuple[float, float]) -> ReportFigure:
    losses = ", ".join(f"loss {loss:.3f} at {epsilon:g}" for epsilon, loss in tradeoff.points)
    words = f"Against epsilon: {losses}."
    drawn = FigurePanel.of(panel(tradeoff, limits), "tradeoff", words, SIZE)
    spread = (
        "Error bars show one standard deviation over splits." if tradeoff.spreads else ONE_SPLIT
    )
    caption = f", against epsilon per {tradeoff.unit} on a log scale. {spread}"
    return ReportFigure(
        "Privacy strength and accuracy loss", caption, _legend(tradeoff, limits), [drawn]
    )


def _legend(tradeoff: Tradeoff, limits: tuple[float, float]) -> list[LegendEntry]:
    """Return the entries of the lines, the crossing and the acceptable interval."""
    band, rule = tradeoff.band(*limits), tradeoff.rule
    entries = [
        marker(STRENGTH, 0, 0),
        marker(LOSS, 1, 1),
        LegendEntry(f"{COMPLEMENT}, strength lost", stroke="free"),
        LegendEntry(f"{MEAN_WORDS}, A = 1", stroke="mean"),
    ]
    if rule:
        entries.append(LegendEntry(f"{rule[1]}, A = 1 - P", stroke="rule"))
    if band:
        entries.append(LegendEntry(f"{band[2]}, within both limits", stroke="band"))
    return entries
