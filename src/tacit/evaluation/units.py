"""Units of epsilon in tables and figures."""

from collections.abc import Iterable
from typing import Protocol


class Promising(Protocol):
    """A row of any kind with a guarantee."""

    @property
    def epsilon(self) -> float | None:
        """Nats per `unit`, None without privacy."""
        ...

    @property
    def unit(self) -> str | None:
        """The unit that epsilon protects."""
        ...


def units(rows: Iterable[Promising]) -> str:
    """Return the unit of the rows' epsilons: "value", or "slot or user" if rows differ."""
    names = (row.unit for row in rows if row.epsilon is not None)
    return " or ".join(dict.fromkeys(unit for unit in names if unit))


def epsilon_per(rows: Iterable[Promising]) -> str:
    """Return the label of an axis or a column of epsilons, such as "epsilon per value"."""
    return f"epsilon per {known}" if (known := units(rows)) else "epsilon"
