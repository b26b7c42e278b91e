"""Linear systems in rationals."""

from collections.abc import Sequence
from fractions import Fraction

from tacit.errors import RequestError

Column = Sequence[Fraction]


def solve(columns: Sequence[Column]) -> list[Fraction]:
    """Return t with sum_y t[y] columns[y] = 1 in every row, exactly; columns are independent.

    Raises `RequestError` if no positive t solves all rows.
    """
    rows = [[*row, Fraction(1)] for row in zip(*columns, strict=True)]
    count = len(columns)
    for step in range(count):
        pivot = next((k for k in range(step, len(rows)) if rows[k][step]), None)
        if pivot is None:
            raise RequestError("The columns of the table are linearly dependent.")
        rows[step], rows[pivot] = rows[pivot], rows[step]
        lead = [value / rows[step][step] for value in rows[step]]
        rows = [_reduced(row, lead, step) for row in rows]
        rows[step] = lead
    if any(row[count] for row in rows[count:]) or any(row[count] <= 0 for row in rows[:count]):
        raise RequestError("No positive combination of the columns has sum 1 in every row.")
    return [row[count] for row in rows[:count]]


def _reduced(row: list[Fraction], lead: list[Fraction], step: int) -> list[Fraction]:
    factor = row[step]
    if not factor:
        return row
    return [value - factor * other for value, other in zip(row, lead, strict=True)]
