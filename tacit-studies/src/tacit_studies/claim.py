"""What a paper says, what is found here, and whether the two agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from matplotlib.figure import Figure

from tacit.reporting.table import Table


class ClaimVerdict(StrEnum):
    """Whether what is published is found here."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    OPEN = "not measured"


@dataclass(frozen=True)
class PaperClaim:
    """`words`: what the paper says. `published`: its value, or its order of methods. `ours`: the
    same, measured here."""

    words: str
    published: str
    ours: str
    verdict: ClaimVerdict

    @classmethod
    def of_cases(cls, words: str, published: str, held: Mapping[str, bool], ours: str = "") -> Self:
        """A claim about several cases, which holds in part where it holds in some.

        `held`: by the name of each case. They are counted after `ours`, and those named where it
        holds in part.
        """
        if not held:
            return cls(words, published, ours, ClaimVerdict.OPEN)
        holding = [name for name, holds in held.items() if holds]
        counted = f"in {len(holding)} of {len(held)}"
        if 0 < len(holding) < len(held):
            counted += f" ({', '.join(holding)})"
        said = f"{ours}; {counted}" if ours else counted
        every = ClaimVerdict.HOLDS if len(holding) == len(held) else ClaimVerdict.PARTLY
        return cls(words, published, said, every if holding else ClaimVerdict.FAILS)

    @classmethod
    def of_figures(
        cls, words: str, lower: Mapping[str, float], higher: Mapping[str, float], by: float = 0.0
    ) -> Self:
        """A claim that one method's error is below another's, by that much at least, case by case.

        Both mappings: the error by the name of each case; cases of both count.
        """
        cases = [case for case in lower if case in higher]
        held = {case: lower[case] + by <= higher[case] for case in cases}
        pairs = (f"{lower[case]:.3f} and {higher[case]:.3f} at {case}" for case in cases)
        return cls.of_cases(words, "lower", held, ", ".join(pairs))


@dataclass(frozen=True)
class StudyResult:
    """What a study found. `drawing`: the figure, if it is one; `described`: in words, for those who
    cannot see it. `remarks`: what a reader must know to judge it."""

    claims: tuple[PaperClaim, ...] = ()
    tables: tuple[Table, ...] = ()
    drawing: Figure | None = None
    described: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Correction:
    """An error of a paper: what is printed, what is correct, and what is done `here`.

    Texts are Markdown, as on the pages about papers. `shown_by`: what decides it, a test (its file
    in the repository, and its name) or the name of a study.
    """

    printed: str
    correct: str
    here: str
    shown_by: str
