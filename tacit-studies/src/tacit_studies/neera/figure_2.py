"""Figure 2 of Neera et al.: the noise of Laplace and of bounded Laplace, sampled and by law.

Draws reports through each certified table, counts the noise (report minus rating), and lays the
continuous law, equations (4) and (5) corrected, over it.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tacit.channels.laplace import AbstractLaplace, BoundedLaplace, Laplace
from tacit.collection.sampler import BulkSampler
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK
from tacit.reporting.table import Table
from tacit.scale import RatingScale
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Kept

STARS = RatingScale.parse("1:5:1")
PRIOR = (0.061, 0.114, 0.271, 0.342, 0.212)  # public shares of one to five stars
MEMBERS: dict[str, type[AbstractLaplace]] = {"Laplace": Laplace, "bounded Laplace": BoundedLaplace}
EPSILONS = ("0.1", "1")
SYMBOLS = 1025
COARSENESS = 6e-4
"""Largest difference per bin between a table of this number of symbols and the distribution."""
CHANCE = 4.5
"""Standard deviations that a bin may differ by: one of 132 exceeds it in one of 1,000 runs."""
EDGES: NDArray[np.float64] = np.arange(-8.25, 8.5, 0.5)

Shares = NDArray[np.float64]


class Histogram(NamedTuple):
    """Shares of noise in each bin, as drawn and by law, shape (bins,)."""

    name: str
    epsilon: str
    drawn: Shares
    law: Shares

    @property
    def off(self) -> float:
        """The largest difference of a bin."""
        return float(np.abs(self.drawn - self.law).max())


@dataclass(frozen=True)
class NeeraFigure2:
    """Histograms of noise at epsilon .1 and 1 per value. `draws`: number of draws of each."""

    draws: int = 100_000

    name: ClassVar[str] = "figure-2"
    title: ClassVar[str] = "Figure 2, equations (4) and (5): the noise"
    covers: ClassVar[tuple[str, ...]] = ("Figure 2", "equations (4), (5)")
    own_data: ClassVar[str] = "reports drawn with public shares of one to five stars"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Draw, and compare with the law; the shares of stars are public ones."""
        del data, kept
        found = [self._histogram(name, epsilon) for epsilon, name in product(EPSILONS, MEMBERS)]
        most = float(max(at.law.max() for at in found))
        allowed = COARSENESS + CHANCE * (most * (1 - most) / self.draws) ** 0.5
        held = {f"{at.name} at {at.epsilon}": at.off <= allowed for at in found}
        worst = max(at.off for at in found)
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "sampled noise follows the law", "the curves lie on each other", held,
                    f"no bin is off by more than {worst:.4f}; chance and the tables' grid are "
                    f"worth {allowed:.4f}",
                ),
            ),
            tables=(table(found),),
            drawing=drawn(found),
            described="Noise of Laplace and bounded Laplace at epsilon .1 and 1, drawn and by law.",
            remarks=("Equations (4) and (5) as printed do not sum to 1; the law is corrected.",),
        )  # fmt: skip

    def _histogram(self, name: str, epsilon: str) -> Histogram:
        law = MEMBERS[name](epsilon=epsilon, scale=STARS, symbols=SYMBOLS)
        expected = np.array(law.noise_law(PRIOR, EDGES.tolist()))
        return Histogram(name, epsilon, sampled(law, self.draws), expected)


def sampled(law: AbstractLaplace, draws: int) -> Shares:
    """Return the fraction of draws per bin, of reports on levels in the proportions of `PRIOR`."""
    channel = law.table()
    counts = np.rint(np.array(PRIOR) * draws).astype(int)
    levels = np.repeat(np.arange(len(PRIOR), dtype=np.uint8), counts)
    symbols = BulkSampler((channel,)).draw(levels)
    outputs = np.array([float(y) for y in channel.outputs if y is not None])
    noise = outputs[symbols] - np.array(STARS.values)[levels]
    return np.histogram(noise, EDGES)[0] / len(levels)


def table(found: list[Histogram]) -> Table:
    """How far the noise is from its law, and from centred."""
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    lines = tuple(
        (at.name, at.epsilon, f"{at.off:.4f}", f"{(at.drawn * middles).sum() / at.drawn.sum():.2f}")
        for at in found
    )
    heading = ("channel", "epsilon", "largest difference", "mean noise within four stars")
    return Table("Noise in stars; epsilon per value", heading, lines)


def drawn(found: list[Histogram]) -> Figure:
    """A panel an epsilon."""
    page, axes = panels(1, len(EPSILONS))
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    for panel, epsilon in zip(axes, EPSILONS, strict=True):
        for colour, at in zip(PALETTE, [at for at in found if at.epsilon == epsilon], strict=False):
            panel.stairs(at.law, EDGES.tolist(), color=colour, label=f"{at.name}, law")
            panel.plot(middles, at.drawn, "o", ms=3, color=colour, label=f"{at.name}, sampled")
        panel.set_title(f"epsilon {epsilon}", fontsize=10, loc="left", color=INK)
        panel.set_xlabel("noise, in stars", color=INK, fontsize=9)
        panel.tick_params(colors=INK, labelsize=9, length=0)
        panel.spines[:].set_visible(False)
    axes[0].set_ylabel("share in half a star", color=INK, fontsize=9)
    legend(page, axes[0], 4)
    return page
