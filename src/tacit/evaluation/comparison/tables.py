"""Tables of result rows: a line per channel, model and location, a column per epsilon."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow
from tacit.reporting.table import NOTHING, Table, decimals, epsilon_per

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
