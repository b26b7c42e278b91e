"""Xian et al.'s Figure 2: RMSE against epsilon of noise in training, beside floors and channel-mf.

    python benchmarks/xian_figure_2.py RATINGS [--name NAME] [--netflix FILE] [--noises 5]
                                       [--epsilons 0.5,1,2,5,10,16] [--rows OUT] [--figure OUT.svg]
                                       [--methods NAMES] [--ridge L] [--rounds K] [--factors D]
                                       [--count own] [--y mean]

Constants that are lost may be given, for the methods as published and for psgd and pals: those that
`xian_constants.py` finds best on made-up ratings, say. Rows that are in OUT already (one JSON a
line) are not measured again. RATINGS stand for the paper's MovieLens 1M, and are called NAME, or
else what their reader calls them. A Netflix Prize file is sampled to a million ratings: those of
the people with the smallest public hashes, whole profiles, until a million is reached. Without one,
panel (b) is missing; where only some methods are asked for, nothing is drawn.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from followed import followed
from tacit import Rated, choose, fit, perturb, read
from tacit.collection.public_hash import hashes
from tacit.metrics.accuracy import rmse
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings
from tacit.training import TRAININGS, FaithfulSVD
from tacit.training.papers.berlioz import Berlioz

Row = dict[str, Any]
Fit = tuple[str, str, str | None, int, Callable[[], Any]]
CONSTANTS = ("ridge", "rounds", "factors", "count", "y")
KEYS = ("data", "method", "mode", "epsilon", "noise")
EPSILONS = "0.5,1,2,5,10,16"
NETFLIX = 1_000_000
FLOORS = {"global-mean": "global mean", "bias": "biases", "svdpp": "svdpp", "svd": ""}
COLOURS = {
    "channel-mf": "black", "dp-bias": "0.5", "dpss": "tab:blue", "dpsaobj": "tab:red",
    "dpsaout": "tab:green", "psgd": "tab:purple", "pals": "tab:brown",
}  # fmt: skip


class Asked(argparse.Namespace):
    """What is measured, and with which constants."""

    noises: int
    epsilons: list[str]
    methods: list[str] | None
    rows: Path

    @property
    def constants(self) -> dict[str, Any]:
        """Those that were given."""
        known = {name: getattr(self, name) for name in CONSTANTS}
        return {name: value for name, value in known.items() if value is not None}


def errors(name: str, ratings: Ratings, asked: Asked) -> list[Row]:
    """One row a method, mode, epsilon and noise: split 0, errors on true ratings."""
    held = SplitProtocol().test(ratings, 0, None)
    train, test = ratings.where(~held), ratings.where(held)
    rows = asked.rows
    done = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    known = {tuple(row[key] for key in KEYS) for row in done}
    left = [one for one in fits(train, asked) if (name, *one[:4]) not in known]
    for method, mode, epsilon, noise, fitted in followed(name, left):
        predicted = fitted().predict_codes(test.users, test.items)
        error = rmse(test.values, np.clip(predicted, *ends(ratings)))
        values = (name, method, mode, epsilon, noise, error)
        done.append(dict(zip((*KEYS, "rmse"), values, strict=True)))
        with rows.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    return [row for row in done if row["data"] == name]


def fits(train: Ratings, asked: Asked) -> Iterator[Fit]:
    """Every method, mode, epsilon and noise that is asked for, and what fits it."""
    for one in every_fit(train, asked):
        if asked.methods is None or one[0] in asked.methods:
            yield one


def every_fit(train: Ratings, asked: Asked) -> Iterator[Fit]:
    """Every method, mode, epsilon and noise, and what fits it."""
    for name in FLOORS:
        yield name, "none", None, 0, partial(fit, name, train)
    for noise in range(asked.noises):
        for epsilon in asked.epsilons:
            yield "channel-mf", "nobody trusted", epsilon, noise, partial(told, train, epsilon)
            for (name, mode), member in TRAININGS.items():
                if "curator" in member.where:
                    changed = with_constants(member, asked.constants)
                    run = partial(changed.fit, train, epsilon=epsilon, rng=noise)
                    yield name, mode, epsilon, noise, run


def with_constants(member: Any, constants: dict[str, Any]) -> Any:
    """A paper's training with those constants that it has; any other as it is."""
    if not isinstance(member, FaithfulSVD | Berlioz):
        return member
    has = {field.name for field in fields(member)}
    return replace(member, **{name: value for name, value in constants.items() if name in has})


def told(train: Ratings, epsilon: str) -> Any:
    """channel-mf on reports through the channel that auto picks."""
    channel = choose(epsilon=epsilon, scale=train.scale)[1]
    return fit("channel-mf", perturb(train, Rated(channel)))


def ends(ratings: Ratings) -> tuple[float, float]:
    """The ends of the scale."""
    return float(ratings.scale.low), float(ratings.scale.high)


def sampled(ratings: Ratings) -> Ratings:
    """Whole profiles in the order of their public hashes, as many as `NETFLIX` ratings hold."""
    order = np.argsort(hashes(ratings.user_ids))
    counts = np.bincount(ratings.users, minlength=ratings.n_users)[order]
    chosen = np.zeros(ratings.n_users, np.bool_)
    chosen[order[np.cumsum(counts) <= NETFLIX]] = True
    return ratings.where(chosen[ratings.users])


def means(rows: list[Row]) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Mean and deviation over noises of each (name, mode, epsilon)."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["mode"], row["epsilon"]), []).append(row["rmse"])
    return {key: (fmean(values), pstdev(values)) for key, values in groups.items()}


def drawn(panels: dict[str, list[Row]], epsilons: list[str], path: Path) -> None:
    """One panel a data set and mode."""
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    modes, at = ("strict", "faithful"), [float(e) for e in epsilons]
    shown = [(name, mode) for name in panels for mode in modes]
    page = Figure(figsize=(3.8 * len(shown), 4), layout="constrained")
    for axes, (name, mode) in zip(page.subplots(1, len(shown), sharey=True), shown, strict=True):
        found = means(panels[name])
        methods = dict.fromkeys(m for m, kind, e in found if e and kind in (mode, "nobody trusted"))
        for method in methods:
            kind = "nobody trusted" if method == "channel-mf" else mode
            points = [found[method, kind, e][0] for e in epsilons]
            style = "--" if method == "channel-mf" else "-" if "++" in method else ":"
            colour = COLOURS[method.removesuffix("++")]
            axes.plot(at, points, style, color=colour, marker="o", ms=3, label=method)
        for floor, words in FLOORS.items():
            axes.axhline(found[floor, "none", None][0], color="0.6", lw=0.7)
            axes.annotate(words, (0.47, found[floor, "none", None][0]), fontsize=7, color="0.4")
        axes.set_xscale("log")
        axes.set_xticks(at, epsilons)
        axes.minorticks_off()
        axes.set_title(f"{name}, {mode}", fontsize=10)
        axes.set_xlabel(
            "epsilon per value, as claimed" if mode == "faithful" else "epsilon per value"
        )
        axes.set_ylim(0.82, 1.15)  # published objective perturbation starts at 1.6
        axes.spines[["top", "right"]].set_visible(False)
    page.axes[0].set_ylabel("RMSE")
    lines = {line.get_label(): line for axes in page.axes for line in axes.get_lines()}
    named = [line for name, line in lines.items() if not str(name).startswith("_")]
    page.legend(handles=named, loc="outside right center", frameon=False, fontsize=7)
    page.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def table(rows: list[Row], epsilons: list[str]) -> str:
    """A line a method and mode: mean and deviation at every epsilon."""
    found = means(rows)
    lines = [f"{'':24s}" + "".join(f"{e:>15s}" for e in epsilons)]
    for name, mode in dict.fromkeys((name, mode) for name, mode, _ in found):
        known = (found.get((name, mode, e)) for e in epsilons)
        flat = found.get((name, mode, None))
        cells = [f"{m:8.4f} ({d:.4f})" for m, d in filter(None, known)]
        cells += [f"{flat[0]:8.4f}"] if flat else []
        lines.append(f"{name:12s}{mode:12.12s}" + "".join(cells))
    return "\n".join(lines)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("--name")
    parser.add_argument("--epsilons", type=lambda text: text.split(","), default=EPSILONS)
    parser.add_argument("--netflix")
    parser.add_argument("--noises", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=Path("xian-figure-2.jsonl"))
    parser.add_argument("--figure", type=Path, default=Path("docs/figures/xian-figure-2.svg"))
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--ridge", type=float)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--factors", type=int)
    parser.add_argument("--count", choices=("all", "own"))
    parser.add_argument("--y", choices=("descent", "mean"))
    asked = parser.parse_args(namespace=Asked())
    ratings = read(asked.ratings, scale="1:5:1", name=asked.name)
    sets = {ratings.name: ratings}
    if asked.netflix:
        sets["Netflix, 10^6"] = sampled(read(asked.netflix))
    else:
        print("Panel (b) of the figure is missing: no Netflix Prize file was given (--netflix).")
    panels = {name: errors(name, data, asked) for name, data in sets.items()}
    for name, rows in panels.items():
        print(name, table(rows, asked.epsilons), sep="\n")
    if asked.methods is None:
        drawn(panels, asked.epsilons, asked.figure)


if __name__ == "__main__":
    main()
