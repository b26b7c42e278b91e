"""What a paper's studies found, as tables."""

from collections.abc import Sequence

from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim
from tacit_studies.verdict import ClaimVerdict

HEADING = ("claim", "published", "ours", "verdict")


def claims_table(caption: str, claims: Sequence[PaperClaim]) -> Table:
    """A line a claim."""
    lines = tuple((c.words, c.published, c.ours, str(c.verdict)) for c in claims)
    return Table(caption, HEADING, lines)


def counted(claims: Sequence[PaperClaim]) -> str:
    """How many claims have each verdict, in words."""
    every = [claim.verdict for claim in claims]
    counts = [(verdict, every.count(verdict)) for verdict in ClaimVerdict]
    said = ", ".join(f"{count} {_words(verdict, count)}" for verdict, count in counts if count)
    return f"Of {len(every)} claim{'s' * (len(every) != 1)} {said}."


def _words(verdict: ClaimVerdict, count: int) -> str:
    plural = {
        ClaimVerdict.HOLDS: "hold",
        ClaimVerdict.FAILS: "do not hold",
        ClaimVerdict.CLOSE: "are too close to tell",
        ClaimVerdict.OPEN: "are not measured",
    }
    single = {
        ClaimVerdict.CLOSE: "is too close to tell",
        ClaimVerdict.OPEN: "is not measured",
    }
    return single.get(verdict, str(verdict)) if count == 1 else plural[verdict]
