"""Figures 5 and 6 of Neera et al.: BLP-MoG-MF beside PG-MF, on their axis and on a fair one.

RMSE and F-score (top 10, relevant from three quarters up the scale) on held-out true ratings. The
left column gives both methods the same number, as the paper does. The right column turns epsilon
per value into that of all values of a person with the mean number of ratings, and gives private
gradients that epsilon: theirs covers a whole profile, items too.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.channels import choose_channel, compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.learners import fit
from tacit.metrics.accuracy import ranking, relevant_from, rmse
from tacit.models import Fitted, device_predict
from tacit.ratings import Ratings
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Figures, Kept

GRADIENTS, MIXTURE = "pg-mf, device", "bounded-laplace, mog-mf, provider"
STYLES = {
    GRADIENTS: (PALETTE[1], "o-"),
    MIXTURE: (PALETTE[0], "s-"),
    "auto, channel-mf, provider": (PALETTE[2], "^-"),
    "auto, channel-mf, device": (PALETTE[2], "^--"),
    "no privacy, mf-plain, provider": (INK, ":"),
    "own mean and nothing else, device": (PALETTE[6], ":"),
}
METRICS = {"rmse": "RMSE", "f_score": "F-score at 10"}
NUMBER, PROMISE = "the same number", "the same promise to a person"


class MethodCase(NamedTuple):
    """A method at an epsilon per value, on an axis; both are empty where it has none. What is on
    the fair axis gets the epsilon of all values of a mean person."""

    method: str
    axis: str
    epsilon: str
    seed: int


@dataclass(frozen=True)
class Split:
    """Ratings of the devices, and those held out to measure with."""

    own: Ratings
    test: Ratings

    @classmethod
    def of(cls, ratings: Ratings, seed: int) -> "Split":
        """A tenth held out."""
        held = np.random.default_rng(seed).random(len(ratings)) < 0.1
        return cls(ratings.where(~held), ratings.where(held))

    @property
    def profile(self) -> float:
        """The mean number of ratings of a person."""
        return len(self.own) / len(np.unique(self.own.users))

    def person(self, epsilon: str) -> str:
        """The epsilon of a mean person whose values have that one each, in nats."""
        return f"{float(epsilon) * self.profile:.3f}"

    def figures(self, fitted: Fitted, *, device: bool) -> Figures:
        """RMSE and F-score, predicted on devices or by the provider."""
        test = self.test
        if device:
            predicted = device_predict(fitted, self.own, test.users, test.items)
        else:
            predicted = fitted.predict_codes(test.users, test.items)
        relevant = test.values >= relevant_from(test.scale)
        best = ranking(test.users, test.items, predicted, relevant)
        bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
        return {"rmse": rmse(test.values, bounded), "f_score": best.f_score}


@dataclass(frozen=True)
class Figures56:
    """So many `seeds` of splits, at `epsilons` in nats per value."""

    seeds: int = 1
    epsilons: tuple[str, ...] = ("0.1", "0.2", "0.4", "0.8", "1.6")

    name: ClassVar[str] = "figures-5-6"
    title: ClassVar[str] = "Figures 5 and 6: beside private gradients"

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Every method at every epsilon, on both axes."""
        splits = [Split.of(data, seed) for seed in range(self.seeds)]
        found = means(kept.measured(self.name, list(self._cases()), partial(measured, splits)))
        profile = splits[0].profile
        return StudyResult(
            claims=tuple(claims(found)),
            tables=(table(found),),
            drawing=drawn(found, profile),
            described="RMSE and F-score against epsilon, at the same number and the same promise.",
            remarks=(
                f"{profile:.1f} ratings a person: epsilon per value times that is a person's. "
                "Private gradients cover which items were rated, too; bounded Laplace does not.",
            ),
        )

    def _cases(self) -> Iterator[MethodCase]:
        *methods, free, mean = STYLES
        for seed in range(self.seeds):
            yield MethodCase(free, "", "", seed)
            yield MethodCase(mean, "", "", seed)
            for epsilon in self.epsilons:
                yield from (MethodCase(method, NUMBER, epsilon, seed) for method in methods)
                yield MethodCase(GRADIENTS, PROMISE, epsilon, seed)


def measured(splits: list[Split], case: MethodCase) -> Figures:
    """One method on one split."""
    split, device = splits[case.seed], case.method.endswith("device")
    return split.figures(FITS[case.method](split, case), device=device)


def _gradients(split: Split, case: MethodCase) -> Fitted:
    epsilon = case.epsilon if case.axis == NUMBER else split.person(case.epsilon)
    return fit("pg-mf", split.own, epsilon=epsilon, rng=case.seed, factors=1)


def _deaf(split: Split, case: MethodCase) -> Fitted:
    return fit("pg-mf", split.own, epsilon="0.000001", rng=case.seed, factors=0)


def _mixture(split: Split, case: MethodCase) -> Fitted:
    channel = compile_channel("bounded-laplace", epsilon=case.epsilon, scale=split.own.scale)
    return fit("mog-mf", perturb(split.own, Rated(channel)), rng=case.seed)


def _auto(split: Split, case: MethodCase) -> Fitted:
    # The most telling channel, chosen before any rating is read.
    channel = choose_channel(epsilon=case.epsilon, scale=split.own.scale)[1]
    return fit("channel-mf", perturb(split.own, Rated(channel)), rng=case.seed)


def _free(split: Split, case: MethodCase) -> Fitted:
    return fit("mf-plain", split.own, rng=case.seed)


FITS: dict[str, Callable[[Split, MethodCase], Fitted]] = dict(
    zip(STYLES, (_gradients, _mixture, _auto, _auto, _free, _deaf), strict=True)
)
Means = dict[tuple[str, str, str], Figures]
"""Over seeds, by method, axis and epsilon."""


def means(known: Mapping[MethodCase, Figures]) -> Means:
    """Over splits, point by point."""
    groups: dict[tuple[str, str, str], list[Figures]] = {}
    for case, figures in known.items():
        groups.setdefault((case.method, case.axis, case.epsilon), []).append(figures)
    return {
        key: {metric: fmean(each[metric] for each in every) for metric in METRICS}
        for key, every in groups.items()
    }


def claims(found: Means) -> Iterator[PaperClaim]:
    """The mixture beside private gradients, on both axes and by both metrics."""

    def figures(metric: str, method: str, axis: str) -> dict[str, float]:
        return {e: at[metric] for (m, a, e), at in found.items() if (m, a) == (method, axis)}

    for axis in (NUMBER, PROMISE):
        mine, theirs = figures("rmse", MIXTURE, NUMBER), figures("rmse", GRADIENTS, axis)
        yield PaperClaim.of_figures(
            f"RMSE of bounded and mixture below PG-MF's, {axis}", mine, theirs
        )
        mine, theirs = figures("f_score", MIXTURE, NUMBER), figures("f_score", GRADIENTS, axis)
        yield PaperClaim.of_figures(f"F-score of PG-MF below the other's, {axis}", theirs, mine)


def table(found: Means) -> Table:
    """A line a method, axis and epsilon."""
    lines = tuple(
        (method, axis or "–", epsilon or "–", f"{at['rmse']:.3f}", f"{at['f_score']:.3f}")
        for (method, axis, epsilon), at in sorted(found.items())
    )
    heading = ("method", "axis", "epsilon per value", "RMSE", "F-score at 10")
    return Table("Beside private gradients", heading, lines)


def drawn(found: Means, profile: float) -> Figure:
    """Two rows of panels, a metric each; two columns, an axis each."""
    page, axes = panels(2, 2)
    places = [float(epsilon) for method, _, epsilon in found if method == MIXTURE]
    titles = (f"as printed: {NUMBER}", PROMISE, "", "")
    labels = ("epsilon, per value or per person", "epsilon of a mean person")
    for number, panel in enumerate(axes):
        metric, times = list(METRICS)[number // 2], (1.0, profile)[number % 2]
        lines(panel, found, metric, times)
        at = [float(f"{times * place:.2g}") for place in places]
        dress(panel, titles[number], at, labels[number % 2])
        if number % 2 == 0:
            panel.set_ylabel(METRICS[metric], color=INK, fontsize=9)
    legend(page, axes[0], 2)
    return page


def lines(panel: Axes, found: Means, metric: str, times: float) -> None:
    """Each method's metric against so many times the epsilon of a value: 1 on the axis as printed,
    the ratings of a mean person on the fair one."""
    for name, (colour, style) in STYLES.items():
        axis = PROMISE if times != 1 and name == GRADIENTS else NUMBER
        mine = {float(e): at[metric] for (m, a, e), at in found.items() if (m, a) == (name, axis)}
        if mine:
            at = [epsilon * times for epsilon in mine]
            panel.plot(at, list(mine.values()), style, color=colour, ms=4, label=name)
        else:
            panel.axhline(found[name, "", ""][metric], ls=style, color=colour, label=name)
