"""Lemmas 1 and 2 and Theorem 1 of Neera et al.: the law and the privacy of bounded Laplace.

    f(y | r) = exp(-|y - r| / b) / (2 b C(r)) on [l, u]
    C(r) = 1 - (e^(-(r - l) / b) + e^(-(u - r) / b)) / 2

Lemma 1: f is a density. Lemma 2: C(r + z) / C(r) e^(z / b), for 0 <= z <= Df, is largest at r = l
and z = Df. Theorem 1: b >= Df / (epsilon - ln DC), DC = C(l + Df) / C(l), is enough for epsilon.
All three are about the law alone, and are checked on a grid of ratings, without noise. Losses are
those of the law and of the certified table of integers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import quad

from tacit.channels.laplace import BoundedLaplace
from tacit.reporting.table import Table
from tacit.scale import RatingScale
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept

STARS = RatingScale.parse("1:5:1")
LOW, HIGH = 1.0, 5.0
SENSITIVITIES = ("1", "2", "4")
"""Df: one star, two, and the whole range."""
GRID = np.linspace(LOW, HIGH, 41)
SLACK = 1e-9
"""Rounding of doubles."""

Laws = Mapping[tuple[str, str], BoundedLaplace]
"""By Df and epsilon."""


@dataclass(frozen=True)
class NeeraTheorem1:
    """The laws at each of the `epsilons`, in nats per value, and each Df."""

    epsilons: tuple[str, ...] = ("0.1", "0.5", "1", "3")

    name: ClassVar[str] = "theorem-1"
    title: ClassVar[str] = "Lemmas 1 and 2 and Theorem 1: bounded Laplace"
    covers: ClassVar[tuple[str, ...]] = (
        "Definition 5", "Lemma 1", "Lemma 2", "Theorem 1", "Algorithm 1",
    )  # fmt: skip
    own_data: ClassVar[str] = "the law on one to five stars, without ratings"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Check the law, the maximum and the loss on a grid."""
        del data, kept  # Formulas.
        laws = {
            (width, epsilon): BoundedLaplace(epsilon=epsilon, scale=STARS, sensitivity=width)
            for width, epsilon in product(SENSITIVITIES, self.epsilons)
        }
        return StudyResult(
            claims=(lemma_1(laws), lemma_2(laws), theorem_1(laws), inherited(laws)),
            tables=(table(laws),),
            remarks=(
                "b is on both sides of Theorem 1, since DC depends on it. Bisection solves it.",
            ),
        )


def lemma_1(laws: Laws) -> PaperClaim:
    """Check that the density of every rating integrates to 1."""
    totals = {
        words(case): [quad(law.density, LOW, HIGH, args=(r,), points=[r])[0] for r in GRID]
        for case, law in laws.items()
    }
    off = {case: max(abs(total - 1) for total in each) for case, each in totals.items()}
    held = {case: each < 1e-6 for case, each in off.items()}
    return PaperClaim.of_cases(
        "Lemma 1: C(r) makes f a density", "1", held, f"1 within {max(off.values()):.0e}"
    )


def ratio(law: BoundedLaplace, r: float, z: float) -> float:
    """Return C(r + z) / C(r) e^(z / b), the largest ratio of densities of two ratings z apart."""
    return law.normaliser(r + z) / law.normaliser(r) * math.exp(z / law.spread)


def lemma_2(laws: Laws) -> PaperClaim:
    """Check on the grid that the ratio is largest at the low end and the full distance."""
    held: dict[str, bool] = {}
    for case, law in laws.items():
        reach = float(case[0])
        peak = ratio(law, LOW, reach) * (1 + SLACK)
        pairs = product(GRID, np.linspace(0, reach, 21))
        held[words(case)] = all(ratio(law, r, z) <= peak for r, z in pairs if r + z <= HIGH)
    return PaperClaim.of_cases("Lemma 2: the ratio is largest at r = l, z = Df", "always", held)


def loss(law: BoundedLaplace, reach: float) -> float:
    """Return the largest log ratio of densities of two ratings at most `reach` apart, in nats."""
    table = np.array([[law.density(y, r) for y in GRID] for r in GRID])
    near = np.abs(GRID[:, None] - GRID) <= reach + SLACK
    logs = np.log(table)
    return max(float((logs[one] - logs[near[one]]).max()) for one in range(len(GRID)))


def theorem_1(laws: Laws) -> PaperClaim:
    """Check that the loss of ratings at most Df apart is at most epsilon."""
    losses = {case: loss(law, float(case[0])) for case, law in laws.items()}
    held = {words(case): each <= float(case[1]) + SLACK for case, each in losses.items()}
    tight = all(each >= float(case[1]) - 1e-6 for case, each in losses.items())
    return PaperClaim.of_cases(
        "Theorem 1: with its b, a value loses epsilon", "at most epsilon", held,
        "at most epsilon, and no less" if tight else "at most epsilon",
    )  # fmt: skip


def inherited(laws: Laws) -> PaperClaim:
    """Check whether b is above the Laplace scale Df / epsilon, as the paper claims throughout."""
    above = {
        words(case): law.spread > float(case[0]) / float(case[1]) * (1 + 1e-6)
        for case, law in laws.items()
    }
    return PaperClaim.of_cases(
        "bounded Laplace cannot inherit the Laplace scale", "a larger b", above,
        "with Df of the whole range, which the paper uses, b is the Laplace scale",
    )  # fmt: skip


def words(case: tuple[str, str]) -> str:
    """Return the name of a case."""
    return f"Df {case[0]} at {case[1]}"


def table(laws: Laws) -> Table:
    """Return b and the Laplace scale, and the proved privacy loss of the integer table."""
    lines = tuple(
        (
            width, epsilon, f"{float(width) / float(epsilon):.4f}", f"{law.spread:.4f}",
            f"{loss(law, float(width)):.4f}", f"{float(law.table().epsilon):.4f}",
        )
        for (width, epsilon), law in laws.items()
    )  # fmt: skip
    heading = (
        "Df", "epsilon", "Laplace scale", "b", "loss within Df", "proved loss of any two ratings",
    )  # fmt: skip
    return Table("Scales in stars, losses in nats", heading, lines)
