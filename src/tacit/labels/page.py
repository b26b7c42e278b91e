"""HTML page of a label, self-contained."""

import math

import numpy as np

from tacit.labels.label import AttackFigure, BatchKeeping, Keeping, Kind, Label
from tacit.privacy.guarantee import Guarantee
from tacit.reporting.page import render
from tacit.reporting.table import Table

TRUSTED = {
    "nobody": "Nobody. Each device adds noise before it sends a report.",
    "shuffler": "The shuffler, which mixes messages that it cannot read. The provider, which reads "
    "them, is not trusted.",
    "curator": "The curator, who holds the true ratings. Readers of the output are not trusted.",
    "everybody": "Everyone who sees the output, which is not protected.",
}
MADE_UP = (
    "Attacks on synthetic users under these terms. The first column states the attacker's "
    "background knowledge, the last one the attacker's success without the reports."
)
NOT_PLAYED = "No attack was run for this label."
DAY = 86_400


def html(label: Label) -> str:
    """Return the page of a label."""
    return render(
        "label.html",
        title=f"Label: {label.name}",
        label=label,
        trusted=[TRUSTED[one] for one in label.trusted],
        terms=_terms(label),
        person=_person(label),
        kept=_retention(label.keeping),
        found=_background(label),
        attacks=_attacks(label),
    )


def _terms(label: Label) -> Table:
    lines = tuple(
        (terms.through, one.unit, *_figures(one, label.kind))
        for terms in label.terms
        for one in terms.promises
    )
    heading = (
        "released",
        "protects one",
        "epsilon, nats",
        "delta",
        "attacker accuracy",
        "verified",
    )
    return Table("Guarantees, smallest unit first", heading, lines)


def _figures(one: Guarantee, kind: Kind) -> list[str]:
    if one.epsilon is None:
        return ["none", "", "always", ""]
    return [one.epsilon, one.delta, "" if one.fails else guessed(one), _checked(one, kind)]


def _checked(one: Guarantee, kind: Kind) -> str:
    if one.fails:
        return "does not hold"
    if kind == "model":
        return "as stated by the provider"
    return "in integers" if one.exact else "by proof"


def guessed(one: Guarantee) -> str:
    """Return the maximum accuracy of a guess between two equally likely values, in percent, rounded
    up.

    (e^epsilon + delta) / (1 + e^epsilon). The bound is tight (Kairouz, Oh and Viswanath 2015).
    """
    epsilon = float(one.epsilon or 0)
    share = (1 + float(one.delta) * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return f"{min(100.0, math.ceil(1000 * share - 1e-9) / 10):g} %"


def _person(label: Label) -> list[str]:
    people = [one.sentence for one in label.promises if one.unit == "user"]
    return [*people, *([label.unbounded] if label.unbounded else []), *label.explanation]


def _retention(keeping: Keeping | BatchKeeping | None) -> str:
    if keeping is None:
        return "Once published, the output cannot be withdrawn. It contains no reports."
    if isinstance(keeping, BatchKeeping):
        closes = str(np.datetime64(keeping.closes, "s")).replace("T", " ")
        return (
            f"The batch is closed at {closes} UTC. The shuffler then deletes all bundles. It "
            "deletes the batch when the provider has received it, and at the latest "
            f"{keeping.days} days after closing. With too few bundles, nothing is released."
        )
    lasts = keeping.epoch_seconds / DAY
    return (
        f"An epoch lasts {lasts:g} days. Reports are accepted up to {keeping.late_epochs} epochs "
        f"late and deleted {keeping.days} days after their epoch closes. A device draws one "
        "report per rating and channel; retries resend that report. A changed rating costs "
        "epsilon again."
    )


def _background(label: Label) -> list[str]:
    """Return the attackers' background knowledge and the data, or that no attack was run."""
    if not label.found:
        return [NOT_PLAYED]
    knowing = dict.fromkeys(one.knows for one in label.found)
    whom = dict.fromkeys(one.data for one in label.found)
    return [MADE_UP, *knowing, *whom]


def _attacks(label: Label) -> Table:
    lines = tuple(
        (f"{one.attack}, {one.setting}", one.through, one.figure, *_shares(one))
        for one in label.found
    )
    return Table("Attacks", ("attack", "released", "metric", "share", "without reports"), lines)


def _shares(one: AttackFigure) -> tuple[str, str]:
    return f"{one.value:.3f}", f"{one.baseline:.3f}"
