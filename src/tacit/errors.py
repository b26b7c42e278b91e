"""Exceptions of Tacit, as one tree.

    TacitError              base: catch this to catch the library
    ├── DataError           a file or table holds something it should not; says where
    ├── RequestError        the request itself cannot be met; says what to change
    ├── CertificateError    a channel does not keep the epsilon it claims
    └── BudgetError         a person's lifetime epsilon does not allow another answer

The command line prints the sentence and exits with status 1 for each of them.
"""

from numbers import Integral, Real
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


def must_be(kind: type[Kind], value: object, what: str, remedy: str) -> Kind:
    """Return the value if it has the type; raises `RequestError` with the remedy otherwise."""
    if not isinstance(value, kind):
        raise RequestError(f"Expected {what}, got {type(value).__name__}; {remedy}.")
    return value


def whole(what: str, value: object, least: int | None = None) -> int:
    """Return the integer; raises `RequestError` for other values, and for one below `least`."""
    bound = "" if least is None else f" of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise RequestError(f"{what} must be an integer{bound}, got {shown(value)}.")
    if least is not None and value < least:
        raise RequestError(f"{what} must be an integer{bound}, got {value!r}.")
    return int(value)


def shown(value: object) -> str:
    """Return short values as in code, otherwise the type: a table may contain ratings."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    is_short = value is None or isinstance(value, str | Real)
    return repr(value) if is_short else type(value).__name__


def path(value: object) -> Path:
    """Return the path; raises `RequestError` for other types."""
    if not isinstance(value, str | Path):
        raise RequestError(
            f"The path must be a string or a Path, as in 'ratings.csv', got {shown(value)}."
        )
    return Path(value)
