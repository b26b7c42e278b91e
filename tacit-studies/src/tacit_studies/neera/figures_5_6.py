"""Figures 5 and 6 of Neera et al.: BLP-MoG-MF against PG-MF, on their axis and on a fair one.

RMSE (Figure 5) and F-score (Figure 6: top 10, relevant from three quarters up the scale) on
held-out true ratings. The left column has the same number for both methods, as the paper does. The
right column converts epsilon per value to that of all values of a user with the mean number of
ratings, and PG-MF gets that epsilon: its guarantee covers a whole profile, items too.

The mixture is in the printed form and in Tacit's. PG-MF is Tacit's `pg-mf` on a device, since only
the abstract of Shin et al. is available. Its item rows stay at their start where noise explains the
reports, and then it predicts what a device's own mean does.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.channels import choose_channel, compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.learners import fit
from tacit.metrics.accuracy import ranking, relevant_from, rmse
from tacit.metrics.split import SplitProtocol
from tacit.models import Fitted, device_predict, evidence
from tacit.models.least_squares.mog_mf import PRINTED
from tacit.ratings import Ratings
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit.reports import Reports
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Figures, Kept, averaged, by_draw, samples

GRADIENTS, MIXTURE = "pg-mf, device", "bounded-laplace, mog-mf, provider"
AS_PRINTED = "bounded-laplace, mog-mf as printed, provider"
USER_MEAN = "own mean alone, device"
STYLES = {
    GRADIENTS: (PALETTE[1], "o-"),
    MIXTURE: (PALETTE[0], "s-"),
    AS_PRINTED: (PALETTE[0], "s--"),
    "auto, channel-mf, provider": (PALETTE[2], "^-"),
    "auto, channel-mf, device": (PALETTE[2], "^--"),
    "no privacy, mf-plain, provider": (INK, ":"),
    USER_MEAN: (PALETTE[6], ":"),
}
FORMS = {MIXTURE: "Tacit's form", AS_PRINTED: "as printed"}
METRICS = {"rmse": "RMSE", "f_score": "F-score at 10"}
LEAST = {"rmse": 0.001, "f_score": 0.005}
"""Least differences: of RMSE in widths of the scale, and of F-scores."""
NUMBER, PROMISE = "the same number", "the same guarantee per user"


class MethodCase(NamedTuple):
    """A method at an epsilon per value, on an axis. Both are empty where it has none.

    On the fair axis it gets the epsilon of all values of a mean user. `reports`: of each user of
    PG-MF, None for Tacit's choice.
    """

    method: str
    axis: str
    epsilon: str
    fold: int
    reports: int | None


@dataclass(frozen=True)
class Split:
    """Ratings of the devices, and those held out to measure with."""

    own: Ratings
    test: Ratings

    @classmethod
    def of(cls, ratings: Ratings, folds: int, fold: int) -> "Split":
        """Hold out one of the folds."""
        held = SplitProtocol(folds=folds).test(ratings, 0, fold)
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
    """The first `only` of the `folds`, at `epsilons` in nats per value.

    `reports`: of each user of PG-MF. 128 is one in every round, at epsilon / k each, as in the
    paper. None is as many as minimize the noise.
    """

    folds: int = 10
    only: int = 10
    epsilons: tuple[str, ...] = ("0.1", "0.2", "0.4", "0.8", "1.6")
    reports: int | None = None

    name: ClassVar[str] = "figures-5-6"
    title: ClassVar[str] = "Figures 5 and 6: bounded Laplace and private gradients"
    covers: ClassVar[tuple[str, ...]] = ("Figure 5", "Figure 6")
    own_data: ClassVar[str] = ""

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Measure every method at every epsilon, on both axes."""
        splits = [Split.of(data, self.folds, fold) for fold in range(min(self.only, self.folds))]
        rows = kept.measured(self.name, list(self._cases(len(splits))), partial(measured, splits))
        folds = by_draw(rows, lambda case: (case.method, case.axis, case.epsilon))
        means = averaged(folds)
        profile = splits[0].profile
        width = float(data.scale.high) - float(data.scale.low)
        return StudyResult(
            claims=tuple(claims(folds, width)),
            tables=(table(means),),
            drawing=drawn(means, profile),
            described="RMSE and F-score against epsilon, at the same number and guarantee.",
            remarks=(
                f"Mean of {len(splits)} of {self.folds} folds. {profile:.1f} ratings per user: "
                "epsilon per value times that is a user's. Private gradients also cover which "
                "items were rated. Bounded Laplace does not.",
                unlearned(means, width),
            ),
        )

    def _cases(self, folds: int) -> Iterator[MethodCase]:
        *methods, free, mean = STYLES
        for fold in range(folds):
            yield MethodCase(free, "", "", fold, None)
            yield MethodCase(mean, "", "", fold, None)
            for epsilon in self.epsilons:
                for method in methods:
                    reports = self.reports if method == GRADIENTS else None
                    yield MethodCase(method, NUMBER, epsilon, fold, reports)
                yield MethodCase(GRADIENTS, PROMISE, epsilon, fold, self.reports)


def measured(splits: list[Split], case: MethodCase) -> Figures:
    """Measure one method on one split."""
    split, device = splits[case.fold], case.method.endswith("device")
    return split.figures(FITS[case.method](split, case), device=device)


def _gradients(split: Split, case: MethodCase) -> Fitted:
    epsilon = case.epsilon if case.axis == NUMBER else split.person(case.epsilon)
    return fit("pg-mf", split.own, epsilon=epsilon, rng=case.fold, factors=1, reports=case.reports)


def _deaf(split: Split, case: MethodCase) -> Fitted:
    return fit("pg-mf", split.own, epsilon="0.000001", rng=case.fold, factors=0)


def _reports(split: Split, case: MethodCase) -> Reports:
    channel = compile_channel("bounded-laplace", epsilon=case.epsilon, scale=split.own.scale)
    return perturb(split.own, Rated(channel))


def _mixture(split: Split, case: MethodCase) -> Fitted:
    return fit("mog-mf", _reports(split, case), rng=case.fold)


def _printed(split: Split, case: MethodCase) -> Fitted:
    return replace(PRINTED, factors=2).fit(evidence(_reports(split, case)), rng=case.fold)


def _auto(split: Split, case: MethodCase) -> Fitted:
    # The channel with the most Fisher information, chosen before any rating is read.
    channel = choose_channel(epsilon=case.epsilon, scale=split.own.scale)[1]
    return fit("channel-mf", perturb(split.own, Rated(channel)), rng=case.fold)


def _free(split: Split, case: MethodCase) -> Fitted:
    return fit("mf-plain", split.own, rng=case.fold)


FITS: dict[str, Callable[[Split, MethodCase], Fitted]] = dict(
    zip(STYLES, (_gradients, _mixture, _printed, _auto, _auto, _free, _deaf), strict=True)
)
Key = tuple[str, str, str]
"""Method, axis and epsilon."""
Means = Mapping[Key, Figures]
"""Over folds."""


def claims(folds: Mapping[Key, Sequence[Figures]], width: float) -> Iterator[PaperClaim]:
    """Compare both forms of the mixture with private gradients, on both axes and by both metrics.

    `folds`: the figures of each fold. `width`: of the scale.
    """

    def figures(metric: str, method: str, axis: str) -> dict[str, list[float]]:
        return {
            e: samples(each, metric)
            for (m, a, e), each in folds.items()
            if (m, a) == (method, axis)
        }

    for (mixture, form), axis in product(FORMS.items(), (NUMBER, PROMISE)):
        yield PaperClaim.of_draws(
            f"Figure 5: RMSE of bounded and mixture, {form}, below that of Tacit's pg-mf, {axis}",
            figures("rmse", mixture, NUMBER),
            figures("rmse", GRADIENTS, axis),
            least=LEAST["rmse"] * width,
        )
        yield PaperClaim.of_draws(
            f"Figure 6: F-score of Tacit's pg-mf below that of bounded and mixture, {form}, {axis}",
            figures("f_score", GRADIENTS, axis),
            figures("f_score", mixture, NUMBER),
            least=LEAST["f_score"],
        )


def unlearned(means: Means, width: float) -> str:
    """Return where PG-MF predicts no better than the mean of a device's own ratings."""
    start = means[USER_MEAN, "", ""]["rmse"]
    same = [
        f"{epsilon} ({axis})"
        for (method, axis, epsilon), at in means.items()
        if method == GRADIENTS and start - at["rmse"] < LEAST["rmse"] * width
    ]
    if not same:
        return (
            "pg-mf is Tacit's form of Shin et al., and is ahead of a device's own mean throughout."
        )
    return (
        f"pg-mf is Tacit's form of Shin et al. At epsilon {', '.join(same)} it is not ahead of a "
        f"device's own mean, RMSE {start:.3f}: there the claims compare bounded noise at the "
        "provider with a user's own mean on a device."
    )


def table(found: Means) -> Table:
    """Return a line for each method, axis and epsilon."""
    lines = tuple(
        (method, axis or "–", epsilon or "–", f"{at['rmse']:.3f}", f"{at['f_score']:.3f}")
        for (method, axis, epsilon), at in sorted(found.items())
    )
    heading = ("method", "axis", "epsilon per value", "RMSE", "F-score at 10")
    return Table("Bounded Laplace and private gradients", heading, lines)


def drawn(found: Means, profile: float) -> Figure:
    """Two rows of panels, a metric each; two columns, an axis each."""
    page, axes = panels(2, 2)
    places = [float(epsilon) for method, _, epsilon in found if method == MIXTURE]
    titles = (f"as printed: {NUMBER}", PROMISE, "", "")
    labels = ("epsilon, per value or per user", "epsilon of a mean user")
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
    """Draw each method's metric against `times` the epsilon per value: 1 on the axis as printed,
    the mean number of ratings per user on the fair one."""
    for name, (colour, style) in STYLES.items():
        axis = PROMISE if times != 1 and name == GRADIENTS else NUMBER
        mine = {float(e): at[metric] for (m, a, e), at in found.items() if (m, a) == (name, axis)}
        if mine:
            at = [epsilon * times for epsilon in mine]
            panel.plot(at, list(mine.values()), style, color=colour, ms=4, label=name)
        else:
            panel.axhline(found[name, "", ""][metric], ls=style, color=colour, label=name)
