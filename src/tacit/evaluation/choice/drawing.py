"""The trade-off of a choice as a picture, and as what a script draws in its place."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.evaluation.choice.tradeoff import MEAN_WORDS, Tradeoff, strength
from tacit.evaluation.comparison.figures import INK, PALETTE, dress, floor
from tacit.evaluation.html.live import LiveFloor, LiveLine, LivePanel

STRENGTH, LOSS, KEPT = "strength P", "loss of accuracy A", "1 - P"
ENDS = (-0.02, 1.06)
SIZE = (6.4, 3.6)


def drawn(found: Tradeoff, limits: tuple[float, float]) -> Figure:
    """A figure of its own, with a legend. `limits`: the largest loss and the least strength."""
    drawing = picture(found, limits)
    drawing.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
    return drawing


def picture(found: Tradeoff, limits: tuple[float, float]) -> Figure:
    """Strength and loss against epsilon, the crossing and the acceptable interval, each named."""
    drawing = Figure(figsize=SIZE, layout="constrained")
    axes = drawing.subplots()
    epsilons = [epsilon for epsilon, _ in found.points]
    strengths = [strength(epsilon) for epsilon in epsilons]
    axes.plot(epsilons, strengths, "o-", color=PALETTE[0], label=STRENGTH)
    losses = [loss for _, loss in found.points]
    axes.errorbar(
        epsilons, losses, found.spreads or None,
        fmt="s-", color=PALETTE[1], elinewidth=0.8, label=LOSS,
    )  # fmt: skip
    axes.plot(epsilons, [1 - each for each in strengths], ":", color=INK, label=KEPT)
    dress(axes, "", epsilons, f"epsilon per {found.unit}")
    axes.set_ylim(*ENDS)
    floor(axes, MEAN_WORDS, 1.0)
    _places(axes, found, limits)
    return drawing


def _places(axes: Axes, found: Tradeoff, limits: tuple[float, float]) -> None:
    """The band and the line."""
    if band := found.band(*limits):
        start, end, name = band
        margin = 1.03 if start == end else 1.0
        axes.axvspan(start / margin, end * margin, color=PALETTE[2], alpha=0.15, label=name)
    if rule := found.rule:
        axes.axvline(rule[0], color=INK, linewidth=0.8, label=rule[1])


def live(found: Tradeoff, limits: tuple[float, float]) -> LivePanel:
    """The same for a script."""
    spreads = found.spreads or (0.0,) * len(found.points)
    strengths = [(e, strength(e), 0.0, f"{strength(e):.3f}") for e, _ in found.points]
    losses = [
        (e, loss, spread, f"{loss:.{found.digits}f}")
        for (e, loss), spread in zip(found.points, spreads, strict=True)
    ]
    kept = [(e, 1 - p, 0.0, f"{1 - p:.3f}") for e, p, _, _ in strengths]
    return LivePanel(
        title="",
        x=f"epsilon per {found.unit}",
        ticks=[(e, f"{e:g}") for e, _ in found.points],
        ends=ENDS,
        lines=[
            LiveLine(STRENGTH, 0, 0, "solid", strengths),
            LiveLine(LOSS, 1, 1, "solid", losses),
            LiveLine(KEPT, 6, 0, "dotted", kept),
        ],
        floors=[LiveFloor(MEAN_WORDS, 1.0, "1")],
        band=found.band(*limits),
        rule=found.rule,
    )
