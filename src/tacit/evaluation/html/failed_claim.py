"""A claim that fails: a line where claims are, and why where there is room for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FailedClaim:
    """`anchor`: the id of the place on the page that says `why`, in sentences. `line`: what is
    claimed, and by what, as half a sentence."""

    anchor: str
    line: str
    why: str
