"""X-Map's figures remade: MAE against k, links, kept ratings, and over pairs of epsilons.

    python benchmarks/x_map_figures.py SOURCE TARGET [--names A,B] --figure OUT.svg --json OUT.json

Both directions, seed 0. What is not on an axis stays: everybody links, nothing is kept, k is 50,
`x-map` claims .3 and .8 (items) or .6 and .3 (people), strict systems keep epsilon 8 per person.
Rows are kept beside OUT.json as they are finished; started again, it goes on from there.
"""

# matplotlib's own annotations leave keyword arguments and arrays of panels half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import get_args

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit import read
from tacit.crossdomain import changed, systems
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System
from tacit.crossdomain.x_map.x_map import AlterEgos
from tacit.engines.local import Local
from tacit.evaluation import grid
from tacit.evaluation.comparison.figures import MARKERS, PALETTE
from tacit.evaluation.crossdomain.figures import STROKES, Styles, lines, tiles
from tacit.evaluation.crossdomain.request import TrialExperiment, TrialRunner
from tacit.evaluation.crossdomain.rows import TrialRow
from tacit.evaluation.crossdomain.sweeps import PUBLISHED_K, Surface, Sweep
from tacit.evaluation.journal import Journal
from tacit.evaluation.progress import bar
from tacit.evaluation.results import save

NAMES = (
    "nx-map", "nx-map-everybody", "x-map", "x-map-strict", "x-map-factors", "taste-map",
    "mf-merged", "emcdr", "item-offset", "item-average", "remote-user", "knn-linked", "knn-single",
)  # fmt: skip
# The eighth has the colour of the first, and so on: pairs that nobody mistakes for one another.
METHODS = (
    "nx-map (item)", "nx-map (user)", "x-map-strict", "x-map-factors", "knn-linked (item)",
    "remote-user (user)", "item-average", "x-map (item), claim fails", "x-map (user), claim fails",
    "taste-map", "mf-merged", "knn-single (item)", "item-offset", "nx-map-everybody (item)",
    "nx-map-everybody (user)", "x-map-everybody (item), claim fails",
    "x-map-everybody (user), claim fails", "emcdr",
)  # fmt: skip
PRINTED = ("nx-map", "x-map")
PUBLISHED = {"item": "1.1", "user": "0.9"}
STRICT = "8"
KS = (5, 10, 50, 100)
OVERLAPS = (0.2, 0.5, 0.8, 1.0)
KEEPS = (0, 3, 6)
EPSILONS = ("0.1", "0.3", "0.6", "0.9")
DECAYS = (0.01, 0.03, 0.1, 0.3)
DAMPINGS = (0, 50)
AXES = ("k", "overlap", "keep")
SURFACES = ("x-map (item), claim fails", "x-map (user), claim fails")

Asked = tuple[System, str | None, Holdout]


def declared(names: Sequence[str]) -> Iterator[tuple[System, str | None]]:
    """Every system of those names, and what it is told to promise."""
    for name in names:
        for system in systems(name, "both"):
            claims = {
                "none": None,
                "faithful": PUBLISHED.get(system.variant or ""),
                "strict": STRICT,
            }
            yield system, claims[system.mode]


def swept(names: Sequence[str]) -> Iterator[Asked]:
    """What the lines show: one axis changes at a time."""
    for system, epsilon in declared(names):
        every = [changed(system, k=k) for k in KS] if "k" in vars(system) else [system]
        yield from ((each, epsilon, Holdout()) for each in every)
        for overlap in OVERLAPS[:-1]:
            yield system, epsilon, Holdout(overlap=overlap)
        for keep in KEEPS[1:]:
            yield system, epsilon, Holdout(keep=keep)


def paired() -> Iterator[Asked]:
    """`x-map` by items and by people at every pair of epsilons."""
    for published, second, first in product(systems("x-map", "faithful"), EPSILONS, EPSILONS):
        yield changed(published, neighbour_epsilon=second), first, Holdout()


def decaying(names: Sequence[str]) -> Iterator[Asked]:
    """The maps by items, older ratings counting less."""
    for system, epsilon in declared(names):
        if system.variant == "item" and "decay" in vars(system):
            for decay in DECAYS:
                yield changed(system, decay=decay), epsilon, Holdout()


def chosen(names: Sequence[str]) -> Iterator[Asked]:
    """Both maps, with similarities damped or not, and AlterEgos of the tested or of everybody:
    each as printed, and with what Tacit's `nx-map-everybody` adds, one thing at a time."""
    for system, epsilon in declared([name for name in names if name in PRINTED]):
        for damping, alteregos in product(DAMPINGS, get_args(AlterEgos)):
            yield changed(system, damping=damping, alteregos=alteregos), epsilon, Holdout()


class Measured:
    """Rows of one direction, measured unless the journal has them."""

    def __init__(
        self, domains: Domains, target: int, names: Sequence[str], journal: Journal[TrialRow]
    ) -> None:
        self._domains, self._target, self._journal = domains, target, journal
        self._data = grid.fingerprint(domains.ratings)
        self._run = TrialRunner(domains, Local())
        self.lines = self._rows(swept(names), "lines")
        self.pairs = self._rows(paired(), "pairs")
        self.decays = self._rows(decaying(names), "decay")
        self.choices = self._rows(chosen(names), "choices")

    @property
    def title(self) -> str:
        """The direction."""
        return f"{self.lines[0].source} to {self.lines[0].target}"

    @property
    def shown(self) -> list[TrialRow]:
        """The rows that have a line: strict means have one in tables alone."""
        return [r for r in self.lines if r.mode != "strict" or r.model.startswith("x-map")]

    @property
    def temporal(self) -> list[TrialRow]:
        """The rows of systems that may decay, at every decay and none."""
        able = {row.method for row in self.decays}
        none = [row for row in self.lines if row.method in able]
        return [r for r in none if (r.k, r.overlap, r.keep) == (PUBLISHED_K, 1, 0)] + self.decays

    def at(self, method: str, mode: str, overlap: float) -> TrialRow:
        """The row of a system with nothing kept and the published k."""
        (row,) = (
            row for row in self.lines
            if (row.method, row.mode, row.overlap, row.keep) == (method, mode, overlap, 0)
            and row.k in (None, PUBLISHED_K)
        )  # fmt: skip
        return row

    def _rows(self, asked: Iterator[Asked], title: str) -> list[TrialRow]:
        trials = sorted(asked, key=lambda one: (one[2].overlap, one[2].keep))
        cells = [
            TrialExperiment(
                data=self._data, names=self._domains.names, target=self._target,
                system=system, epsilon=epsilon, protocol=protocol, seed=0,
            )
            for system, epsilon, protocol in trials
        ]  # fmt: skip
        with bar(title) as progress:
            grid.run(cells, self._run, self._journal, progress)
        rows = self._journal.rows(cell.key for cell in cells)
        return sorted(rows, key=lambda row: METHODS.index(row.method))


def drawn(ways: Sequence[Measured], path: Path) -> None:
    """A column a direction, a row an axis; then decay, and the surfaces of `x-map`."""
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    page = Figure(figsize=(4.2 * len(ways), 19.8), layout="constrained")
    panels = page.subplots(len(AXES) + 1 + len(SURFACES), len(ways), squeeze=False)
    styles = Styles(ways[0].shown)
    for column, way in enumerate(ways):
        for row, axis in enumerate(AXES):
            lines(panels[row][column], Sweep(axis, way.shown), styles)
        alike(list(panels[: len(AXES), column]))
        lines(panels[len(AXES)][column], Sweep("decay", way.temporal), styles)
        spaced(panels[len(AXES)][column], (0, *DECAYS))
        for row, method in enumerate(SURFACES, len(AXES) + 1):
            mine = [pair for pair in way.pairs if pair.method == method]
            tiles(panels[row][column], Surface(method, mine))
        panels[0][column].set_title(way.title, fontsize=11, pad=18)
    for row in panels[: len(AXES) + 1]:
        row[0].set_ylabel("mean absolute error", fontsize=9)
    page.legend(
        handles=[entry(row, styles) for row in firsts(ways[0].shown)],
        loc="outside lower center", ncols=3, frameon=False, fontsize=8,
    )  # fmt: skip
    page.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def spaced(axes: Axes, places: Sequence[float]) -> None:
    """Decays as far apart as their ratios, but for 0, which has none."""
    axes.set_xscale("symlog", linthresh=min(filter(None, places)), linscale=0.5)
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.autoscale(axis="x")


def alike(panels: Sequence[Axes]) -> None:
    """One range for all panels of a column."""
    ends = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def firsts(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """One row of each method and mode."""
    return list({(row.method, row.mode): row for row in reversed(rows)}.values())[::-1]


def entry(row: TrialRow, styles: Styles) -> Line2D:
    """A line of the legend: the system, and what it promises."""
    hue, marker = styles.of(row.method)
    promise = f", {row.claim} per person" if row.mode == "strict" else ""
    return Line2D(
        [], [], color=PALETTE[hue], marker=MARKERS[marker], markersize=4,
        linestyle=STROKES[row.mode], label=f"{row.method}{promise}",
    )  # fmt: skip


def table(ways: Sequence[Measured], overlap: float) -> str:
    """Every system at one overlap, a column a direction; rounded to levels in brackets."""
    said = [f"overlap {overlap:g} | " + " | ".join(way.title for way in ways)]
    for first in firsts(ways[0].lines):
        rows = [way.at(first.method, first.mode, overlap) for way in ways]
        cells = [f"{row.mae:.4f} ({row.mae_rounded:.4f})" for row in rows]
        said.append(" | ".join([f"{first.method}, {first.claim}", *cells]))
    return "\n".join(said)


def choices(ways: Sequence[Measured]) -> str:
    """What damping and everybody's AlterEgos change, a column a direction."""
    said = ["damping | " + " | ".join(way.title for way in ways)]
    for rows in zip(*(way.choices for way in ways), strict=True):
        maes = " | ".join(f"{row.mae:.4f} ({row.mae_rounded:.4f})" for row in rows)
        said.append(f"{rows[0].method}, {rows[0].damping} | {maes}")
    return "\n".join(said)


def spread(way: Measured, method: str) -> str:
    """The lowest and the highest error over all pairs of epsilons."""
    maes = [row.mae for row in way.pairs if row.method == method]
    return f"{way.title}, pairs of epsilons: {method} {min(maes):.4f} to {max(maes):.4f}"


def decay(way: Measured) -> str:
    """The error at every decay, of the maps by items."""
    said = ", ".join(f"{r.method} {r.mae:.5f} at {r.decay:g}" for r in way.temporal)
    return f"{way.title}, decay: {said}"


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs=2)
    parser.add_argument("--names", type=lambda text: text.split(","), default=[None, None])
    parser.add_argument("--systems", type=lambda text: text.split(","), default=NAMES)
    parser.add_argument("--scale", default="1:5:1")
    parser.add_argument("--figure", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    asked = parser.parse_args()
    files = zip(asked.ratings, asked.names, strict=True)
    domains = Domains.join([read(path, scale=asked.scale, name=name) for path, name in files])
    journal = Journal(asked.json.with_name(asked.json.name + ".journal"), TrialRow)
    ways = [Measured(domains, target, asked.systems, journal) for target in (1, 0)]
    every = [row for w in ways for row in (*w.lines, *w.pairs, *w.decays, *w.choices)]
    save(list(dict.fromkeys(every)), asked.json, TrialRow)
    for overlap in OVERLAPS:
        print(table(ways, overlap), end="\n\n")
    print(choices(ways), end="\n\n")
    print(*map(decay, ways), sep="\n")
    print(*(spread(way, method) for way in ways for method in SURFACES), sep="\n")
    drawn(ways, asked.figure)


if __name__ == "__main__":
    main()
