"""HTML report on attacks, computed from result rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from tacit.audit.attacks import ATTACKS
from tacit.audit.attacks.reconstruction import KNOWN as STARS
from tacit.reporting.page import FailedClaim, FigurePanel, Provenance, ReportFigure, render
from tacit.reporting.panel import PALETTE as COLORS
from tacit.reporting.panel import LegendEntry, Line, Panel, Point, ReferenceLine, marker, style
from tacit.reporting.table import Table, epsilon_per
from tacit.results.attacks.rows import EXPERIMENT, AttackRow, digits_of, leaks, tables, under
from tacit.results.guarantee_text import plugged

ENDS = (-0.03, 1.06)
Way = tuple[str | None, str | None]


@dataclass(frozen=True)
class AttackPanel:
    """One attack under one plan and channel: the first metric of each setting, a share."""

    way: Way
    rows: Sequence[AttackRow]
    digits: int

    @property
    def title(self) -> str:
        """Plan and channel."""
        return ", ".join(str(part) for part in self.way if part is not None)

    @property
    def epsilons(self) -> list[float]:
        """Epsilons of the points, ascending, in nats."""
        return sorted({row.epsilon for row in self.rows if row.epsilon is not None})

    def points(self, name: str) -> list[Point]:
        """Return the shares, with their deviation over draws or the standard error of a single
        one."""
        points: list[Point] = []
        for epsilon, mine in self._by_epsilon(name).items():
            values = [row.value for row in mine]
            spread = pstdev(values) if len(values) > 1 else mine[0].error
            points.append(self._point(epsilon, fmean(values), spread))
        return points

    def baseline_points(self, name: str) -> list[Point]:
        """Return the baseline at each epsilon, in most attacks the success without reports."""
        groups = self._by_epsilon(name)
        return [
            self._point(e, fmean(row.baseline for row in mine), 0.0) for e, mine in groups.items()
        ]

    def is_constant(self, name: str) -> bool:
        """Return whether the baseline is constant, and drawn as one dashed line."""
        return len({f"{at:.6f}" for _, at, _, _ in self.baseline_points(name)}) < 2

    @property
    def baselines(self) -> list[ReferenceLine]:
        """Constant baselines, by the settings that share them."""
        alike: dict[str, list[str]] = {}
        for name in filter(self.is_constant, dict.fromkeys(row.setting for row in self.rows)):
            alike.setdefault(f"{self.baseline_points(name)[0][1]:.6f}", []).append(name)
        found: list[ReferenceLine] = []
        for names in alike.values():
            _, at, _, text = self.baseline_points(names[0])[0]
            words = "baseline" if len(alike) == 1 else f"{' or '.join(names)}, baseline"
            found.append(ReferenceLine(words, at, text))
        return found

    def panel(self, names: Sequence[str]) -> Panel:
        """Return the panel with a line per setting in `names`."""
        ticks = [(epsilon, f"{epsilon:g}") for epsilon in self.epsilons]
        axis = epsilon_per(self.rows)
        return Panel(self.title, axis, ticks, ENDS, list(self._lines(names)), self.baselines)

    def _lines(self, names: Sequence[str]) -> Iterator[Line]:
        for number, name in enumerate(names):
            yield Line(name, *style(number), "solid", self.points(name))
            if not self.is_constant(name):
                points = self.baseline_points(name)
                yield Line(f"{name}, baseline", *style(number), "baseline", points)

    def _point(self, epsilon: float, at: float, spread: float) -> Point:
        return epsilon, at, spread, f"{at:.{self.digits}f}"

    def _by_epsilon(self, name: str) -> dict[float, list[AttackRow]]:
        mine = [row for row in self.rows if row.setting == name]
        groups = {e: [row for row in mine if row.epsilon == e] for e in self.epsilons}
        return {epsilon: rows for epsilon, rows in groups.items() if rows}


def attack_figure(rows: Sequence[AttackRow]) -> ReportFigure | None:
    """Return the figure of one attack. None without rows at an epsilon."""
    first = {row.setting: row.figure for row in reversed(rows)}
    shown = [row for row in rows if row.epsilon is not None and first[row.setting] == row.figure]
    if not shown:
        return None
    names, digits = _changing(shown), digits_of(rows)
    known = [row for row in shown if row.setting in names]
    ways = dict.fromkeys((row.plan, row.channel) for row in known)
    groups = [[row for row in known if (row.plan, row.channel) == way] for way in ways]
    panels = [
        AttackPanel(way, mine, digits).panel(names) for way, mine in zip(ways, groups, strict=True)
    ]
    legend = [marker(name, *style(number)) for number, name in enumerate(names)]
    return ReportFigure(
        f"{', '.join(dict.fromkeys(row.figure for row in known))}, as a share",
        f", against {epsilon_per(shown)} on a log scale: left is more private. {_spread(shown)}"
        f"{_omitted(shown, names)}",
        [*legend, LegendEntry(f"baseline: {rows[0].beside}", stroke="mean")],
        [_figure_panel(rows[0].attack, each, number) for number, each in enumerate(panels)],
    )


def _figure_panel(attack: str, panel: Panel, number: int) -> FigurePanel:
    words = panel.describe(f"{attack}, {panel.title}")
    return FigurePanel.of(panel, f"{attack}-{number}", words)


def _changing(rows: Sequence[AttackRow]) -> list[str]:
    """Return the settings that depend most on epsilon and channel, at most one per color."""
    values_of: dict[str, list[float]] = {}
    for row in rows:
        values_of.setdefault(row.setting, []).append(row.value)
    ranges = {name: max(values) - min(values) for name, values in values_of.items()}
    most = sorted(ranges, key=lambda name: -ranges[name])[: len(COLORS)]
    changing = [name for name in values_of if name in most and ranges[name] > 0]
    return changing or list(values_of)[: len(COLORS)]


def _omitted(rows: Sequence[AttackRow], names: Sequence[str]) -> str:
    every = len({row.setting for row in rows})
    if every == len(names):
        return ""
    return (
        f" The {len(names)} of {every} lines that depend most on epsilon are shown; the table "
        "lists all."
    )


def _spread(rows: Sequence[AttackRow]) -> str:
    seeds = len({row.seed for row in rows})
    return f"Bars are a standard {'error' if seeds == 1 else f'deviation over {seeds} draws'}."


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


KNOWN = 8
LINKED = (f"{KNOWN} random items with stars", "top-1")


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
