"""Result rows on a common axis: epsilon per user, for every unit of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tacit.errors import RequestError
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.person.request import Terms
from tacit.evaluation.results import ResultRow


def on_axis(rows: Sequence[ResultRow], terms: Terms) -> list[ResultRow]:
    """Replace the epsilon of each row by the epsilon per user of its terms. Sorts by trust.

    `terms`: by kind of plan and epsilon per user. A row of a channel gets the kind in its channel's
    name. Raises `RequestError` for a trainer's row whose guarantee is not per user.
    """
    requested = {
        (each.plan, each.cap, float(each.slot.epsilon or 0)): (kind, float(person))
        for (kind, person), each in terms.items()
    }
    placed = [_on_axis(row, requested) for row in rows]
    return sorted(placed, key=lambda row: (row.epsilon is None, row.trust != "nobody"))


def _on_axis(
    row: ResultRow, requested: Mapping[tuple[str, int | None, float], tuple[str, float]]
) -> ResultRow:
    if row.channel is None and row.epsilon is not None and row.unit != "user":
        raise RequestError(
            f"{row.model} declares the unit user but guarantees its epsilon per "
            f"{row.unit}; correct its unit, or leave the model out."
        )
    if row.channel in (None, IDENTITY) or row.epsilon is None:
        return row
    kind, person = requested[row.plan, row.cap, row.epsilon]
    return replace(
        row,
        channel=f"{row.channel}, {kind}",
        epsilon=person,
        unit="user",
        user_epsilon=None,
        tight_epsilon=None,  # `epsilon` now has this role, at the row's delta
    )


def terms_table(terms: Terms, delta: str) -> Table:
    """Return the reports requested of every user at each epsilon, and the resulting epsilon."""
    lines = tuple(
        (person, each.words, each.person.epsilon or "") for (_, person), each in terms.items()
    )
    heading = ("epsilon per user", "reports", f"epsilon of one user, delta = {delta}")
    return Table("Terms, chosen by a public prior before any report", heading, lines)
