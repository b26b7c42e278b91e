"""HTML report on attacks, computed from result rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.audit.attacks import ATTACKS
from tacit.evaluation.attacks.charts import attack_figure
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import leaks, tables
from tacit.evaluation.comparison.guarantee_text import plugged
from tacit.reporting.page import FailedClaim, Provenance, ReportFigure, render
from tacit.reporting.table import Table

EXPERIMENT = (
    "These figures compare results of attacks with true ratings, so they are as private as the "
    "ratings are. Do not publish them if the users are protected."
)


def report(rows: Sequence[AttackRow], run: Provenance | None = None) -> str:
    """Return the report as HTML: figures above their bound, then each attack, then the provenance
    `run`, if known."""
    names = " and ".join(dict.fromkeys(row.dataset for row in rows))
    attacks = _attacks(rows)
    return render(
        "attacks.html",
        title=f"Tacit: attacks on {names}",
        names=names,
        experiment=EXPERIMENT,
        leaking=[_leaking(each) for each in attacks if each.leaks],
        said=_sentences(rows),
        attacks=attacks,
        run=run,
    )


@dataclass(frozen=True)
class PlayedAttack:
    """One attack on the page. `anchor`: its id. `leaks`: a sentence for each figure above its
    bound. `figure`: None without rows at an epsilon."""

    anchor: str
    name: str
    knows: str
    leaks: Sequence[str]
    figure: ReportFigure | None
    table: Table


def _attacks(rows: Sequence[AttackRow]) -> list[PlayedAttack]:
    names = dict.fromkeys(row.attack for row in rows)
    groups = ([row for row in rows if row.attack == name] for name in names)
    return [_played(mine, f"attack-{number}") for number, mine in enumerate(groups, 1)]


def _played(rows: Sequence[AttackRow], anchor: str) -> PlayedAttack:
    (table,) = tables(rows)
    name = rows[0].attack
    above = leaks([row for row in rows if row.leaks])
    return PlayedAttack(anchor, name, ATTACKS[name].knows, above, attack_figure(rows), table)


def _sentences(rows: Sequence[AttackRow]) -> list[str]:
    """Return a sentence if no figure is above its bound, and one on channels of plug-ins."""
    clean = [] if any(row.leaks for row in rows) else leaks(rows)
    return clean + plugged(row.plugins for row in rows)


def _leaking(attack: PlayedAttack) -> FailedClaim:
    """Return the line at the top of the page."""
    count = len(attack.leaks)
    above = f"{count} figure{' exceeds' if count == 1 else 's exceed'} the guarantee"
    return FailedClaim(attack.anchor, f"{attack.name}: {above}", "")
