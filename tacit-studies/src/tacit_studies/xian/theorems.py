"""Theorems 4, 5 and 7 and Corollary 6 of Xian et al.: what their three algorithms really lose.

Theorems 4 and 7 charge the noise of k rounds against epsilon. The noise is enough, but equation (4)
releases mean and levels without any, which a replay of a training run with one changed rating finds
exactly. Corollary 6 bounds the L2 change of a solved row, and is compared with the largest change
that a search finds. Theorem 5 has an exact loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.audit.replay import replay
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.reporting.table import Table
from tacit.training import training
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.papers.noisy_solvers import objective_loss, output_sensitivity
from tacit.training.value.factors import ridge_sensitivity
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept

COUNTS = (20, 100, 500, 3000)
RIDGE, NORM, WIDTH = 0.1, 1.0, 4.0
"""A ridge, a bound on the norm of rows as the paper's proof would need it, and Dr."""
SHAPE = (60, 120, 2000)
RUN = f"{SHAPE[2]:,} synthetic ratings by {SHAPE[0]} users"
EPSILON, ROUNDS = "1", 10

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class XianTheorem4:
    """Releases of Algorithm 1 in one training run."""

    name: ClassVar[str] = "theorem-4"
    title: ClassVar[str] = "Theorem 4: gradient perturbation"
    covers: ClassVar[tuple[str, ...]] = ("Theorem 3", "Algorithm 1", "Theorem 4", "equation (4)")
    own_data: ClassVar[str] = RUN

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Add up the noise of a run, and replay it with a changed rating."""
        del data, kept  # The releases do not depend on the ratings.
        return private_runs("Theorem 4", "dpss")


@dataclass(frozen=True)
class XianTheorem7:
    """Releases of Algorithm 3 in one training run, and the largest change of a solved row in so
    many `designs`."""

    designs: int = 2000

    name: ClassVar[str] = "theorem-7"
    title: ClassVar[str] = "Corollary 6 and Theorem 7: output perturbation"
    covers: ClassVar[tuple[str, ...]] = ("Algorithm 3", "Corollary 6", "Theorem 7")
    own_data: ClassVar[str] = f"{RUN}, and random designs"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Search for the largest change of a row, and do as for Theorem 4."""
        del data, kept  # The releases do not depend on the ratings.
        ridges = (0.05, 0.5, 5.0)
        changes = {ridge: largest_change(ridge, self.designs) for ridge in ridges}
        printed = {
            ridge: float(output_sensitivity(WIDTH, NORM, np.array([ridge]))[0]) for ridge in ridges
        }
        needed = {ridge: ridge_sensitivity(WIDTH, NORM, ridge) for ridge in ridges}
        enough = {f"lambda {r:g}": changes[r] <= printed[r] * (1 + 1e-9) for r in ridges}
        wide = max(printed[ridge] / needed[ridge] for ridge in ridges)
        corollary = PaperClaim.of_cases(
            "Corollary 6: a row changes by Dr q_max / lambda at most", "at most that", enough,
            f"up to {wide:.1f} times what is needed",
        )  # fmt: skip
        runs = private_runs("Theorem 7", "dpsaout")
        lines = tuple(
            (f"{r:g}", f"{changes[r]:.3f}", f"{needed[r]:.3f}", f"{printed[r]:.3f}") for r in ridges
        )
        heading = ("lambda", "largest change found", "Dr t / (lambda + t^2)", "as printed")
        return replace(
            runs,
            claims=(corollary, *runs.claims),
            tables=(Table(f"Change of a row, q_max {NORM:g}, Dr {WIDTH:g}", heading, lines),),
        )


def private_runs(theorem: str, method: str) -> StudyResult:
    """Judge a theorem by the runs of a method and of its ++ form, as published."""
    ratings = synthetic(*SHAPE, rng=5)
    methods = (method, f"{method}++")
    spent = {name: noise_price(name, ratings) for name in methods}
    raw = {name: raw_releases(name, ratings) for name in methods}
    public = dict.fromkeys(name.partition(",")[0] for name in public_releases(methods[1], ratings))
    prices = ", ".join(f"{price.normalize():f}" for price in spent.values())
    return StudyResult(
        claims=(
            PaperClaim.of_cases(
                f"{theorem}: the noise of {ROUNDS} rounds costs epsilon", f"{EPSILON} per value",
                {name: price <= Decimal(EPSILON) for name, price in spent.items()},
                f"{prices} nats per value",
            ),
            PaperClaim.of_cases(
                f"{theorem}: the output loses epsilon", f"{EPSILON} per value",
                {name: not violations for name, violations in raw.items()},
                f"no finite epsilon: a replay with one changed rating finds {', '.join(public)}",
            ),
        ),
        remarks=(
            "Mean and levels of equation (4), and y with output perturbation, are computed from "
            "raw ratings.",
        ),
    )  # fmt: skip


def trained(name: str, ratings: Ratings, releases: NoisyReleases) -> tuple[Any, ...]:
    """Train a method as published, with few factors."""
    published: Any = training(name, "faithful")
    fitted = replace(published, factors=3, rounds=ROUNDS).fit(
        ratings, epsilon=EPSILON, releases=releases
    )
    return fitted.mu, fitted.people, fitted.items


def noise_price(name: str, ratings: Ratings) -> Decimal:
    """Return the price of all noisy releases of a value in one run, in nats.

    A rating is in one row of each side per round, so that prices add up over rounds and sides.
    """
    releases = SecretReleases()
    trained(name, ratings, releases)
    return sum((Decimal(spend.price) for spend in releases.spent), Decimal(0))


def public_releases(name: str, ratings: Ratings) -> list[str]:
    """Return the names of the releases of one run that have no noise."""
    releases = SecretReleases()
    trained(name, ratings, releases)
    return [spend.name for spend in releases.spent if spend.kind == "public"]


def raw_releases(name: str, ratings: Ratings) -> list[str]:
    """Return what a replay with the same noise and one changed rating finds in the output."""
    levels = ratings.levels.copy()
    levels[9] = 4 if levels[9] < 2 else 0
    other = replace(ratings, levels=levels)
    return replay(partial(trained, name), ratings, other, SecretReleases())


def largest_change(ridge: float, designs: int) -> float:
    """Return the largest L2 change of a solved row when one of its ratings changes by Dr.

    The design with one item of norm t = min(q_max, sqrt lambda) is among those searched.
    """
    single: Doubles = np.array([[min(NORM, ridge**0.5), 0.0, 0.0]])
    changes: list[float] = []
    for rows in (single, *random_designs(designs)):
        inverse = np.linalg.inv(rows.T @ rows + ridge * np.eye(3))
        changes.append(WIDTH * float(np.sqrt(((inverse @ rows[0]) ** 2).sum())))
    return max(changes)


def random_designs(count: int) -> Iterator[Doubles]:
    """Yield one to six rows q of random directions, with norms up to `NORM`."""
    chance = np.random.default_rng(0)
    for _ in range(count):
        rows = chance.standard_normal((int(chance.integers(1, 7)), 3))
        lengths = NORM * chance.random(len(rows)) / np.linalg.norm(rows, axis=1)
        yield rows * lengths[:, None]


@dataclass(frozen=True)
class Theorem5:
    """The loss of one rating under Algorithm 2 at claims of `epsilons`, in nats per value."""

    epsilons: tuple[str, ...] = ("1", "10")

    name: ClassVar[str] = "theorem-5"
    title: ClassVar[str] = "Theorem 5: objective perturbation"
    covers: ClassVar[tuple[str, ...]] = ("Algorithm 2", "Theorem 5")
    own_data: ClassVar[str] = "the law on one to five stars, without ratings"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Compute the exact loss of rows of several lengths."""
        del data, kept  # A formula.
        counts = np.array(COUNTS, dtype=float)
        losses = {
            e: objective_loss(float(e), counts, RIDGE, NORM, WIDTH).tolist() for e in self.epsilons
        }
        held = {
            f"n = {n} at {e}": loss <= float(e)
            for e, row in losses.items()
            for n, loss in zip(COUNTS, row, strict=True)
        }
        lines = tuple((e, *(f"{loss:.2f}" for loss in row)) for e, row in losses.items())
        heading = ("epsilon as claimed", *(f"n = {n}" for n in COUNTS))
        most = max(max(row) / float(e) for e, row in losses.items())
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "Theorem 5: objective perturbation loses epsilon", "at most epsilon", held,
                    f"up to {most:.1f} times the claim",
                ),
            ),
            tables=(Table(f"Loss, ridge {RIDGE:g}, rows of norm {NORM:g}", heading, lines),),
            remarks=(
                "Chaudhuri's conditions are not met: the squared loss has a derivative of 2 |c - "
                "x . q|, and nothing bounds q. With q bounded, and the noise that this needs, it "
                "is a trainer of the strict mode.",
            ),
        )  # fmt: skip
