"""Fast attacks on the ratings of a comparison, under its terms, for its report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tacit.audit.attacks import ATTACKS
from tacit.audit.attacks.reconstruction import KNOWN as STARS
from tacit.evaluation.attacks.report import EXPERIMENT
from tacit.evaluation.attacks.request import AttackRequest
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import leaks, tables, under
from tacit.evaluation.grid import IDENTITY, Progress
from tacit.evaluation.journal import Journal
from tacit.ratings import Ratings
from tacit.reporting.table import Table

KNOWN, VICTIMS = 8, 500
LINKED = (f"{KNOWN} random items with stars", "top-1")


def quick_attacks(
    ratings: Ratings,
    *,
    plan: str,
    channels: Sequence[str],
    epsilons: Sequence[str],
    progress: Progress = lambda label, done, total: None,
) -> list[AttackRow]:
    """Run linkage of a sample of users, and reconstruction, under each channel and epsilon (nats
    per value or slot), and without privacy. Empty without a channel."""
    noisy = [name for name in channels if name != IDENTITY]
    if not noisy:
        return []
    request = AttackRequest(
        attacks=("linkage", "reconstruction"),
        plans=(plan,),
        channels=noisy,
        epsilons=epsilons,
        changes={"linkage": {"known": (KNOWN,), "most_victims": VICTIMS}},
    )
    return request.run(ratings, Journal(None, AttackRow), progress)


@dataclass(frozen=True)
class AttackSection:
    """Section of a report on attacks.

    `linked`: terms, and the linkage success of the first guess. `said`: sentences. `tables`: all
    figures. `knows`: background knowledge of the attacker, by attack.
    """

    linked: Sequence[tuple[str, str]]
    said: Sequence[str]
    tables: Sequence[Table]
    knows: Mapping[str, str]
    known: int = KNOWN


def attack_section(rows: Sequence[AttackRow]) -> AttackSection | None:
    """Return the section for these rows, or None without rows."""
    if not rows:
        return None
    names = dict.fromkeys(row.attack for row in rows)
    return AttackSection(
        linked=list(_linked_lines(rows)),
        said=[*leaks(rows), EXPERIMENT],
        tables=tables(rows),
        knows={name: ATTACKS[name].knows for name in names},
    )


def linked(rows: Sequence[AttackRow]) -> list[AttackRow]:
    """Return the rows of linkage by `KNOWN` ratings: success of the first guess."""
    return [row for row in rows if (row.setting, row.figure) == LINKED]


def _linked_lines(rows: Sequence[AttackRow]) -> Iterator[tuple[str, str]]:
    """Yield a line per terms, no privacy last, then the guess without reports."""
    ordered = sorted(rows, key=lambda row: row.epsilon is None)
    linkage = {under(row): row for row in linked(ordered)}
    reconstructed = {under(row): row for row in ordered if row.setting == STARS}
    for terms, row in linkage.items():
        yield (
            terms,
            _linked_line(row.value, reconstructed[terms].value if terms in reconstructed else None),
        )
    for row in list(linkage.values())[:1]:
        stars = next((one.baseline for one in reconstructed.values()), None)
        yield "without reports", _linked_line(row.baseline, stars)


def _linked_line(success: float, stars: float | None) -> str:
    guessed = "" if stars is None else f"; {share(stars)} of ratings reconstructed"
    return f"{share(success)} of users{guessed}"


def share(value: float) -> str:
    """Format a share in percent, with two significant digits."""
    return f"{100 * value:.2g} %" if value < 0.995 else "100 %"
