"""Tables of text: alignment, decimals and units."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, pstdev
from typing import Protocol

NOTHING = "–"
# A number, optionally in percent or with another one in parentheses; a range of counts; or empty.
FIGURE = re.compile(r"(|–|[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?( %)?( \([^)]+\))?|\d+ to \d+)")


@dataclass(frozen=True)
class Table:
    """A caption, the heading of each column, and lines of cells, all as text."""

    caption: str
    heading: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column contains only figures, and is right-aligned."""
        return tuple(
            all(FIGURE.fullmatch(line[k]) for line in self.lines) for k in range(len(self.heading))
        )


def text(table: Table) -> str:
    """Format a table for a terminal, with aligned columns, figures to the right."""
    rows = [table.heading, *table.lines]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.heading))]
    aligned = [
        "  ".join(
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(row, widths, table.numeric, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.caption, "", *aligned])


UNKNOWN, MOST = 3, 4


def decimals(groups: Iterable[Sequence[float]]) -> int:
    """Return the number of decimals for the means of these groups, one mean per group.

    Down to the first digit of the median standard deviation, or to the second if the first is 1.
    Three if no group has two different figures. At least one, at most four.
    """
    spreads = [pstdev(group) for group in groups if len(group) > 1]
    known = [spread for spread in spreads if spread > 0]
    if not known:
        return UNKNOWN
    # The tolerance makes a spread of 0.001 with a rounding error count as 0.001.
    places = math.ceil(-math.log10(median(known) / 2) - 1e-9)
    return min(max(places, 1), MOST)


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
