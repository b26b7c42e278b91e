"""Rows of attacks, and their tables: one per attack, one column per epsilon."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Self

from tacit.reporting.table import NOTHING, Table, decimals, epsilon_per, text
from tacit.results.guarantee_text import plugged
from tacit.results.records import checked, plain

FREE = "no privacy"
EXPERIMENT = (
    "These figures compare results of attacks with true ratings, so they are as sensitive as the "
    "ratings. Do not publish them for users you want to protect."
)


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """One figure of one attack.

    `epsilon`: nats per `unit` ("value" or "slot") of reports through `channel` under `plan`.
    `plan`, `epsilon` and `unit` are None without privacy, and for attacks that run trainers
    themselves. `setting`: background knowledge of the attacker. `value`: of `figure`, a share.
    `baseline`: the same by the method `beside`. `bound`: the maximum under the guarantee, None if
    it implies none. `error`: standard error of `value`. `leaks`: whether the value exceeds the
    bound significantly. `seconds`: wall seconds of the entire attack. `plugins`: plug-in of the
    channel, None for a built-in one.
    """

    dataset: str
    attack: str
    plan: str | None
    channel: str | None
    channel_id: str | None
    epsilon: float | None
    unit: str | None
    seed: int
    setting: str
    figure: str
    value: float
    baseline: float
    beside: str
    bound: float | None
    error: float
    count: int
    leaks: bool
    seconds: float
    plugins: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. The key `plugins` is omitted if it is None."""
        values = plain(self)
        return {k: v for k, v in values.items() if k != "plugins" or v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, {"plugins": None, **values}, ()))


def tables(rows: Sequence[AttackRow]) -> list[Table]:
    """Return a table per attack: every figure, with its baseline and bound in parentheses."""
    return [
        _table([row for row in rows if row.attack == name])
        for name in dict.fromkeys(row.attack for row in rows)
    ]


def leaks(rows: Sequence[AttackRow]) -> list[str]:
    """Return a sentence for each figure above its bound. Without one, return a sentence that no
    figure exceeds its bound, provided that any figure has a bound."""
    sentences = [
        f"{row.attack}, {row.setting}, {under(row)}: {row.figure} is {row.value:.4f}, above the "
        f"guaranteed {row.bound:.4f} (standard error {row.error:.4f})."
        for row in rows
        if row.leaks
    ]
    bounded = sum(row.bound is not None for row in rows)
    clean = f"None of the {bounded} bounded figures significantly exceeds its bound."
    return sentences or ([clean] if bounded else [])


def said(rows: Sequence[AttackRow]) -> list[str]:
    """Return sentences on figures above their bound and on channels of plug-ins."""
    return leaks(rows) + plugged(row.plugins for row in rows)


def as_text(rows: Sequence[AttackRow]) -> str:
    """Return the tables for a terminal, then the sentences on leaks, plug-ins and publication."""
    return "\n".join([*(f"{text(each)}\n" for each in tables(rows)), *said(rows), EXPERIMENT])


def under(row: AttackRow) -> str:
    """Describe the terms of the reports."""
    return FREE if row.epsilon is None else f"{row.channel} at {row.epsilon:g} under {row.plan}"


def _table(rows: Sequence[AttackRow]) -> Table:
    epsilons = sorted({row.epsilon for row in rows if row.epsilon is not None})
    free = any(row.epsilon is None for row in rows)
    seeds = len({row.seed for row in rows})
    over = f", mean over {seeds} draws" if seeds > 1 else ""
    names = [f"{epsilon:g}" for epsilon in epsilons] + ([FREE] if free else [])
    per = f"; {epsilon_per(rows)}" if epsilons else ""
    bound = " and the most that the guarantee allows" if _bounds(rows) else ""
    return Table(
        f"{rows[0].attack}{over}, in parentheses {rows[0].beside}{bound}{per}",
        ("under", "the attacker has", "figure", *names),
        tuple(_lines(rows, [*epsilons, *([None] if free else [])])),
    )


def _lines(
    rows: Sequence[AttackRow], epsilons: Sequence[float | None]
) -> Iterator[tuple[str, ...]]:
    private = [row for row in rows if row.epsilon is not None]
    ways = dict.fromkeys((row.plan, row.channel) for row in private or rows)
    digits = digits_of(rows)
    what = dict.fromkeys((row.setting, row.figure) for row in rows)
    for plan, channel in ways:
        for setting, figure in what:
            mine = [row for row in rows if (row.setting, row.figure) == (setting, figure)]
            here = [r for r in mine if r.epsilon is None or (r.plan, r.channel) == (plan, channel)]
            if here:
                cells = [_cell([row for row in here if row.epsilon == e], digits) for e in epsilons]
                way = f"{plan}, {channel}" if plan else str(channel)
                yield (way, setting, figure, *cells)


def digits_of(rows: Sequence[AttackRow]) -> int:
    """Return the number of decimals of shares, from their spread over draws."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        kind = (row.plan, row.channel, row.epsilon, row.setting, row.figure)
        groups.setdefault(kind, []).append(row.value)
    return decimals(groups.values())


def _cell(rows: Sequence[AttackRow], digits: int) -> str:
    if not rows:
        return NOTHING
    value, baseline = (fmean(getattr(row, name) for row in rows) for name in ("value", "baseline"))
    bounds = _bounds(rows)
    most = f", at most {fmean(bounds):.{digits}f}" if bounds else ""
    return f"{value:.{digits}f} ({baseline:.{digits}f}{most})"


def _bounds(rows: Sequence[AttackRow]) -> list[float]:
    return [row.bound for row in rows if row.bound is not None]
