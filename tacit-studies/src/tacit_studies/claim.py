"""Claims of a paper, the measured values, and the verdict on each claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from matplotlib.figure import Figure

from tacit.reporting.table import Table
from tacit_studies.verdict import ClaimVerdict, Difference, weakest


@dataclass(frozen=True)
class PaperClaim:
    """`words`: the claim. `published`: its value, or its order of methods. `ours`: the measured
    value."""

    words: str
    published: str
    ours: str
    verdict: ClaimVerdict

    @classmethod
    def of_cases(
        cls, words: str, published: str, cases: Mapping[str, bool | ClaimVerdict], ours: str = ""
    ) -> Self:
        """Return a claim about several cases, which holds where it holds in every case.

        It does not hold where one case contradicts it. `cases`: verdicts by the name of the case. A
        boolean is the verdict of an exact check, without noise. Their counts, and the names of
        those that hold and of those too close to tell, follow `ours`.
        """
        verdicts = {name: _exact(verdict) for name, verdict in cases.items()}
        if not verdicts:
            return cls(words, published, ours, ClaimVerdict.OPEN)
        counts = [_counted("holds", ClaimVerdict.HOLDS, verdicts)]
        if ClaimVerdict.CLOSE in verdicts.values():
            counts.append(_counted("too close to tell", ClaimVerdict.CLOSE, verdicts))
        text = "; ".join([ours] * bool(ours) + counts)
        return cls(words, published, text, weakest(verdicts.values()))

    @classmethod
    def of_draws(
        cls,
        words: str,
        lower: Mapping[str, Sequence[float]],
        higher: Mapping[str, Sequence[float]],
        *,
        least: float,
    ) -> Self:
        """Return a claim that one method's figure is below another's in every case.

        `lower`, `higher`: a figure for each draw or split, by the name of the case. Draws are
        paired, and cases of both count. `least`: the least difference that counts.
        """
        verdicts: dict[str, ClaimVerdict] = {}
        texts: list[str] = []
        for case in (case for case in lower if case in higher):
            pairs = list(zip(higher[case], lower[case], strict=True))
            difference = Difference.of([above - below for above, below in pairs])
            verdicts[case] = difference.verdict(least)
            means = f"{fmean(lower[case]):.3f} and {fmean(higher[case]):.3f} at {case}"
            texts.append(f"{means} ({difference})")
        ours = f"{', '.join(texts)}; least difference {least:g}"
        return cls.of_cases(words, "lower", verdicts, ours if texts else "")


def _exact(verdict: bool | ClaimVerdict) -> ClaimVerdict:
    if isinstance(verdict, ClaimVerdict):
        return verdict
    return ClaimVerdict.HOLDS if verdict else ClaimVerdict.FAILS


def _counted(words: str, verdict: ClaimVerdict, verdicts: Mapping[str, ClaimVerdict]) -> str:
    """Count the cases with a verdict, and name them unless all have it or none."""
    names = [name for name, each in verdicts.items() if each == verdict]
    listed = f" ({', '.join(names)})" if 0 < len(names) < len(verdicts) else ""
    return f"{words} in {len(names)} of {len(verdicts)}{listed}"


@dataclass(frozen=True)
class StudyResult:
    """Claims, tables and figure of a study.

    `drawing`: the figure, if any. `described`: its text alternative. `remarks`: what a reader needs
    to judge the study.
    """

    claims: tuple[PaperClaim, ...] = ()
    tables: tuple[Table, ...] = ()
    drawing: Figure | None = None
    described: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Correction:
    """An error of a paper: what is printed, what is correct, and what is done `here`.

    Texts are Markdown, as on the pages about papers. `shown_by`: the evidence, a test (its file in
    the repository, and its name) or the name of a study.
    """

    printed: str
    correct: str
    here: str
    shown_by: str
