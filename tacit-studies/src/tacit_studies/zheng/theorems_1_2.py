"""Theorems 1 and 2 of Zheng: what a slot, and what a person, gives away, read off the tables."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from tacit.channels import compile_channel
from tacit.channels.losses import SlotLosses, slot_losses
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.zheng.mechanisms import STARS

THEOREMS = {"modified-laplace": "Theorem 1", "randomized-response": "Theorem 2"}
SLACK = Decimal("1e-6")
"""Tables are of whole numbers: a loss is epsilon but for what rounding to these leaves."""


@dataclass(frozen=True)
class Theorems12:
    """Losses of one slot at each of the `epsilons`, in nats, proved in whole numbers."""

    epsilons: tuple[str, ...] = ("0.5", "1", "2", "4")

    name: ClassVar[str] = "theorems-1-2"
    title: ClassVar[str] = "Theorems 1 and 2: n slots cost n epsilon"
    covers: ClassVar[tuple[str, ...]] = ("Theorem 1", "Theorem 2")
    own_data: ClassVar[str] = "the certified tables, without ratings"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """The losses of both tables."""
        del data, kept  # Of the law alone, and at once.
        losses = {
            (name, epsilon): slot_losses(
                compile_channel(name, epsilon=epsilon, scale=STARS, missing=True)
            )
            for name in THEOREMS
            for epsilon in self.epsilons
        }
        return StudyResult(
            claims=tuple(self._claim(name, losses) for name in THEOREMS),
            tables=(table(losses),),
            remarks=(
                "With s ratings a person costs 1.5 s epsilon at most under modified Laplace, whose "
                "slots without a rating lose half, and min(n, 2 s) epsilon under randomized "
                "response.",
            ),
        )

    def _claim(self, name: str, losses: dict[tuple[str, str], SlotLosses]) -> PaperClaim:
        held = {e: losses[name, e].slot <= Decimal(e) for e in self.epsilons}
        tight = all(Decimal(e) - losses[name, e].slot < SLACK for e in self.epsilons)
        words = f"{THEOREMS[name]}: {name} loses epsilon for each slot"
        told = "at most epsilon, and no less" if tight else "at most epsilon"
        return PaperClaim.of_cases(words, "epsilon", held, told)


def table(losses: dict[tuple[str, str], SlotLosses]) -> Table:
    """A line a mechanism and epsilon."""
    lines = tuple(
        (name, epsilon, f"{found.between:f}", f"{found.rated:f}", f"{found.unrated:f}")
        for (name, epsilon), found in losses.items()
    )
    heading = ("mechanism", "epsilon", "two ratings", "rating to missing", "missing to rating")
    return Table("Proved loss of one slot, in nats", heading, lines)
