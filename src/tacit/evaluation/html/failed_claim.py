"""A guarantee that does not hold: one line, and a longer explanation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FailedClaim:
    """`anchor`: id of the explanation `why` on the page, in sentences. `line`: the claim and its
    system, as a clause."""

    anchor: str
    line: str
    why: str
