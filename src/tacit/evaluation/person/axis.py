"""Result rows on one axis: what a whole person has, whatever the unit of a row's own epsilon."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tacit.errors import RequestError
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.person.request import Terms
from tacit.evaluation.results import ResultRow


def on_axis(rows: Sequence[ResultRow], terms: Terms) -> list[ResultRow]:
    """The rows with the epsilon per person that they were set for, by whom they trust.

    `terms`: by kind and epsilon per person. A row of slots has the kind in its channel's name.
    Raises `RequestError` for a training's row whose promise is not to a person.
    """
    asked = {
        (each.plan, each.cap, float(each.slot.epsilon or 0)): (kind, float(person))
        for (kind, person), each in terms.items()
    }
    found = [_on_axis(row, asked) for row in rows]
    return sorted(found, key=lambda row: (row.epsilon is None, row.trust != "nobody"))


def _on_axis(
    row: ResultRow, asked: Mapping[tuple[str, int | None, float], tuple[str, float]]
) -> ResultRow:
    if row.channel is None and row.epsilon is not None and row.unit != "user":
        raise RequestError(
            f"{row.model} declares the unit user and guarantees its epsilon per {row.unit}; "
            "correct its unit, or leave the model out."
        )
    if row.channel in (None, IDENTITY) or row.epsilon is None:
        return row
    kind, person = asked[row.plan, row.cap, row.epsilon]
    return replace(
        row,
        channel=f"{row.channel}, {kind}",
        epsilon=person,
        unit="user",
        user_epsilon=None,
        tight_epsilon=None,  # which `epsilon` is from here on, at the row's delta
    )


def terms_table(terms: Terms, delta: str) -> Table:
    """Return the reports requested of every user at each epsilon, and the resulting epsilon."""
    lines = tuple(
        (person, each.words, each.person.epsilon or "") for (_, person), each in terms.items()
    )
    heading = ("epsilon per user", "reports", f"epsilon of one user, delta = {delta}")
    return Table("Terms, chosen by a public prior before any report", heading, lines)
