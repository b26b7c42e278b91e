"""What attackers find on the ratings of a comparison, under its terms: cheap attacks alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tacit.audit.attacks import ATTACKS
from tacit.audit.attacks.reconstruction import KNOWN as STARS
from tacit.evaluation.attacks.report import EXPERIMENT
from tacit.evaluation.attacks.request import AttackRequest
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import leaks, tables, under
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.grid import IDENTITY, Progress
from tacit.evaluation.journal import Journal
from tacit.ratings import Ratings

KNOWN, VICTIMS = 8, 500
LINKED = (f"{KNOWN} random items with stars", "top-1")


def beside(
    ratings: Ratings,
    *,
    plan: str,
    channels: Sequence[str],
    epsilons: Sequence[str],
    progress: Progress = lambda label, done, total: None,
) -> list[AttackRow]:
    """Rows of linkage, of a few people, and of reconstruction under each channel and epsilon (nats
    per value or slot), and without privacy; none where there is no channel."""
    noisy = [name for name in channels if name != IDENTITY]
    if not noisy:
        return []
    asked = AttackRequest(
        attacks=("linkage", "reconstruction"),
        plans=(plan,),
        channels=noisy,
        epsilons=epsilons,
        changes={"linkage": {"known": (KNOWN,), "most_victims": VICTIMS}},
    )
    return asked.run(ratings, Journal(None, AttackRow), progress)


@dataclass(frozen=True)
class FoundBeside:
    """The part of a report: in words, then every figure.

    `linked`: the terms, and how often the first guess is right under them. `knows`: what the
    attacker of each attack knows.
    """

    linked: Sequence[tuple[str, str]]
    said: Sequence[str]
    tables: Sequence[Table]
    knows: Mapping[str, str]
    known: int = KNOWN


def found_beside(rows: Sequence[AttackRow]) -> FoundBeside | None:
    """What the rows say; nothing where there are none."""
    if not rows:
        return None
    names = dict.fromkeys(row.attack for row in rows)
    return FoundBeside(
        linked=list(_lines(rows)),
        said=[*leaks(rows), EXPERIMENT],
        tables=tables(rows),
        knows={name: ATTACKS[name].knows for name in names},
    )


def linked(rows: Sequence[AttackRow]) -> list[AttackRow]:
    """Of linkage by a few known ratings, how often the first guess is right."""
    return [row for row in rows if (row.setting, row.figure) == LINKED]


def _lines(rows: Sequence[AttackRow]) -> Iterator[tuple[str, str]]:
    """A line on each of the terms, no privacy last, then the guess without reports."""
    ordered = sorted(rows, key=lambda row: row.epsilon is None)
    found = {under(row): row for row in linked(ordered)}
    told = {under(row): row for row in ordered if row.setting == STARS}
    for terms, row in found.items():
        yield terms, _line(row.value, told[terms].value if terms in told else None)
    for row in list(found.values())[:1]:
        stars = next((one.baseline for one in told.values()), None)
        yield "without reports", _line(row.baseline, stars)


def _line(found: float, stars: float | None) -> str:
    guessed = "" if stars is None else f"; {share(stars)} of ratings reconstructed"
    return f"{share(found)} of users{guessed}"


def share(value: float) -> str:
    """A share in percent, with as many digits as it bears."""
    return f"{100 * value:.2g} %" if value < 0.995 else "100 %"
