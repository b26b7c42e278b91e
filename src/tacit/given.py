"""Argument validation."""

from numbers import Integral
from pathlib import Path
from typing import TypeVar

from tacit.errors import RequestError

Kind = TypeVar("Kind")


def must_be(kind: type[Kind], given: object, what: str, remedy: str) -> Kind:
    """What is given, which is `what`; raises `RequestError` with the remedy for anything else."""
    if not isinstance(given, kind):
        raise RequestError(f"A {type(given).__name__} is no {what}; {remedy}.")
    return given


def whole(what: str, given: object, least: int | None = None) -> int:
    """The whole number; raises `RequestError` for anything else, and for one below `least`."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise RequestError(f"The {what} {given!r} is no whole number; give one.")
    if least is not None and given < least:
        raise RequestError(f"The {what} {given} is below {least}; give {least} or more.")
    return int(given)


def path(given: object) -> Path:
    """The path; raises `RequestError` for anything else."""
    if not isinstance(given, str | Path):
        raise RequestError(f"{given!r} is no path; give one as text, as in 'ratings.csv'.")
    return Path(given)
