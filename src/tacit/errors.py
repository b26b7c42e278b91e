"""Exceptions of Tacit, as one tree.

    TacitError              base: catch this to catch the library
    ├── DataError           a file or table holds something it should not; says where
    ├── RequestError        the request itself cannot be met; says what to change
    ├── CertificateError    a channel does not keep the epsilon it claims
    └── BudgetError         a person's lifetime epsilon does not allow another answer

The command line prints the sentence and exits with status 1 for each of them.
"""

from numbers import Integral
from pathlib import Path
from typing import TypeVar


class TacitError(Exception):
    """Base of every error that Tacit raises on purpose."""


class DataError(TacitError):
    """The data are wrong; the message names the file, the line and the value."""


class RequestError(TacitError):
    """The request cannot be met; the message names the value and the remedy."""


class CertificateError(TacitError):
    """A channel's table does not prove the epsilon it claims, or is not the table it names."""


class BudgetError(TacitError):
    """A person's lifetime limit of epsilon does not allow another draw."""


# Argument validation.

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
