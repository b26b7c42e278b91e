"""Theorem 3 of Zheng: how far reports of slots are from the truth, measured and bounded.

    python benchmarks/zheng_theorem_3.py [FILE.svg] [--draws 200] [--epsilons 0.5,1,2,4,6,8,10]

A low-rank Theta on the scale, made up, and ratings near it in one slot of 16. Every slot goes
through each mechanism 200 times; rho = ||P(Theta - Z)||_F is set beside its bound at gamma = .1.
Then (4) is solved at the rho that was measured, which no provider knows, and its error is set
beside p^-1/2 rho, which (5) says it is a constant times. Prints a table and writes the figure.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from followed import followed
from tacit.audit.published_bounds.zheng import Slots, laplace_bound, response_bound
from tacit.channels import compile_channel
from tacit.collection.keystream import secret_words
from tacit.kernels.draw import draw_symbols, stacked
from tacit.models import evidence
from tacit.models.least_squares.completion import within
from tacit.models.least_squares.nuclear_norm import SoftImpute
from tacit.ratings import Ratings, Vocabulary
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
USERS, ITEMS, RANK, SHARE = 300, 200, 3, 0.0625
EPSILONS = "0.5,1,2,4,6,8,10"
COMPLETED, GAMMA, GAP = 3, 0.1, 1e-3

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Mechanism:
    """`send`: ratings (NaN: not rated) and epsilon to reports (NaN: "missing"), in its own units:
    `unit` of them to a star, from `middle`. `bound`: rho at most."""

    name: str
    colour: str
    middle: float
    unit: float
    send: Callable[[Matrix, str], Matrix]
    bound: Callable[[Slots, float, float], float]

    def own(self, stars: Matrix) -> Matrix:
        """Stars in the mechanism's units."""
        return (stars - self.middle) * self.unit


@dataclass(frozen=True)
class Found:
    """At one epsilon: `held`, the share of draws within the bound. As shares of the scale's width,
    `bound` and `rho`, root mean square over the reported slots, which is p^-1/2 rho over all slots
    and so what (5) promises with C = 1; `error` of the completion, over all slots. `constant`: the
    C that (5) then has."""

    held: float
    bound: float
    rho: float
    error: float
    constant: float


def modified_laplace(ratings: Matrix, epsilon: str) -> Matrix:
    """In floats, and so for figures only: a rating with noise or nothing, nothing or noise."""
    draw, e = np.random.default_rng(), float(epsilon)
    rated = np.isfinite(ratings)
    kept = draw.random(ratings.shape) < 1 / (1 + math.exp(-e / 2))
    noise = draw.laplace(scale=2 / e, size=ratings.shape)
    return np.where(kept == rated, np.where(rated, ratings, 0) + noise, np.nan)


def randomized_response(ratings: Matrix, epsilon: str) -> Matrix:
    """Through the certified table, one secret word a slot."""
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=STARS, missing=True)
    rows = np.nan_to_num(ratings).astype(np.uint8).ravel()  # row 0 is "missing", row k is k stars
    words, symbols = np.empty(rows.size, np.uint64), np.empty(rows.size, np.uint8)
    secret_words().fill(words)
    table = stacked(channel.bounds, [channel.word_bits] * len(channel.bounds))
    draw_symbols(words, rows, table, symbols)
    return np.array([math.nan, *STARS.values])[symbols].reshape(ratings.shape)


MECHANISMS = (
    Mechanism("modified Laplace", "#D55E00", 3.0, 0.5, modified_laplace, laplace_bound),
    Mechanism(
        "randomized response", "#0072B2", 0.0, 1.0, randomized_response,
        lambda slots, epsilon, gamma: response_bound(slots, epsilon, gamma, STARS.n_levels),
    ),
)  # fmt: skip


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


def find(mechanism: Mechanism, epsilon: str, theta: Matrix, stars: Matrix, draws: int) -> Found:
    """Draw, measure, complete the first few draws."""
    theta, ratings = mechanism.own(theta), mechanism.own(stars)
    rated = int(np.isfinite(ratings).sum())
    misfit = math.sqrt(np.nansum((theta - ratings) ** 2) / rated)
    slots = Slots(users=USERS, items=ITEMS, rated=rated, misfit=misfit)
    bound = mechanism.bound(slots, float(epsilon), GAMMA)
    rhos, shares, errors, constants = [], [], [], []
    for draw in range(draws):
        reports = mechanism.send(ratings, epsilon)
        rho = math.sqrt(np.nansum((theta - reports) ** 2))
        share = float(np.isfinite(reports).mean())
        rhos.append(rho)
        shares.append(share)
        if draw < COMPLETED:
            errors.append(float(np.linalg.norm(completed(reports, rho) - theta)))
            constants.append(errors[-1] / (rho / math.sqrt(share)))
    width, share = 4 * mechanism.unit, float(np.mean(shares))
    slot = math.sqrt(theta.size) * width
    return Found(
        held=float(np.mean(np.array(rhos) <= bound)),
        bound=bound / (slot * math.sqrt(share)),
        rho=float(np.mean(rhos)) / (slot * math.sqrt(share)),
        error=float(np.mean(errors)) / slot,
        constant=float(np.mean(constants)),
    )


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    figure = Path("docs/figures/zheng-theorem-3.svg")
    parser.add_argument("figure", nargs="?", type=Path, default=figure)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--epsilons", default=EPSILONS)
    asked = parser.parse_args()
    epsilons = asked.epsilons.split(",")
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    page = Figure(figsize=(7.2, 3.2), layout="constrained")
    theta, stars = made()
    flat = float(np.std(theta)) / 4
    print(f"a constant is off by {flat:.3f} of the scale's width")
    places = [float(epsilon) for epsilon in epsilons]
    for panel, mechanism in zip(page.subplots(1, 2, sharey=True), MECHANISMS, strict=True):
        steps = followed(mechanism.name, epsilons)
        found = [find(mechanism, epsilon, theta, stars, asked.draws) for epsilon in steps]
        for epsilon, at in zip(epsilons, found, strict=True):
            print(
                f"{mechanism.name}, epsilon {epsilon}: held {at.held:.3f}, bound {at.bound:.2f}, "
                f"measured {at.rho:.2f}, loose {at.bound / at.rho:.1f}, "
                f"completed: off {at.error:.3f}, C {at.constant:.2f}",
                flush=True,
            )
        panel.plot(places, [at.bound for at in found], color=mechanism.colour, label="bound")
        panel.plot(places, [at.rho for at in found], "o", color=mechanism.colour, label="measured")
        panel.axhline(1, color="0.6", lw=1, ls="--", label="the whole scale")
        panel.set_title(mechanism.name, fontsize=10)
        panel.set_xlabel("epsilon per slot")
        panel.set_yscale("log")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=8)
    page.axes[0].set_ylabel("off, in widths of the scale")
    page.savefig(asked.figure, format="svg", metadata={"Date": None, "Creator": None})
    print(f"the figure is {asked.figure}")


if __name__ == "__main__":
    main()
