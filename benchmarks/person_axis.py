"""One axis, a person's epsilon: what every way to learn is worth, on several sets of ratings.

    python benchmarks/person_axis.py NAME=RATINGS@EPSILONS@DELTA@PLANS ... [--models NAMES]
                                     [--scale 1:5:1] [--rows FOLDER] [--figure OUT.svg]

As `tacit compare --person-epsilon`: device RMSE, a tenth held out by `default_rng(0)`. PLANS are
`sample,catalogue` or one of them: a catalogue of many people takes hours. FOLDER keeps a journal a
set, so that what is there is not measured again.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from tacit import read
from tacit.collection.named_plans import IDENTITY
from tacit.experiments.comparison.comparison import Comparison
from tacit.experiments.comparison.user_level import UserLevelComparison, on_axis
from tacit.experiments.experiment import Journal
from tacit.progress import bar
from tacit.results.comparison.row import ResultRow

MODELS = "channel-mf,pg-mf,dpals,dp-covariance"
COLOURS = ("tab:blue", "tab:cyan", "tab:green", "tab:red", "tab:purple")


@dataclass(frozen=True)
class Way:
    """A line of the figure: who is trusted, what learns, and its device RMSE by epsilon."""

    trust: str
    name: str
    errors: dict[float | None, float]


@dataclass(frozen=True)
class RatingSet:
    """A set of ratings, and what people are asked: `NAME=RATINGS@EPSILONS@DELTA@PLANS`."""

    name: str
    path: str
    epsilons: tuple[str, ...]
    delta: str
    plans: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "RatingSet":
        name, _, told = text.partition("=")
        path, epsilons, delta, plans = told.rsplit("@", 3)
        return cls(name, path, tuple(epsilons.split(",")), delta, tuple(plans.split(",")))


def axis(
    data: RatingSet, models: Sequence[str], scale: str | None, folder: Path | None
) -> list[Way]:
    """All ways on one set, those without privacy last."""
    ratings = read(data.path, scale=scale)
    every = Comparison(channels=("auto",), models=models, epsilons=data.epsilons, delta=data.delta)
    wanted = UserLevelComparison(epsilons=data.epsilons, every=every, kinds=data.plans)
    terms = wanted.terms(ratings)
    for (kind, epsilon), each in terms.items():
        print(f"{kind} at {epsilon}: {each.words}; a person has {each.person.epsilon}")
    place = None if folder is None else folder / f"{ratings.name}.journal"
    with bar(ratings.name) as progress:
        rows = wanted.experiment(ratings, terms).rows(Journal(place, ResultRow), progress)
    return by_way(on_axis(rows, terms))


def by_way(rows: Sequence[ResultRow]) -> list[Way]:
    """The rows of devices, by what learns from what."""
    found: dict[tuple[str, str], dict[float | None, float]] = {}
    for row in rows:
        if row.where == "device" and row.rmse is not None:
            source = row.channel if row.channel not in (None, IDENTITY) else ""
            name = f"{row.model}, {source.removeprefix('auto, ')}" if source else row.model
            trust = "all told" if row.epsilon is None else f"trusting {row.trust}"
            found.setdefault((trust, name), {})[row.epsilon] = row.rmse
    return [Way(trust, name, errors) for (trust, name), errors in found.items()]


def shown(name: str, found: Sequence[Way], epsilons: Sequence[str]) -> str:
    """A Markdown table."""
    lines = [f"| {name} | |" + " | ".join(epsilons) + " |", "|---|---|" + "---|" * len(epsilons)]
    for way in found:
        cells = [way.errors.get(float(each), way.errors.get(None)) for each in epsilons]
        told = ["–" if cell is None else f"{cell:.3f}" for cell in cells]
        lines.append(f"| {way.name} | {way.trust} | " + " | ".join(told) + " |")
    return "\n".join(lines)


def drawn(sets: dict[str, list[Way]], path: Path) -> None:
    """One panel a set; dashed trusts a curator, and no privacy is a line across."""
    figure = Figure(figsize=(4.2 * len(sets), 4.0), layout="constrained")
    panels = figure.subplots(1, len(sets), squeeze=False)[0]
    names = sorted({way.name for ways in sets.values() for way in ways if None not in way.errors})
    lines = {}
    for axes, (title, found) in zip(panels, sets.items(), strict=True):
        asked = sorted({e for way in found for e in way.errors if e is not None})
        for way in found:
            if None in way.errors:
                lines["no privacy"] = axes.axhline(way.errors[None], color="black", linestyle=":")
                continue
            style = "-" if way.trust == "trusting nobody" else "--"
            colour = COLOURS[names.index(way.name) % len(COLOURS)]
            points = [way.errors.get(e, math.nan) for e in asked]
            (lines[way.name],) = axes.plot(asked, points, style, marker="o", color=colour)
        axes.set(xscale="log", xlabel="epsilon per person, nats", ylabel="device RMSE", title=title)
        axes.set_xticks(asked, [f"{e:g}" for e in asked], minor=False)
        axes.xaxis.set_minor_locator(NullLocator())
    figure.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    with mpl.rc_context({"svg.hashsalt": "tacit"}):
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print a table a set, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--scale")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    if asked.rows:
        asked.rows.mkdir(parents=True, exist_ok=True)
    found = {}
    for each in map(RatingSet.parse, asked.sets):
        ways = axis(each, asked.models.split(","), asked.scale, asked.rows)
        found[each.name] = ways
        print("\n" + shown(each.name, ways, each.epsilons) + "\n", flush=True)
    if asked.figure:
        drawn(found, asked.figure)


if __name__ == "__main__":
    main()
