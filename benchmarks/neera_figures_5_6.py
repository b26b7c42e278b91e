"""Figures 5 and 6 of Neera et al.: BLP-MoG-MF beside PG-MF, on their axis and on a fair one.

    python benchmarks/neera_figures_5_6.py RATINGS [FILE.svg] [--seeds 1] [--epsilons 0.1,0.2,..]

RMSE and F-score (top 10, relevant from three quarters up the scale) on held-out true ratings. The
left column gives both methods the same number, as the paper does. The right column turns epsilon
per value into that of all values of a person with the mean number of ratings, and gives private
gradients that epsilon: theirs covers a whole profile, items too. Then what each method sends.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from followed import followed
from tacit import Rated, Ratings, choose, compile_channel, fit, item_model, perturb, read
from tacit.channels.table import Channel
from tacit.metrics.accuracy import ranking, relevant_from, rmse
from tacit.models import Fitted, device_predict
from tacit.training import train
from tacit.training.rounds.pg_mf import PGMF

EPSILONS = "0.1,0.2,0.4,0.8,1.6"
COLOURS = {
    "pg-mf, device": ("#D55E00", "o-"),
    "bounded-laplace, mog-mf, provider": ("#0072B2", "s-"),
    "auto, channel-mf, provider": ("#009E73", "^-"),
    "auto, channel-mf, device": ("#009E73", "^--"),
    "no privacy, mf-plain, provider": ("#444444", ":"),
    "own mean and nothing else, device": ("#999999", ":"),
}
METRICS = ("RMSE", "F-score at 10")


class Point(NamedTuple):
    """One method at one epsilon: in nats a value (a person for pg-mf), and in nats a person."""

    name: str
    epsilon: float
    person: float
    rmse: float
    f_score: float


class Split(NamedTuple):
    """Ratings of the devices, and those held out to measure with."""

    own: Ratings
    test: Ratings

    @property
    def profile(self) -> float:
        """The mean number of ratings of a person."""
        return len(self.own) / len(np.unique(self.own.users))

    def point(self, name: str, fitted: Fitted, epsilon: float, person: float) -> Point:
        """The method's figures, predicted where its name says."""
        test = self.test
        if name.endswith("device"):
            predicted = device_predict(fitted, self.own, test.users, test.items)
        else:
            predicted = fitted.predict_codes(test.users, test.items)
        relevant = test.values >= relevant_from(test.scale)
        best = ranking(test.users, test.items, predicted, relevant)
        bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
        return Point(name, epsilon, person, rmse(test.values, bounded), best.f_score)


def points(split: Split, seed: int, epsilons: list[str]) -> Iterator[Point]:
    """Every method at every epsilon, on one split."""
    own, names = split.own, list(COLOURS)
    yield split.point(names[4], fit("mf-plain", own, rng=seed), math.nan, math.nan)
    deaf = train("pg-mf", own, epsilon="0.000001", rng=seed, factors=0)
    yield split.point(names[5], deaf, math.nan, math.nan)
    for epsilon in followed(f"split {seed}", epsilons):
        value, person = float(epsilon), float(epsilon) * split.profile
        yield split.point(names[0], train("pg-mf", own, epsilon=epsilon, rng=seed), value, value)
        matched = train("pg-mf", own, epsilon=f"{person:.3f}", rng=seed)
        yield split.point(names[0], matched, math.nan, person)
        bounded = perturb(
            own, Rated(compile_channel("bounded-laplace", epsilon=epsilon, scale=own.scale))
        )
        yield split.point(names[1], fit("mog-mf", bounded, rng=seed), value, person)
        best = fit("channel-mf", perturb(own, Rated(auto(own, epsilon))), rng=seed)
        for name in names[2:4]:
            yield split.point(name, best, value, person)


def auto(own: Ratings, epsilon: str) -> Channel:
    """The most telling channel, chosen before any rating is read."""
    return choose(epsilon=epsilon, scale=own.scale)[1]


def averaged(splits: list[list[Point]]) -> list[Point]:
    """Means over splits, point by point."""
    return [
        Point(same[0].name, *np.mean([point[1:] for point in same], 0).tolist())
        for same in zip(*splits, strict=True)
    ]


def draw(rows: list[Point], target: Path) -> None:
    """Two rows of panels, a metric each; two columns, an axis each."""
    mpl.rcParams.update({"svg.hashsalt": "tacit", "svg.fonttype": "none"})
    page = Figure(figsize=(7.2, 5.4), layout="constrained")
    panels = page.subplots(2, 2, sharex="col", sharey="row")
    for number, metric in enumerate(METRICS):
        for axis, panel in zip((1, 2), panels[number], strict=True):
            lines(panel, rows, axis, 3 + number)
        panels[number][0].set_ylabel(metric)
    panels[0][0].set_title("as printed: the same number", fontsize=10)
    panels[0][1].set_title("the same promise to a person", fontsize=10)
    panels[1][0].set_xlabel("epsilon, per value or per person")
    panels[1][1].set_xlabel("epsilon of a mean person")
    entries = panels[0][0].get_legend_handles_labels()
    page.legend(*entries, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    page.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


def lines(panel: Axes, rows: list[Point], axis: int, metric: int) -> None:
    """Each method's metric (a field of `Point`) against one of the two epsilons."""
    for name, (colour, style) in COLOURS.items():
        mine = sorted((row[axis], row[metric]) for row in rows if row.name == name)
        known = [pair for pair in mine if not math.isnan(float(pair[0]))]
        if known:
            panel.plot(*zip(*known, strict=True), style, color=colour, ms=4, label=name)
        else:
            panel.axhline(float(mine[0][1]), ls=style, color=colour, label=name)
    panel.set_xscale("log")
    panel.spines[["top", "right"]].set_visible(False)


def traffic(split: Split) -> None:
    """What goes up and down for a mean person at epsilon 1, in our encodings."""
    own = split.own
    items = math.ceil(math.log2(own.n_items))
    for name in ("bounded-laplace", "optimal"):
        symbols = len(compile_channel(name, epsilon="1", scale=own.scale).outputs)
        bits = items + math.ceil(math.log2(symbols))
        up = math.ceil(split.profile * bits / 8)
        print(f"{name}: {bits} bits a rating, {up:,} bytes up a person")
    for model in ("mog-mf", "channel-mf"):
        fitted = fit(model, perturb(own, Rated(auto(own, "1"))))
        print(
            f"{model}: {len(item_model(fitted).to_bytes()):,} bytes down, once, to finish at home"
        )
    for reports in (1, PGMF().rounds):
        member = PGMF(reports=reports)
        columns = 1 + member.factors
        bits = 1 + math.ceil(math.log2(member.width * columns))
        down = own.n_items * columns * 4
        print(
            f"pg-mf, {reports} reports a person: {bits} bits up and {down:,} bytes down each, "
            f"{math.ceil(bits / 8) * reports:,} up and {down * (reports + 1):,} down in all"
        )


def main() -> None:
    """Split, compare, draw, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    figure = Path("docs/figures/neera-figures-5-6.svg")
    parser.add_argument("figure", nargs="?", type=Path, default=figure)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epsilons", default=EPSILONS)
    asked = parser.parse_args()
    ratings, seeds, epsilons = read(asked.ratings), range(asked.seeds), asked.epsilons.split(",")
    helds = [np.random.default_rng(seed).random(len(ratings)) < 0.1 for seed in seeds]
    splits = [Split(ratings.where(~held), ratings.where(held)) for held in helds]
    pairs = zip(splits, seeds, strict=True)
    rows = averaged([list(points(split, seed, epsilons)) for split, seed in pairs])
    print(f"{splits[0].profile:.1f} ratings a person; RMSE and F-score over {len(splits)} splits")
    for row in sorted(rows):
        print(f"{row.name:36}{row.epsilon:8.1f}{row.person:10.1f}{row.rmse:9.3f}{row.f_score:8.3f}")
    draw(rows, asked.figure)
    traffic(splits[0])
    print(f"the figure is {asked.figure}")


if __name__ == "__main__":
    main()
