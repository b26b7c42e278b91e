"""X-Map's figures: MAE against k, links, kept ratings and decay, and over pairs of epsilons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit.crossdomain.domains import Domains
from tacit.reporting.table import NOTHING, Table
from tacit.results.crossdomain.rows import TrialRow, mean
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.verdict import ClaimVerdict
from tacit_studies.x_map.panels import SURFACES, drawn, firsts
from tacit_studies.x_map.trials import Axes, Way, ends, measured

NAMES = (
    "nx-map", "nx-map-everybody", "x-map", "x-map-strict", "x-map-factors", "taste-map",
    "mf-merged", "emcdr", "item-offset", "item-average", "remote-user", "knn-linked", "knn-single",
)  # fmt: skip
Kind = tuple[str, str]
"""A method, and its mode."""
MAPS: dict[str, Kind] = {
    "NX-Map by items": ("nx-map (item)", "none"),
    "NX-Map by users": ("nx-map (user)", "none"),
    "X-Map by items": ("x-map (item), claim fails", "faithful"),
    "X-Map by users": ("x-map (user), claim fails", "faithful"),
}
BASELINES: dict[str, Kind] = {
    "item-average": ("item-average", "none"),
    "remote-user": ("remote-user (user)", "none"),
    "knn-linked, undamped as the maps": ("knn-linked (item)", "undamped"),
    "knn-linked, damped": ("knn-linked (item)", "none"),
}
LEAST = 0.005
"""The least difference of MAE."""
Draws = Mapping[str, Sequence[Way]]
"""The rows of every draw of test users, by direction."""


@dataclass(frozen=True)
class Figures:
    """The `systems` in both directions along every axis; epsilons in nats.

    Tables and figures have one draw of test users. The claims have `seeds` draws, at the ends of
    the axes.
    """

    systems: tuple[str, ...] = NAMES
    ks: tuple[int, ...] = (5, 10, 50, 100)
    overlaps: tuple[float, ...] = (0.2, 0.5, 0.8, 1.0)
    keeps: tuple[int, ...] = (0, 3, 6)
    epsilons: tuple[str, ...] = ("0.1", "0.3", "0.6", "0.9")
    decays: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3)
    seeds: int = 3

    name: ClassVar[str] = "figures"
    title: ClassVar[str] = "Figures of MAE: neighbours, links, kept ratings, decay, epsilons"
    covers: ClassVar[tuple[str, ...]] = ("figures of MAE", "MAE on Amazon")
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Measure every system along every axis, in both directions."""
        axes = Axes(self.systems, self.ks, self.overlaps, self.keeps, self.epsilons, self.decays)
        journal = kept.journal(self.name, TrialRow)
        last = len(data.names) - 1
        ways = [measured(data, target, axes, journal) for target in (last, 0)]
        further = [
            [measured(data, target, axes.judged, journal, seed) for target in (last, 0)]
            for seed in range(1, self.seeds)
        ]
        draws = {each[0].title: each for each in zip(ways, *further, strict=True)}
        return StudyResult(
            claims=tuple(claims(draws, axes)),
            tables=(
                *(table(ways, overlap) for overlap in self.overlaps),
                choices(ways),
                decays(ways),
                spreads(ways),
            ),
            drawing=drawn(ways, self.decays),
            described="MAE of every system in both directions, along each axis of the paper.",
            remarks=(
                f"{self.seeds} draws of test users for the claims, one for tables and figures. "
                "Other data than the paper's Amazon ratings of 2011 to 2013: orders are compared, "
                "and not values. The paper states no damping, of its systems or of kNN, so that "
                "kNN is judged with and without. Errors in brackets are of predictions rounded to "
                "a level.",
            ),
        )


def claims(draws: Draws, axes: Axes) -> Iterator[PaperClaim]:
    """Judge what the paper's curves show, in both directions and at both ends of the axes."""
    shares = ends(axes.overlaps)
    for words, kind in MAPS.items():
        for baseline, other in BASELINES.items():
            claim = PaperClaim.of_draws(
                f"{words} below {baseline}",
                errors(draws, kind, "overlap", shares),
                errors(draws, other, "overlap", shares),
                least=LEAST,
            )
            if claim.verdict != ClaimVerdict.OPEN:
                yield claim
        for axis, values, less in (
            ("overlap", axes.overlaps, "users link"),
            ("keep", axes.keeps, "target ratings are kept"),
        ):
            near, far = (errors(draws, kind, axis, [end(map(float, values))]) for end in (min, max))
            if len(set(values)) > 1 and near:
                yield PaperClaim.of_draws(
                    f"{words} errs less the more {less}",
                    directions(far),
                    directions(near),
                    least=LEAST,
                )
    yield PaperClaim.of_draws(
        "X-Map errs less at the largest epsilons than at the least",
        paired(draws, -1),
        paired(draws, 0),
        least=LEAST,
    )


def errors(draws: Draws, kind: Kind, axis: str, places: Sequence[float]) -> dict[str, list[float]]:
    """Return the MAE of a system in every draw, by direction and place on an axis."""
    cases = {
        f"{title}, {axis} {place:g}": [way.along(*kind, axis).get(place) for way in ways]
        for title, ways in draws.items()
        for place in places
    }
    return {
        case: [row.mae for row in rows if row is not None and row.mae is not None]
        for case, rows in cases.items()
        if None not in rows
    }


def directions(cases: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Name cases by their direction alone."""
    return {name.partition(",")[0]: figures for name, figures in cases.items()}


def paired(draws: Draws, place: int) -> dict[str, list[float]]:
    """Return the MAE of X-Map in every draw, by direction and variant, at the pair of epsilons of
    that place in their order."""

    def error(way: Way, method: str) -> float:
        mine = [row for row in way.pairs if row.method == method]
        mine.sort(key=lambda row: (row.epsilon or 0, row.neighbour_epsilon or 0))
        return mean([mine[place]])

    return {
        f"{title}, {method}": [error(way, method) for way in ways]
        for title, ways in draws.items()
        for method in SURFACES
    }


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
