"""Figures 3, 4, 7 and 8 of Neera et al.: channels and models against epsilon, RMSE and F-score.

Laplace, bounded and clamped Laplace (ISGD's channel), each with `mf-plain` and with `mog-mf`, and
`mf-plain` without privacy; predicted by the provider. Both models in the form that the paper
prints, two factors, and in ours. Figure 3 compares channels, 4 models, 7 and 8 `mog-mf` through
bounded with `mf-plain` through clamped Laplace. F-scores are of ten best test items a person,
relevant from three quarters up the scale: the mean over people, and of one confusion matrix, which
is the paper's.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.metrics.accuracy import ranking, relevant_from, rmse
from tacit.metrics.split import SplitProtocol
from tacit.models import evidence
from tacit.models.least_squares.mf import MF
from tacit.models.least_squares.mog_mf import PRINTED, MoGMF
from tacit.ratings import Ratings
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Figures, Kept

CHANNELS = ("laplace", "bounded-laplace", "clamped-laplace")
MODELS = ("mf-plain", "mog-mf")
FORMS: dict[str, dict[str, Any]] = {
    "printed": {
        "mf-plain": MF(biases=False, factors=2, ridge=0.0, centred=False),
        "mog-mf": replace(PRINTED, factors=2),
    },
    "ours": {"mf-plain": MF(biases=False), "mog-mf": MoGMF()},
}
WORDS = {"printed": "as printed", "ours": "ours"}
METRICS = {"rmse": "RMSE", "f_score": "F, mean over people", "pooled_f_score": "F, pooled"}


class FoldCase(NamedTuple):
    """What is measured; without privacy `channel` and `epsilon` are empty. `cut`: so many people,
    or all."""

    form: str
    channel: str
    model: str
    epsilon: str
    fold: int
    folds: int
    cut: int | None


Means = dict[tuple[str, str, str, str], Figures]
"""Over folds, by form, channel, model and epsilon."""


@dataclass(frozen=True)
class Figures3478:
    """The first `only` of so many `folds`, at `epsilons` in nats per value; `people`: so many of
    them, drawn by a fixed seed, or all."""

    folds: int = 10
    only: int = 10
    epsilons: tuple[str, ...] = ("0.1", "0.3", "0.6", "1", "2", "3")
    people: int | None = None

    name: ClassVar[str] = "figures-3-4-7-8"
    title: ClassVar[str] = "Figures 3, 4, 7 and 8: channels and models against epsilon"

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Both forms of both models through every channel."""
        own = among(data, self.people)
        found = means(kept.measured(self.name, self.cases, lambda case: measured(case, own)))
        return StudyResult(
            claims=tuple(claims(found, self.epsilons)),
            tables=tuple(table(found, self.epsilons, metric) for metric in METRICS),
            drawing=drawn(found, self.epsilons),
            described="RMSE and F-score against epsilon, as printed and in our form.",
            remarks=(
                f"Mean of {min(self.only, self.folds)} of {self.folds} folds, predicted at the "
                "provider. The paper has curves and no numbers; its F-score's threshold is lost, "
                "and three quarters up the scale is ours.",
            ),
        )

    @property
    def cases(self) -> list[FoldCase]:
        """Every case, fold by fold."""
        told = [(channel, epsilon) for epsilon in self.epsilons for channel in CHANNELS]
        folds = range(min(self.folds, self.only))
        return [
            FoldCase(form, channel, model, epsilon, fold, self.folds, self.people)
            for fold, form, (channel, epsilon), model in product(
                folds, FORMS, [("", ""), *told], MODELS
            )
            if channel or model == "mf-plain"
        ]


def among(found: Ratings, most: int | None) -> Ratings:
    """The ratings of so many people."""
    if most is None or most >= found.n_users:
        return found
    drawn = np.random.default_rng(0).permutation(found.n_users)[:most]
    return found.where(np.isin(found.users, drawn))


def measured(case: FoldCase, data: Ratings) -> Figures:
    """RMSE and both F-scores on true ratings of the fold."""
    held = SplitProtocol(folds=case.folds).test(data, 0, case.fold)
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


def means(known: Mapping[FoldCase, Figures]) -> Means:
    """Over folds."""
    groups: dict[tuple[str, str, str, str], list[Figures]] = {}
    for case, figures in known.items():
        key = (case.form, case.channel, case.model, case.epsilon)
        groups.setdefault(key, []).append(figures)
    return {
        key: {metric: fmean(each[metric] for each in every) for metric in METRICS}
        for key, every in groups.items()
    }


def claims(found: Means, epsilons: Sequence[str]) -> list[PaperClaim]:
    """What Figures 3, 4, and 7 and 8 say, in both forms."""

    def errors(form: str, channel: str, model: str) -> dict[str, float]:
        return {e: found[form, channel, model, e]["rmse"] for e in epsilons}

    said: list[PaperClaim] = []
    for form, words in WORDS.items():
        bounded = errors(form, "bounded-laplace", "mog-mf")
        others = {
            "Figure 3: bounded below plain Laplace": errors(form, "laplace", "mog-mf"),
            "Figure 4: the mixture below plain factors": errors(
                form, "bounded-laplace", "mf-plain"
            ),
            "Figures 7, 8: bounded and mixture below ISGD": errors(
                form, "clamped-laplace", "mf-plain"
            ),
        }
        said += [
            PaperClaim.of_figures(f"{claim}, {words}", bounded, other)
            for claim, other in others.items()
        ]
    return said


def table(found: Means, epsilons: Sequence[str], metric: str) -> Table:
    """A line a form, channel and model: one metric at every epsilon, and without privacy."""
    lines: list[tuple[str, ...]] = []
    for form, channel, model in product(FORMS, CHANNELS, MODELS):
        cells = (f"{found[form, channel, model, e][metric]:.3f}" for e in epsilons)
        lines.append((channel, f"{model}, {WORDS[form]}", *cells))
    for form in FORMS:
        open_figure = f"{found[form, '', 'mf-plain', ''][metric]:.3f}"
        cells = (open_figure for _ in epsilons)
        lines.append(("no privacy", f"mf-plain, {WORDS[form]}", *cells))
    heading = ("channel", "model", *epsilons)
    return Table(f"{METRICS[metric]}; epsilon per value", heading, tuple(lines))


def drawn(found: Means, epsilons: Sequence[str]) -> Figure:
    """A column a form, a row RMSE and a row the pooled F-score."""
    page, axes = panels(2, len(FORMS))
    at = [float(epsilon) for epsilon in epsilons]
    for panel, (metric, form) in zip(axes, product(("rmse", "pooled_f_score"), FORMS), strict=True):
        for (number, channel), model in product(enumerate(CHANNELS), MODELS):
            line = [found[form, channel, model, e][metric] for e in epsilons]
            style = "-" if model == "mog-mf" else ":"
            words = f"{channel}, {model}"
            panel.plot(at, line, style, color=PALETTE[number], marker="o", ms=3, label=words)
        open_figure = found[form, "", "mf-plain", ""][metric]
        panel.axhline(open_figure, color=INK, lw=0.8, label="no privacy")
        dress(panel, WORDS[form] if metric == "rmse" else "", at, "epsilon per value")
    for panel, words in zip(axes[:: len(FORMS)], ("RMSE", "F-score at 10, pooled"), strict=True):
        panel.set_ylabel(words, color=INK, fontsize=9)
    legend(page, axes[0], 4)
    return page
