"""Figure 2 of Neera et al.: the noise of Laplace and of bounded Laplace, sampled and by law.

    python benchmarks/neera_figure_2.py [FILE.svg] [--draws 100000]

Draws reports through each certified table, counts the noise (report minus rating), and lays the
continuous law over it. Prints the largest difference of any bin.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tacit.channels.bounded_laplace import BoundedLaplace
from tacit.channels.laplace import Laplace
from tacit.channels.laplace_law import AbstractLaplace
from tacit.collection.sampler import BulkSampler
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
PRIOR = (0.061, 0.114, 0.271, 0.342, 0.212)  # public shares of one to five stars
MEMBERS: dict[str, tuple[type[AbstractLaplace], str]] = {
    "Laplace": (Laplace, "#D55E00"),
    "bounded Laplace": (BoundedLaplace, "#0072B2"),
}
EPSILONS = ("0.1", "1")
SYMBOLS = 1025
EDGES: NDArray[np.float64] = np.arange(-8.25, 8.5, 0.5)

Shares = NDArray[np.float64]


def sampled(law: AbstractLaplace, draws: int) -> Shares:
    """The share of noise in each bin: so many reports, levels in the proportions of `PRIOR`."""
    channel = law.table()
    counts = np.rint(np.array(PRIOR) * draws).astype(int)
    levels = np.repeat(np.arange(len(PRIOR), dtype=np.uint8), counts)
    symbols = BulkSampler((channel,)).draw(levels)
    outputs = np.array([float(y) for y in channel.outputs if y is not None])
    noise = outputs[symbols] - np.array(STARS.values)[levels]
    return np.histogram(noise, EDGES)[0] / len(levels)


def main() -> None:
    """Draw, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    figure = Path("docs/figures/neera-figure-2.svg")
    parser.add_argument("figure", nargs="?", type=Path, default=figure)
    parser.add_argument("--draws", type=int, default=100_000)
    asked = parser.parse_args()
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    page = Figure(figsize=(7.2, 3.2), layout="constrained")
    worst, middles = 0.0, (EDGES[1:] + EDGES[:-1]) / 2
    for panel, epsilon in zip(page.subplots(1, 2, sharey=True), EPSILONS, strict=True):
        for name, (member, colour) in MEMBERS.items():
            law = member(epsilon=epsilon, scale=STARS, symbols=SYMBOLS)
            drawn, expected = (
                sampled(law, asked.draws),
                np.array(law.noise_law(PRIOR, EDGES.tolist())),
            )
            off = float(np.abs(drawn - expected).max())
            worst = max(worst, off)
            print(f"{name} at epsilon {epsilon}: sampled and law differ by at most {off:.4f}")
            panel.stairs(expected, EDGES.tolist(), color=colour, label=f"{name}, law")
            panel.plot(middles, drawn, "o", ms=3, color=colour, label=f"{name}, sampled")
        panel.set_title(f"epsilon {epsilon}", fontsize=10)
        panel.set_xlabel("noise, in stars")
        panel.spines[["top", "right"]].set_visible(False)
    page.axes[0].set_ylabel("share in half a star")
    lines = page.axes[0].get_legend_handles_labels()
    page.legend(*lines, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    page.savefig(asked.figure, format="svg", metadata={"Date": None, "Creator": None})
    print(f"largest difference: {worst:.4f}; the figure is {asked.figure}")


if __name__ == "__main__":
    main()
