"""Figure of a trade-off, static and interactive."""

# matplotlib's type annotations of keyword arguments and colours are incomplete.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.evaluation.choice.tradeoff import MEAN_WORDS, Tradeoff, strength
from tacit.evaluation.comparison.figures import INK, PALETTE, dress, floor
from tacit.evaluation.html.live import LiveFloor, LiveLine, LivePanel

STRENGTH, LOSS, KEPT = "strength P", "loss of accuracy A", "1 - P"
ENDS = (-0.02, 1.06)
SIZE = (6.4, 3.6)


def drawn(tradeoff: Tradeoff, limits: tuple[float, float]) -> Figure:
    """Return a standalone figure with a legend. `limits`: maximum loss and minimum strength."""
    drawing = picture(tradeoff, limits)
    drawing.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
    return drawing


def picture(tradeoff: Tradeoff, limits: tuple[float, float]) -> Figure:
    """Return strength and loss against epsilon, with the crossing and the acceptable interval."""
    drawing = Figure(figsize=SIZE, layout="constrained")
    axes = drawing.subplots()
    epsilons = [epsilon for epsilon, _ in tradeoff.points]
    strengths = [strength(epsilon) for epsilon in epsilons]
    axes.plot(epsilons, strengths, "o-", color=PALETTE[0], label=STRENGTH)
    losses = [loss for _, loss in tradeoff.points]
    axes.errorbar(
        epsilons, losses, tradeoff.spreads or None,
        fmt="s-", color=PALETTE[1], elinewidth=0.8, label=LOSS,
    )  # fmt: skip
    axes.plot(epsilons, [1 - each for each in strengths], ":", color=INK, label=KEPT)
    dress(axes, "", epsilons, f"epsilon per {tradeoff.unit}")
    axes.set_ylim(*ENDS)
    floor(axes, MEAN_WORDS, 1.0)
    _places(axes, tradeoff, limits)
    return drawing


def _places(axes: Axes, tradeoff: Tradeoff, limits: tuple[float, float]) -> None:
    """Draw the acceptable interval and the crossing."""
    if band := tradeoff.band(*limits):
        start, end, name = band
        margin = 1.03 if start == end else 1.0
        axes.axvspan(start / margin, end * margin, color=PALETTE[2], alpha=0.15, label=name)
    if rule := tradeoff.rule:
        axes.axvline(rule[0], color=INK, linewidth=0.8, label=rule[1])


def live(tradeoff: Tradeoff, limits: tuple[float, float]) -> LivePanel:
    """Return the data of the interactive figure."""
    spreads = tradeoff.spreads or (0.0,) * len(tradeoff.points)
    strengths = [(e, strength(e), 0.0, f"{strength(e):.3f}") for e, _ in tradeoff.points]
    losses = [
        (e, loss, spread, f"{loss:.{tradeoff.digits}f}")
        for (e, loss), spread in zip(tradeoff.points, spreads, strict=True)
    ]
    complements = [(e, 1 - p, 0.0, f"{1 - p:.3f}") for e, p, _, _ in strengths]
    return LivePanel(
        title="",
        x=f"epsilon per {tradeoff.unit}",
        ticks=[(e, f"{e:g}") for e, _ in tradeoff.points],
        ends=ENDS,
        lines=[
            LiveLine(STRENGTH, 0, 0, "solid", strengths),
            LiveLine(LOSS, 1, 1, "solid", losses),
            LiveLine(KEPT, 6, 0, "dotted", complements),
        ],
        floors=[LiveFloor(MEAN_WORDS, 1.0, "1")],
        band=tradeoff.band(*limits),
        rule=tradeoff.rule,
    )
