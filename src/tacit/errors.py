"""Exceptions of Tacit.

    TacitError              base class of all errors below
    ├── DataError           invalid data, with the file, line and value
    ├── RequestError        an invalid argument, with the remedy
    │   └── MovedError      a provider that moved to another origin
    ├── CertificateError    a channel or task without a valid proof of its epsilon
    └── BudgetError         a user's lifetime limit of epsilon would be exceeded

The command line prints the message of any of them and exits with status 1.
"""

from math import inf
from numbers import Integral, Real
from pathlib import Path
from typing import TypeVar


class TacitError(Exception):
    """Base class of the errors that Tacit raises."""


class DataError(TacitError):
    """Invalid data. The message names the file, the line and the value."""


class RequestError(TacitError):
    """Invalid argument. The message names the argument, the value and the remedy."""


class MovedError(RequestError):
    """The provider moved from `origin` to `successor`, and signed this. The user has to agree."""

    def __init__(self, origin: str, successor: str) -> None:
        super().__init__(
            f"The provider moved from {origin} to {successor}, and signed this. Nothing is sent "
            f"until the user agrees to the move. Then open the device with {successor}."
        )
        self.origin, self.successor = origin, successor


class CertificateError(TacitError):
    """A channel or task without a valid proof of the epsilon that it claims."""


class BudgetError(TacitError):
    """A draw would exceed the user's lifetime limit of epsilon."""


# Argument validation.

Kind = TypeVar("Kind")


def must_be(kind: type[Kind], value: object, what: str, remedy: str) -> Kind:
    """Return the value if it has the type; raises `RequestError` with the remedy otherwise."""
    if not isinstance(value, kind):
        raise RequestError(f"Expected {what}, got {type(value).__name__}; {remedy}.")
    return value


def integer(what: str, value: object, least: int | None = None) -> int:
    """Return the integer; raises `RequestError` for other values, and for one below `least`."""
    bound = "" if least is None else f" of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise RequestError(f"{what} must be an integer{bound}, got {shown(value)}.")
    if least is not None and value < least:
        raise RequestError(f"{what} must be an integer{bound}, got {value!r}.")
    return int(value)


def number(what: str, value: object, such: str) -> float:
    """Return the number; raises `RequestError` for other values. `such`: an example."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RequestError(f"{what} must be a number such as {such}, got {shown(value)}.")
    return float(value)


def finite(what: str, value: object, least: float) -> float:
    """Return the number; raises `RequestError` for other values, and for one below `least`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) < inf:
        raise RequestError(
            f"{what} must be a finite number of at least {least:g}, got {shown(value)}."
        )
    return float(value)


def positive(what: str, value: object) -> float:
    """Return the number; raises `RequestError` unless it is finite and above 0."""
    if finite(what, value, 0) == 0:
        raise RequestError(f"{what} must be a finite number above 0, got {shown(value)}.")
    return finite(what, value, 0)


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
