"""X-Map's figures: MAE against k, links, kept ratings and decay, and over pairs of epsilons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit.crossdomain.domains import Domains
from tacit.experiments.crossdomain.rows import TrialRow, mean
from tacit.reporting.table import NOTHING, Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.x_map.panels import SURFACES, drawn, firsts
from tacit_studies.x_map.trials import Axes, Way, measured

NAMES = (
    "nx-map", "nx-map-everybody", "x-map", "x-map-strict", "x-map-factors", "taste-map",
    "mf-merged", "emcdr", "item-offset", "item-average", "remote-user", "knn-linked", "knn-single",
)  # fmt: skip
Kind = tuple[str, str]
"""A method, and its mode."""
MAPS: dict[str, Kind] = {
    "NX-Map": ("nx-map (item)", "none"),
    "X-Map": ("x-map (item), claim fails", "faithful"),
}
BASELINES = ("item-average", "remote-user (user)", "knn-linked (item)")


@dataclass(frozen=True)
class Figures:
    """The `systems` in both directions, seed 0, along every axis; epsilons in nats."""

    systems: tuple[str, ...] = NAMES
    ks: tuple[int, ...] = (5, 10, 50, 100)
    overlaps: tuple[float, ...] = (0.2, 0.5, 0.8, 1.0)
    keeps: tuple[int, ...] = (0, 3, 6)
    epsilons: tuple[str, ...] = ("0.1", "0.3", "0.6", "0.9")
    decays: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3)

    name: ClassVar[str] = "figures"
    title: ClassVar[str] = "Figures of MAE: neighbours, links, kept ratings, decay, epsilons"

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Every system along every axis, in both directions."""
        axes = Axes(self.systems, self.ks, self.overlaps, self.keeps, self.epsilons, self.decays)
        journal = kept.journal(self.name, TrialRow)
        last = len(data.names) - 1
        ways = [measured(data, target, axes, journal) for target in (last, 0)]
        return StudyResult(
            claims=tuple(claims(ways)),
            tables=(
                *(table(ways, overlap) for overlap in self.overlaps),
                choices(ways),
                decays(ways),
                spreads(ways),
            ),
            drawing=drawn(ways, self.decays),
            described="MAE of every system in both directions, along each axis of the paper.",
            remarks=(
                "Other data than the paper's Amazon ratings of 2011 to 2013: values are not "
                "compared, orders are. Errors in brackets are of predictions rounded to a level.",
            ),
        )


def claims(ways: Sequence[Way]) -> Iterator[PaperClaim]:
    """What the paper's curves show, in both directions together."""
    for words, kind in MAPS.items():
        lower = {way.title: error(way, kind) for way in ways}
        if not any(lower.values()):
            continue
        for baseline in BASELINES:
            other = {way.title: error(way, (baseline, "none")) for way in ways}
            told = f"{words} below {baseline}"
            yield PaperClaim.of_figures(told, _known(lower), _known(other))
        for axis, less in (("overlap", "people link"), ("keep", "target ratings are kept")):
            held = {way.title: falls(way, kind, axis) for way in ways}
            yield PaperClaim.of_cases(f"{words} errs less the more {less}", "falls", held)
    held = {f"{way.title}, {method}": relaxed(way, method) for way in ways for method in SURFACES}
    yield PaperClaim.of_cases(
        "X-Map errs less at the largest epsilons than at the least", "falls", held
    )


def error(way: Way, kind: Kind) -> float | None:
    """MAE where everybody links and nothing is kept."""
    row = way.along(*kind, "overlap").get(1.0)
    return None if row is None else row.mae


def _known(figures: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if value is not None}


def falls(way: Way, kind: Kind, axis: str) -> bool:
    """Whether the error is lower at the far end of the axis than at the near one."""
    rows = way.along(*kind, axis)
    return mean([rows[max(rows)]]) < mean([rows[min(rows)]])


def relaxed(way: Way, method: str) -> bool:
    """Whether the error at the largest pair of epsilons is below that at the least."""
    mine = [row for row in way.pairs if row.method == method]
    by = sorted(mine, key=lambda row: (row.epsilon or 0, row.neighbour_epsilon or 0))
    return mean(by[-1:]) < mean(by[:1])


def table(ways: Sequence[Way], overlap: float) -> Table:
    """Every system at one overlap, a column a direction; rounded to levels in brackets."""
    lines: list[tuple[str, ...]] = []
    for first in firsts(ways[0].lines):
        rows = [way.along(first.method, first.mode, "overlap").get(overlap) for way in ways]
        lines.append((f"{first.method}, {first.claim}", *map(cell, rows)))
    heading = ("system", *(way.title for way in ways))
    return Table(f"MAE where {overlap:.0%} link", heading, tuple(lines))


def cell(row: TrialRow | None) -> str:
    """A row's error, and that of rounded predictions."""
    return NOTHING if row is None else f"{row.mae:.4f} ({row.mae_rounded:.4f})"


def choices(ways: Sequence[Way]) -> Table:
    """What damping and everybody's AlterEgos change, a column a direction."""
    lines = tuple(
        (f"{rows[0].method}, damping {rows[0].damping}", *map(cell, rows))
        for rows in zip(*(way.choices for way in ways), strict=True)
    )
    heading = ("system", *(way.title for way in ways))
    return Table("Damping, and whose AlterEgos are used", heading, lines)


def decays(ways: Sequence[Way]) -> Table:
    """The error at every decay, of the maps by items."""
    lines = tuple(
        (way.title, row.method, f"{row.decay:g}", f"{row.mae:.5f}")
        for way in ways
        for row in way.temporal
    )
    return Table("MAE where older ratings count less", ("way", "system", "decay", "MAE"), lines)


def spreads(ways: Sequence[Way]) -> Table:
    """The lowest and the highest error over all pairs of epsilons."""
    lines: list[tuple[str, ...]] = []
    for way in ways:
        for method in SURFACES:
            maes = [mean([row]) for row in way.pairs if row.method == method]
            lines.append((way.title, method, f"{min(maes):.4f}", f"{max(maes):.4f}"))
    heading = ("way", "system", "lowest MAE", "highest MAE")
    return Table("Over all pairs of epsilons", heading, tuple(lines))
