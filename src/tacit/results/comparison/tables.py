"""Tables of result rows: a line per channel, model and location, a column per epsilon."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from tacit.collection.named_plans import IDENTITY
from tacit.metrics.accuracy import By, Slice
from tacit.reporting.table import NOTHING, Table, decimals, epsilon_per, text
from tacit.results.comparison.row import ResultRow
from tacit.results.guarantee_text import sentences

DECIDING = {"rmse": "Lowest RMSE", "ndcg_at_20": "Highest NDCG@20"}


def mean(rows: Sequence[ResultRow], metric: str) -> float | None:
    """Return the mean of a metric over splits. None if no row has it."""
    values = (float(getattr(row, metric)) for row in rows)
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else None


def digits_of(rows: Sequence[ResultRow], metric: str) -> int:
    """Return the number of decimals of a metric's means, from its spread over splits."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        if not math.isnan(value := float(getattr(row, metric))):
            kind = (row.via, row.method, row.where, row.epsilon, row.unit)
            groups.setdefault(kind, []).append(value)
    return decimals(groups.values())


def holding(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows whose guarantee, if any, is not known to fail. Others are never the best."""
    return [row for row in rows if row.claim_valid is not False]


def accuracy(rows: Sequence[ResultRow], metric: str, caption: str) -> Table:
    """Return the mean of a metric over splits by channel, model and location, at every epsilon.

    Only those that have the metric. Those that ran without privacy only come last.
    """
    measured = [row for row in rows if not math.isnan(float(getattr(row, metric)))]
    epsilons = sorted({row.epsilon for row in rows if row.epsilon is not None})
    digits = digits_of(measured, metric)
    return Table(
        f"{caption}; {epsilon_per(rows)}" if epsilons else caption,
        ("channel", "model", "where", *(f"{epsilon:g}" for epsilon in epsilons), "no privacy"),
        tuple(_line(rows, metric, kind, epsilons, digits) for kind in kinds(measured)),
    )


def kinds(rows: Sequence[ResultRow]) -> list[tuple[str, str, str]]:
    """Return all channels, models and locations, grouped by channel, in order of appearance. Those
    that ran without privacy only come last."""
    private = dict.fromkeys(
        (row.via, row.method, row.where) for row in rows if row.epsilon is not None
    )
    known = {(model, where) for _, model, where in private}
    free = dict.fromkeys((IDENTITY, row.method, row.where) for row in rows)
    channels = list(dict.fromkeys(channel for channel, _, _ in private))
    together = sorted(private, key=lambda kind: channels.index(kind[0]))
    return [*together, *(kind for kind in free if kind[1:] not in known)]


def promises(rows: Sequence[ResultRow]) -> Table:
    """Return the guarantee per user, in nats: a line per channel and epsilon, none under
    `rated`."""
    kinds = {
        (row.channel or row.model, row.epsilon): row
        for row in rows
        if row.user_epsilon is not None and row.unit != "user"
    }
    deltas = dict.fromkeys(f"{row.delta:g}" for row in kinds.values() if row.tight_epsilon)
    lines = (
        (
            name,
            f"{row.epsilon:g} per {row.unit}",
            f"{row.user_epsilon:g}",
            NOTHING if row.tight_epsilon is None else f"{row.tight_epsilon:.1f}",
        )
        for (name, _), row in kinds.items()
    )
    heading = ("channel", "epsilon", "per user", f"per user, delta = {' or '.join(deltas)}")
    return Table("Guarantee per user, in nats", heading, tuple(lines))


def _line(
    rows: Sequence[ResultRow],
    metric: str,
    kind: tuple[str, str, str],
    epsilons: Sequence[float],
    digits: int,
) -> tuple[str, ...]:
    channel, model, where = kind
    mine = [row for row in rows if row.method == model and row.where == where]
    noisy = [row for row in mine if row.via == channel]
    figures = [mean([row for row in noisy if row.epsilon == e], metric) for e in epsilons]
    figures.append(mean([row for row in mine if row.channel == IDENTITY], metric))
    return (*kind, *(NOTHING if x is None else f"{x:.{digits}f}" for x in figures))


def best(rows: Sequence[ResultRow]) -> Table:
    """Return the lowest RMSE at each epsilon and location, with its channel and model.

    If no model predicts ratings, the highest NDCG. Epsilons of different units are not compared.
    """
    metric = deciding(rows)
    claims = sorted({(row.epsilon, row.unit) for row in rows if row.epsilon is not None})
    several = len({unit for _, unit in claims}) > 1
    seen = list(dict.fromkeys(row.where for row in rows))
    digits = digits_of(rows, metric)
    names = ("epsilon", *(f"{location}{what}" for location in seen for what in ("", ", by")))
    lines = [
        (
            f"{epsilon:g} per {unit}" if several else f"{epsilon:g}",
            *_winners(_claiming(rows, epsilon, unit), seen, metric, digits),
        )
        for epsilon, unit in claims
    ]
    free = [row for row in rows if row.channel == IDENTITY]
    lines += [("no privacy", *_winners(free, seen, metric, digits))] if free else []
    return Table(f"{DECIDING[metric]}, mean over splits", names, tuple(lines))


def deciding(rows: Sequence[ResultRow]) -> str:
    """Return the main metric: RMSE, or NDCG if no model predicts ratings."""
    return "rmse" if any(not math.isnan(row.rmse) for row in rows) else "ndcg_at_20"


def _claiming(rows: Sequence[ResultRow], epsilon: float, unit: str) -> list[ResultRow]:
    return [row for row in rows if (row.epsilon, row.unit) == (epsilon, unit)]


def _winners(rows: Sequence[ResultRow], seen: Sequence[str], metric: str, digits: int) -> list[str]:
    winners = [foremost(rows, location, metric) for location in seen]
    return [cell for winner in winners for cell in _won(winner, digits)]


def _won(winner: "Winner | None", digits: int) -> tuple[str, str]:
    return (f"{winner.figure:.{digits}f}", winner.words) if winner else (NOTHING, NOTHING)


@dataclass(frozen=True, order=True)
class Winner:
    """The best mean of a metric among some rows, with its channel and model."""

    figure: float
    channel: str
    model: str

    @property
    def words(self) -> str:
        """Channel and model, or only the model without a channel."""
        return self.model if self.channel == IDENTITY else f"{self.channel} + {self.model}"


def foremost(rows: Sequence[ResultRow], where: str, metric: str = "rmse") -> Winner | None:
    """Return the best channel and model at one location. None if no row has the metric."""
    mine = [row for row in rows if row.where == where]
    kinds: dict[tuple[str, str], list[ResultRow]] = {}
    for row in mine:
        kinds.setdefault((row.via, row.method), []).append(row)
    means = ((mean(group, metric), *kind) for kind, group in kinds.items())
    winners = [Winner(m, c, n) for m, c, n in means if m is not None]
    choose = min if metric == "rmse" else max
    return choose(winners, default=None)


CAPTIONS: dict[By, str] = {
    "activity": "RMSE by decile of users, and increase over no privacy",
    "popularity": "RMSE by decile of items, and increase over no privacy",
}
Part = tuple[ResultRow, Slice]


def slice_tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Return a table of users and one of items, means over splits. Empty without slices."""
    return [table for by in CAPTIONS if (table := _slice_table(rows, by)).lines]


def _slice_table(rows: Sequence[ResultRow], by: By) -> Table:
    parts = [(row, part) for row in rows for part in row.slices or () if part.by == by]
    sliced = [row for row, _ in parts]
    epsilons = sorted({row.epsilon for row in sliced if row.epsilon is not None})
    costs = (f"increase at {epsilon:g}" for epsilon in epsilons)
    heading = ("channel, model, where", "decile", "training ratings", *map("{:g}".format, epsilons),
               "no privacy", *costs)  # fmt: skip
    lines = [
        (", ".join(kind), *_decile_line(mine, kind[0], epsilons))
        for kind in kinds(sliced)
        for mine in _by_decile(parts, *kind[1:])
    ]
    per = f"; {epsilon_per(sliced)}" if epsilons else ""
    return Table(f"{CAPTIONS[by]}, mean over splits{per}", heading, tuple(lines))


def _by_decile(parts: Sequence[Part], model: str, where: str) -> list[list[Part]]:
    """Return the slices of one model at one location, by ascending decile."""
    mine = [(row, part) for row, part in parts if row.method == model and row.where == where]
    deciles = sorted({part.decile for _, part in mine})
    return [[(row, part) for row, part in mine if part.decile == decile] for decile in deciles]


def _decile_line(parts: Sequence[Part], via: str, epsilons: Sequence[float]) -> tuple[str, ...]:
    """Return a decile: its number, its training ratings, the error at each epsilon, the cost."""
    every = [part for _, part in parts]
    fewest, most = min(part.fewest for part in every), max(part.most for part in every)
    free = [part.slice_rmse for row, part in parts if row.channel == IDENTITY]
    noisy = [
        [part for row, part in parts if row.via == via and row.epsilon == epsilon]
        for epsilon in epsilons
    ]
    costs = ([p.privacy_cost for p in at if p.privacy_cost is not None] for at in noisy)
    return (
        str(every[0].decile),
        f"{fewest}" if fewest == most else f"{fewest} to {most}",
        *(_mean([part.slice_rmse for part in at], ".3f") for at in noisy),
        _mean(free, ".3f"),
        *(_mean(cost, "+.3f") for cost in costs),
    )


def _mean(figures: Sequence[float], form: str) -> str:
    return format(fmean(figures), form) if figures else NOTHING


PRINTED = {
    "rmse": "RMSE",
    "information_efficiency": "Information efficiency on the device",
    "f_score_at_10": "F-score at 10 among test items",
    "ndcg_at_20": "NDCG@20",
    "niche_ndcg_at_20": "NDCG@20 of niche users",
    "recall_at_20": "Recall@20",
}
"""Printed metrics. Result rows have more."""


def tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Return the non-empty tables: one per metric, slices, and the guarantee per user."""
    metrics = [
        accuracy(rows, name, f"{words}, mean over splits") for name, words in PRINTED.items()
    ]
    return [table for table in (*metrics, *slice_tables(rows), promises(rows)) if table.lines]


def cold_notice(rows: Sequence[ResultRow]) -> list[str]:
    """Return a sentence on the cold users that top-N metrics exclude, or an empty list."""
    counts = sorted({row.cold_users for row in rows if row.cold_users})
    if not counts:
        return []
    least, most = counts[0], counts[-1]
    several = f"{least} to {most} users" if least < most else f"{most} user{'s' * (most > 1)}"
    return [
        f"Top-N metrics exclude {several} with a test rating but no training rating, in every row."
    ]


def as_text(rows: Sequence[ResultRow]) -> str:
    """Return the tables for a terminal, then notices and guarantees, a sentence each."""
    notices = [*cold_notice(rows), *sentences(rows)]
    return "\n".join([f"{text(table)}\n" for table in tables(rows)] + notices)
