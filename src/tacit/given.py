"""Argument validation."""

from numbers import Integral
from pathlib import Path
from typing import TypeVar

from tacit.errors import RequestError

Kind = TypeVar("Kind")


def must_be(kind: type[Kind], given: object, what: str, remedy: str) -> Kind:
    """What is given, which is `what`; raises `RequestError` with the remedy for anything else."""
    if not isinstance(given, kind):
        raise RequestError(f"Expected {what}, got {type(given).__name__}; {remedy}.")
    return given


def whole(what: str, given: object, least: int | None = None) -> int:
    """The whole number; raises `RequestError` for anything else, and for one below `least`."""
    bound = "" if least is None else f" of at least {least}"
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise RequestError(f"{what} must be an integer{bound}, got {given!r}.")
    if least is not None and given < least:
        raise RequestError(f"{what} must be an integer{bound}, got {given!r}.")
    return int(given)


def path(given: object) -> Path:
    """The path; raises `RequestError` for anything else."""
    if not isinstance(given, str | Path):
        raise RequestError(
            f"The path must be a string or a Path, as in 'ratings.csv', got {given!r}."
        )
    return Path(given)
