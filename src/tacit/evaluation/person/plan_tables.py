"""The plan as tables and sentences."""

from collections.abc import Sequence

from tacit.evaluation.comparison.tables import NOTHING, Table
from tacit.evaluation.person.plan import WORLDS, PlanRow

ABOUT = {
    "whole": "All people were made up.",
    "scaled": "Fewer people were made up, whose answers together are as certain as all people's.",
    "extrapolated": "Fewer people were made up, with as much less noise where there is noise; "
    "half of them and all of them give the line on which the figure is: in 1 / people, and without "
    "privacy in 1 / sqrt(people).",
    "bounded": "Even all people made up, at the largest epsilon or number of answers, are noisier "
    "than those asked about: the real error is lower.",
}


def expected(rows: Sequence[PlanRow], asked: str) -> Table:
    """Errors and bytes, a line a way. `asked`: who takes part, in words."""
    heading = ("trusted", "way", "RMSE", "worlds", "download", "upload", "simulated")
    return Table(f"Expected on devices: {asked}", heading, tuple(_line(row) for row in rows))


def asked_table(rows: Sequence[PlanRow]) -> Table:
    """What each way asks of a person, and the epsilon that they then have."""
    private = [row for row in rows if row.epsilon is not None]
    lines = tuple((row.way, row.asked, f"{row.epsilon:g}", f"{row.delta:g}") for row in private)
    return Table("What a person is asked", ("way", "asked", "epsilon per person", "delta"), lines)


def sentences(rows: Sequence[PlanRow]) -> list[str]:
    """How the figures were come by."""
    used = [kind for kind in ABOUT if any(row.simulated == kind for row in rows)]
    return [
        *(f"{kind}: {ABOUT[kind]}" for kind in used),
        f"Worlds: the least and the largest error over {WORLDS} made-up worlds, where all people "
        "are made up; else there is one. Worlds differ by .01 or so, and real people by more.",
        "Bytes of one person, without HTTP's: models and reports as they are encoded; a profile "
        "as one report of true levels; rounds, which have no format yet, a byte an answer.",
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
        f"{row.simulated}, {row.simulated_people:,} people",
    )
