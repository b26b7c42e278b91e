"""Theorem 5 and Corollary 6 of Xian et al.: what objective and output perturbation really lose."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.ratings import Ratings
from tacit.reporting.table import Table
from tacit.training.papers.noisy_solvers import objective_loss
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept

COUNTS = (20, 100, 500, 3000)
RIDGE, NORM = 0.1, 1.0
"""A ridge and a bound on the norm of rows under which the paper's proof would have its terms."""


@dataclass(frozen=True)
class Theorem5:
    """What Algorithm 2 gives away of one rating at claims of `epsilons`, in nats per value."""

    epsilons: tuple[str, ...] = ("1", "10")

    name: ClassVar[str] = "theorem-5"
    title: ClassVar[str] = "Theorem 5: what objective perturbation gives away"

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """The exact loss of rows of several lengths, on the scale of the data."""
        del kept  # A formula.
        width = float(data.scale.high) - float(data.scale.low)
        counts = np.array(COUNTS, dtype=float)
        losses = {
            e: objective_loss(float(e), counts, RIDGE, NORM, width).tolist() for e in self.epsilons
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
                    "objective perturbation loses epsilon", "at most epsilon", held,
                    f"up to {most:.1f} times the claim",
                ),
            ),
            tables=(Table(f"Loss, ridge {RIDGE:g}, rows of norm {NORM:g}", heading, lines),),
            remarks=(
                "Chaudhuri's conditions are not met: the squared loss has a derivative of 2 |c - "
                "x . q|, and nothing bounds q. Held within a norm, and with the noise that this "
                "needs, it is a training of the strict mode.",
            ),
        )  # fmt: skip
