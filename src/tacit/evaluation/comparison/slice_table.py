"""Tables of error by decile: one line per decile, one column per epsilon."""

from collections.abc import Sequence
from statistics import fmean

from tacit.evaluation.comparison.tables import kinds
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow
from tacit.metrics.slices import By, Slice
from tacit.reporting.table import NOTHING, Table, epsilon_per

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
