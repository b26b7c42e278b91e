"""The unit that epsilons of rows are printed with."""

from collections.abc import Iterable
from typing import Protocol


class Promising(Protocol):
    """A row of any kind, with what it promises."""

    @property
    def epsilon(self) -> float | None:
        """In nats per `unit`; None where nothing is protected."""
        ...

    @property
    def unit(self) -> str | None:
        """What one epsilon protects."""
        ...


def units(rows: Iterable[Promising]) -> str:
    """What the rows' epsilons protect: "value", or "slot or user" where rows differ."""
    found = (row.unit for row in rows if row.epsilon is not None)
    return " or ".join(dict.fromkeys(unit for unit in found if unit))


def epsilon_per(rows: Iterable[Promising]) -> str:
    """The name of an axis or a column of epsilons, "epsilon per value"."""
    return f"epsilon per {known}" if (known := units(rows)) else "epsilon"
