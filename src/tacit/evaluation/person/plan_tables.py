"""Tables and sentences of a plan."""

from collections.abc import Sequence

from tacit.evaluation.comparison.tables import NOTHING, Table
from tacit.evaluation.person.plan import WORLDS, PlanRow

ABOUT = {
    "whole": "All users were simulated.",
    "scaled": "Fewer users were simulated, whose reports have as much information as those of "
    "all users.",
    "extrapolated": "Fewer users were simulated, with proportionally less noise. The figure is "
    "extrapolated from half and all of them: linearly in 1 / users, and without privacy in "
    "1 / sqrt(users).",
    "bounded": "The simulated users, at the largest epsilon or number of answers, have more noise "
    "than the users of the plan. The real error is lower.",
}


def expected(rows: Sequence[PlanRow], people: str) -> Table:
    """Return errors and bytes, a line per way. `asked`: the users, in words."""
    heading = ("trusted", "way", "RMSE", "worlds", "download", "upload", "simulated")
    return Table(f"Expected on devices: {people}", heading, tuple(_line(row) for row in rows))


def asked_table(rows: Sequence[PlanRow]) -> Table:
    """Return the reports that each way requests of a user, and their epsilon."""
    private = [row for row in rows if row.epsilon is not None]
    lines = tuple((row.way, row.asked, f"{row.epsilon:g}", f"{row.delta:g}") for row in private)
    return Table("Reports per user", ("way", "reports", "epsilon per user", "delta"), lines)


def sentences(rows: Sequence[PlanRow]) -> list[str]:
    """Return how the figures were obtained, one sentence each."""
    used = [kind for kind in ABOUT if any(row.simulated == kind for row in rows)]
    return [
        *(f"{kind}: {ABOUT[kind]}" for kind in used),
        f"Worlds: the smallest and largest error over {WORLDS} synthetic data sets if all users "
        "are simulated, otherwise a single one. They differ by about .01, real data by more.",
        "Bytes per user, without HTTP headers: models and reports as encoded, a profile as one "
        "report of true levels, and one byte per answer of a federated round.",
    ]


def _line(row: PlanRow) -> tuple[str, ...]:
    worlds = f"{row.lowest:.3f} to {row.highest:.3f}" if row.lowest < row.highest else NOTHING
    return (
        row.trust,
        row.way,
        f"{row.rmse:.3f}",
        worlds,
        f"{row.download_bytes:,}",
        f"{row.upload_bytes:,}",
        f"{row.simulated}, {row.simulated_people:,} users",
    )
