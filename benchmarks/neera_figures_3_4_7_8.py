"""Neera et al.'s Figures 3, 4, 7 and 8: channels and models against epsilon, RMSE and F-score.

    python benchmarks/neera_figures_3_4_7_8.py NAME=RATINGS[@SCALE[@COARSER]] ..
           [--folds 10] [--only-folds 10] [--epsilons .1,.3,.6,1,2,3] [--rows OUT.jsonl]
           [--figure OUT.svg] [--made PEOPLE,ITEMS,RATINGS] [--people N]

Laplace, bounded and clamped Laplace (ISGD's channel), each with `mf-plain` and with `mog-mf`, and
`mf-plain` without privacy; predicted by the provider. Both models in the form that the paper
prints, two factors, and in ours. Figure 3 compares channels, 4 models, 7 and 8 `mog-mf` through
bounded with `mf-plain` through clamped Laplace. F-scores are of ten best test items a person,
relevant from three quarters up the scale: the mean over people, and of one confusion matrix, which
is the paper's. Rows that are in OUT already are not measured again. `--only-folds` measures the
first few of FOLDS. `--made` adds ratings on 1 to 10, made up, in the shape of Libimseti
(135359,168791,17359346) or a cut of it; `--people` leaves so many of each set in FILE, drawn by
`default_rng(0)`. Ratings on a SCALE of more levels than a channel takes are rounded to the nearest
of a COARSER one, as Jester's two decimals are:

    jester=ratings.parquet@-10:10:0.01@-10:10:1
"""

import argparse
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

from followed import followed
from tacit import Rated, Ratings, compile_channel, perturb, read
from tacit.metrics.accuracy import ranking, relevant_from, rmse
from tacit.metrics.split import SplitProtocol
from tacit.models import evidence
from tacit.models.least_squares.mf import MF
from tacit.models.least_squares.mog_mf import PRINTED, MoGMF
from tacit.readers import from_frame, synthetic
from tacit.scale import RatingScale

CHANNELS = {"laplace": "tab:red", "bounded-laplace": "tab:blue", "clamped-laplace": "tab:green"}
FORMS: dict[str, dict[str, Any]] = {
    "printed": {
        "mf-plain": MF(biases=False, factors=2, ridge=0.0, centred=False),
        "mog-mf": replace(PRINTED, factors=2),
    },
    "ours": {"mf-plain": MF(biases=False), "mog-mf": MoGMF()},
}
METRICS = ("rmse", "f_score", "pooled_f_score")


class Case(NamedTuple):
    """What is measured; without privacy `channel` and `epsilon` are empty."""

    data: str
    form: str
    channel: str
    model: str
    epsilon: str
    fold: int


Figures = dict[str, float]


def ratings_of(place: str) -> Ratings:
    """The ratings of FILE[@SCALE[@COARSER]]."""
    path, *scales = place.split("@")
    found = read(path, scale=scales[0] if scales else None)
    if len(scales) < 2:
        return found
    coarser = RatingScale.parse(scales[1])
    step = float(coarser.step)
    rounded = ((found.values - coarser.values[0]) / step).round() * step + coarser.values[0]
    frame = found.to_polars().with_columns(rating=pl.Series(rounded))
    return from_frame(frame, scale=scales[1], name=found.name)


def among(found: Ratings, most: int | None) -> Ratings:
    """The ratings of so many people."""
    if most is None or most >= found.n_users:
        return found
    drawn = np.random.default_rng(0).permutation(found.n_users)[:most]
    frame = found.where(np.isin(found.users, drawn)).to_polars()
    return from_frame(frame, scale=str(found.scale), name=found.name)


def cases(names: list[str], epsilons: list[str], folds: int) -> list[Case]:
    """Every case, fold by fold."""
    told = [(channel, epsilon) for epsilon in epsilons for channel in CHANNELS]
    grid = product(range(folds), names, FORMS, [("", ""), *told], ("mf-plain", "mog-mf"))
    return [
        Case(name, form, channel, model, epsilon, fold)
        for fold, name, form, (channel, epsilon), model in grid
        if channel or model == "mf-plain"
    ]


def measured(case: Case, data: Ratings, folds: int) -> Figures:
    """RMSE and both F-scores on true ratings of the fold."""
    held = SplitProtocol(folds=folds).test(data, 0, case.fold)
    own, test = data.where(~held), data.where(held)
    if case.channel:
        channel = compile_channel(case.channel, epsilon=case.epsilon, scale=own.scale)
        known = evidence(perturb(own, Rated(channel)))
    else:
        known = evidence(own)
    fitted = FORMS[case.form][case.model].fit(known)
    predicted = fitted.predict_codes(test.users, test.items)
    relevant = test.values >= relevant_from(test.scale)
    best = ranking(test.users, test.items, predicted, relevant)
    bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
    return {
        "rmse": rmse(test.values, bounded),
        "f_score": best.f_score,
        "pooled_f_score": best.pooled_f_score,
    }


def followed_rows(
    sets: dict[str, Ratings], wanted: list[Case], folds: int, rows: Path
) -> dict[Case, Figures]:
    """The figures of every case, from the file where it has them."""
    known: dict[Case, Figures] = {}
    for line in rows.read_text().splitlines() if rows.exists() else ():
        case, figures = json.loads(line)
        known[Case(*case)] = figures
    for case in followed("figures", [case for case in wanted if case not in known]):
        known[case] = measured(case, sets[case.data], folds)
        with rows.open("a") as file:
            file.write(json.dumps([case, known[case]]) + "\n")
    return {case: known[case] for case in wanted}


def means(known: dict[Case, Figures]) -> dict[Case, Figures]:
    """Over folds; the fold of a mean is -1."""
    groups: dict[Case, list[Figures]] = {}
    for case, figures in known.items():
        groups.setdefault(case._replace(fold=-1), []).append(figures)
    return {
        case: {metric: fmean(each[metric] for each in every) for metric in METRICS}
        for case, every in groups.items()
    }


def table(found: dict[Case, Figures], epsilons: list[str]) -> str:
    """A line a set, form, channel and model: the three figures at every epsilon."""
    lines: list[str] = []
    for case in dict.fromkeys(case._replace(epsilon="") for case in found):
        at = epsilons if case.channel else [""]
        cells = (
            " / ".join(f"{found[case._replace(epsilon=e)][m]:.3f}" for m in METRICS) for e in at
        )
        name = f"{case.data} {case.form} {case.channel or 'no privacy'} {case.model}"
        lines.append(f"{name:46s}" + "  ".join(cells))
    return "\n".join(lines)


def drawn(found: dict[Case, Figures], epsilons: list[str], target: Path) -> None:
    """A column a data set and form, a row RMSE and a row the pooled F-score."""
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    columns = list(dict.fromkeys((case.data, case.form) for case in found))
    page = Figure(figsize=(3.4 * len(columns), 5.6), layout="constrained")
    panels = page.subplots(2, len(columns), sharex=True, squeeze=False)
    at = [float(epsilon) for epsilon in epsilons]
    for row, metric in enumerate(("rmse", "pooled_f_score")):
        for panel, (data, form) in zip(panels[row], columns, strict=True):
            for channel, model in product(CHANNELS, ("mf-plain", "mog-mf")):
                line = [found[Case(data, form, channel, model, e, -1)][metric] for e in epsilons]
                style = "-" if model == "mog-mf" else ":"
                words = f"{channel}, {model}"
                panel.plot(at, line, style, color=CHANNELS[channel], marker="o", ms=3, label=words)
            open_case = Case(data, form, "", "mf-plain", "", -1)
            panel.axhline(found[open_case][metric], color="0.6", lw=0.8, label="no privacy")
            panel.set_xscale("log")
            panel.spines[["top", "right"]].set_visible(False)
            panel.set_title(f"{data}, {form}" if row == 0 else "", fontsize=10)
        panels[row][0].set_ylabel("RMSE" if row == 0 else "F-score at 10, pooled")
    for panel in panels[1]:
        panel.set_xlabel("epsilon per value")
    entries = panels[0][0].get_legend_handles_labels()
    page.legend(*entries, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    page.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="*", help="NAME=FILE[@SCALE[@COARSER]]")
    parser.add_argument("--made", help="PEOPLE,ITEMS,RATINGS")
    parser.add_argument("--people", type=int, help="at most so many of each")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only-folds", type=int, default=10)
    parser.add_argument("--epsilons", default=".1,.3,.6,1,2,3")
    parser.add_argument("--rows", type=Path, default=Path("neera-figures.jsonl"))
    figure = Path("docs/figures/neera-figures-3-4-7-8.svg")
    parser.add_argument("--figure", type=Path, default=figure)
    asked = parser.parse_args()
    epsilons = [f"{float(each):g}" for each in asked.epsilons.split(",")]
    named = (each.split("=", 1) for each in asked.ratings)
    sets = {name: among(ratings_of(place), asked.people) for name, place in named}
    if asked.made:
        people, items, count = map(int, asked.made.split(","))
        sets["made up"] = synthetic(people, items, count, "1:10:1")
    wanted = cases(list(sets), epsilons, min(asked.folds, asked.only_folds))
    found = means(followed_rows(sets, wanted, asked.folds, asked.rows))
    print("RMSE / F-score, mean over people / F-score, pooled; at epsilon " + ", ".join(epsilons))
    print(table(found, epsilons))
    drawn(found, epsilons, asked.figure)
    print(f"the figure is {asked.figure}")


if __name__ == "__main__":
    main()
