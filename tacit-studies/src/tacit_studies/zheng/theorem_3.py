"""Theorem 3 of Zheng: how far reports of slots are from the truth, measured and bounded.

A synthetic low-rank Theta on the scale, with ratings near it in one slot of 16. Every slot is
reported through each mechanism many times, and rho = ||P(Theta - Z)||_F is compared with its bound.
Then (4) is solved at the measured rho, which is private, and its error is compared with p^-1/2 rho.
By (5) the error is at most a constant C times that, for every Theta. A Theta with a single entry
that is not reported is the counter-example: rho and the completion are 0, and the error is not.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from tacit.models import evidence
from tacit.models.least_squares.completion import within
from tacit.models.least_squares.nuclear_norm import SoftImpute
from tacit.ratings import Ratings
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit.vocabulary import Vocabulary
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import panels
from tacit_studies.kept import Figures, Kept
from tacit_studies.verdict import ClaimVerdict, Difference, share_verdict
from tacit_studies.zheng.bounds import Slots
from tacit_studies.zheng.mechanisms import SLOT_MECHANISMS, STARS, Matrix, SlotMechanism

USERS, ITEMS, RANK, SHARE = 300, 200, 3, 0.0625
COMPLETED, GAMMA, GAP = 3, 0.1, 1e-3
MOST, LEAST = 2.0, 0.05
"""The constant of (5) up to which it is counted as of order 1, and the least difference of C."""


class MechanismCase(NamedTuple):
    """A mechanism at an epsilon, in nats per slot."""

    mechanism: str
    epsilon: str
    draws: int


@dataclass(frozen=True)
class Theorem3:
    """`draws` at each of the `epsilons`, in nats per slot, on synthetic data always."""

    draws: int = 200
    epsilons: tuple[str, ...] = ("0.5", "1", "2", "4", "6", "8", "10")

    name: ClassVar[str] = "theorem-3"
    title: ClassVar[str] = "Theorem 3 and equation (5): how far reports are from the truth"
    covers: ClassVar[tuple[str, ...]] = ("Theorem 3", "equation (5)", "equation (4)")
    own_data: ClassVar[str] = f"a synthetic Theta of {USERS} users by {ITEMS} items"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Compare the bound with the measured rho, and the completion's error with (5)."""
        del data  # Theta is an input of the theorem.
        theta, stars = made()
        names = {each.name: each for each in SLOT_MECHANISMS}
        cases = [
            MechanismCase(name, epsilon, self.draws) for name in names for epsilon in self.epsilons
        ]
        measure = Measure(theta, stars, names)
        found = kept.measured(self.name, cases, measure)
        return StudyResult(
            claims=tuple(claims(found)),
            tables=(table(found),),
            drawing=drawn(found),
            described="The measured rho of both mechanisms and its bound against epsilon.",
            remarks=(
                f"Theta has rank {RANK}, and one slot in 16 is rated. gamma is {GAMMA}. The error "
                f"of a constant is {np.std(theta) / 4:.3f} of the scale's width.",
            ),
        )


def made() -> tuple[Matrix, Matrix]:
    """Theta, everybody a mixture of three tastes, and stars near it, NaN where not rated."""
    draw = np.random.default_rng(0)
    theta = draw.dirichlet(np.ones(RANK), USERS) @ (1 + 4 * draw.random((RANK, ITEMS)))
    stars = np.clip(np.rint(theta + 0.5 * draw.standard_normal(theta.shape)), 1, 5)
    return theta, np.where(draw.random(theta.shape) < SHARE, stars, np.nan)


def completed(reports: Matrix, rho: float) -> Matrix:
    """The solution of (4): nothing centred, any rank."""
    told = np.isfinite(reports)
    users, items = (codes.astype(np.int32) for codes in np.nonzero(told))
    people, things = (Vocabulary(pl.Series("id", range(n))) for n in reports.shape)
    none = np.zeros(len(users), np.uint8)  # the numbers are the target's, not levels
    data = evidence(Ratings(users, items, none, STARS, people, things))
    target = reports[told].astype(np.float32)
    problem = SoftImpute.start(data, target, rank=min(reports.shape), biases=False)
    within(problem, rho, GAP)
    U, V = problem.balanced
    return U @ V.T


@dataclass(frozen=True)
class Measure:
    """Measures a case. `held`: fraction of draws within the bound. In units of the scale's width:
    `bound` and `rho`, root mean squares over the reported slots (p^-1/2 rho over all slots is the
    bound of (5) with C = 1), and `error` of the completion, over all slots. `constant`: the
    resulting C of (5)."""

    theta: Matrix
    stars: Matrix
    mechanisms: Mapping[str, SlotMechanism]

    def __call__(self, case: MechanismCase) -> Figures:
        """Draw, measure, complete the first few draws."""
        mechanism = self.mechanisms[case.mechanism]
        theta, ratings = mechanism.own(self.theta), mechanism.own(self.stars)
        rhos: list[float] = []
        shares: list[float] = []
        errors: list[float] = []
        constants: list[float] = []
        for draw in range(case.draws):
            reports = mechanism.send(ratings, case.epsilon)
            rho = math.sqrt(float(np.nansum((theta - reports) ** 2)))
            share = float(np.isfinite(reports).mean())
            rhos.append(rho)
            shares.append(share)
            if draw < COMPLETED:
                errors.append(float(np.linalg.norm(completed(reports, rho) - theta)))
                constants.append(errors[-1] / (rho / math.sqrt(share)))
        bound = mechanism.bound(slots(theta, ratings), float(case.epsilon), GAMMA)
        width, share = 4 * mechanism.unit, float(np.mean(shares))
        slot = math.sqrt(theta.size) * width
        constant = Difference.of([MOST - each for each in constants])
        return {
            "held": float(np.mean(np.array(rhos) <= bound)),
            "bound": bound / (slot * math.sqrt(share)),
            "rho": float(np.mean(rhos)) / (slot * math.sqrt(share)),
            "error": float(np.mean(errors)) / slot,
            "constant": float(np.mean(constants)),
            "half": constant.half,
        }


def missed_entry() -> tuple[float, float]:
    """Return rho and the error of (4) for a Theta that is 0 but for one entry of 1, not reported.

    All other entries are reported without noise.
    """
    theta = np.zeros((6, 5))
    theta[0, 0] = 1.0
    reports = np.where(theta > 0, np.nan, theta)
    rho = math.sqrt(float(np.nansum((theta - reports) ** 2)))
    return rho, float(np.linalg.norm(completed(reports, rho) - theta))


def slots(theta: Matrix, ratings: Matrix) -> Slots:
    """Return the inputs of the bounds, including the private number of ratings."""
    rated = int(np.isfinite(ratings).sum())
    misfit = math.sqrt(np.nansum((theta - ratings) ** 2) / rated)
    return Slots(users=USERS, items=ITEMS, rated=rated, misfit=misfit)


def claims(found: Mapping[MechanismCase, Figures]) -> list[PaperClaim]:
    """Judge the bound, whether it is informative, and (5), for every Theta and on even samples."""
    names = {case: f"{case.mechanism} at {case.epsilon}" for case in found}
    held = {
        names[case]: share_verdict(round(at["held"] * case.draws), case.draws, 1 - GAMMA)
        for case, at in found.items()
    }
    loose = [at["bound"] / at["rho"] for at in found.values()]
    useful = {names[case]: at["bound"] < 1 for case, at in found.items()}
    constants = [at["constant"] for at in found.values()]
    even = {
        names[case]: Difference(MOST - at["constant"], at["half"]).verdict(LEAST)
        for case, at in found.items()
    }
    rho, error = missed_entry()
    return [
        PaperClaim.of_cases(
            "rho is within its bound with probability 1 - gamma", f"at least {1 - GAMMA:g}", held,
            f"least share of draws {min(at['held'] for at in found.values()):.3f}; "
            f"{min(loose):.1f} to {max(loose):.1f} times too wide",
        ),
        PaperClaim.of_cases(
            "the bound is informative: below the width of the scale", "implied", useful
        ),
        PaperClaim(
            "(5): (4) is within C p^-1/2 rho of Theta, for every Theta", "a constant C",
            f"no C: with one entry of 1 not reported, rho is {rho:g} and the error is {error:g}",
            ClaimVerdict.HOLDS if error <= rho else ClaimVerdict.FAILS,
        ),
        PaperClaim.of_cases(
            f"(5) on evenly sampled slots, with C up to {MOST:g}", "a constant C", even,
            f"C is {min(constants):.2f} to {max(constants):.2f}, because rho is large; "
            f"least difference {LEAST:g}",
        ),
    ]  # fmt: skip


def table(found: Mapping[MechanismCase, Figures]) -> Table:
    """A line a mechanism and epsilon."""
    lines = tuple(
        (
            case.mechanism, case.epsilon, f"{at['held']:.3f}", f"{at['bound']:.2f}",
            f"{at['rho']:.2f}", f"{at['bound'] / at['rho']:.1f}", f"{at['error']:.3f}",
            f"{at['constant']:.2f}",
        )
        for case, at in found.items()
    )  # fmt: skip
    heading = (
        "mechanism", "epsilon", "held", "bound", "measured", "loose", "error of (4)", "C of (5)",
    )  # fmt: skip
    return Table("Distances in widths of the scale; epsilon per slot", heading, lines)


def drawn(found: Mapping[MechanismCase, Figures]) -> Figure:
    """A panel a mechanism."""
    page, axes = panels(1, len(SLOT_MECHANISMS))
    for number, (panel, mechanism) in enumerate(zip(axes, SLOT_MECHANISMS, strict=True)):
        mine = {float(c.epsilon): at for c, at in found.items() if c.mechanism == mechanism.name}
        places, colour = list(mine), PALETTE[number]
        panel.plot(places, [at["bound"] for at in mine.values()], color=colour, label="bound")
        panel.plot(places, [at["rho"] for at in mine.values()], "o", color=colour, label="measured")
        panel.axhline(1, color=INK, lw=0.8, ls="--", label="the whole scale")
        panel.set_yscale("log")
        dress(panel, mechanism.name, places, "epsilon per slot", log=False)
        panel.legend(frameon=False, fontsize=8, labelcolor=INK)
    axes[0].set_ylabel("off, in widths of the scale", color=INK, fontsize=9)
    return page
