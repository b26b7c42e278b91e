"""Figures 3, 4, 7 and 8 of Neera et al.: channels and models against epsilon, RMSE and F-score.

Laplace, bounded and clamped Laplace (ISGD's channel), each with `mf-plain`, which is the paper's
"SVD", and with `mog-mf`, and `mf-plain` without privacy. The provider predicts. Both models in the
printed form, two factors, and in Tacit's form. `mog-mf` also in the printed form without the root
of its weights, which makes a round a step of EM. Figure 3 compares channels and Figure 4 models.
Figures 7 (RMSE) and 8 (F-score) compare `mog-mf` through bounded with `mf-plain` through clamped
Laplace. F-scores are of the ten best test items per user, relevant from three quarters up the
scale: the mean over users, and that of one confusion matrix, which is the paper's.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
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
from tacit.models.least_squares.mog_mf import EM, PRINTED, MoGMF
from tacit.ratings import Ratings
from tacit.registry import named
from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Figures, Kept, averaged, by_draw, samples

CHANNELS = ("laplace", "bounded-laplace", "clamped-laplace")
MODELS = ("mf-plain", "mog-mf")
FORMS: dict[str, dict[str, Any]] = {
    "printed": {
        "mf-plain": MF(biases=False, factors=2, ridge=0.0, centred=False),
        "mog-mf": replace(PRINTED, factors=2),
    },
    "em": {"mog-mf": replace(EM, factors=2)},
    "ours": {"mf-plain": MF(biases=False), "mog-mf": MoGMF()},
}
WORDS = {"printed": "as printed", "em": "as printed, no root", "ours": "Tacit's form"}
DRAWN = ("printed", "ours")
LEAST = {"rmse": 0.001, "pooled_f_score": 0.005}
"""Least differences: of RMSE in widths of the scale, and of F-scores."""
METRICS = {"rmse": "RMSE", "f_score": "F, mean over users", "pooled_f_score": "F, pooled"}


class FoldCase(NamedTuple):
    """One measurement. `channel` and `epsilon` are empty without privacy. `cut`: number of users,
    None for all."""

    form: str
    channel: str
    model: str
    epsilon: str
    fold: int
    folds: int
    cut: int | None


Key = tuple[str, str, str, str]
"""Form, channel, model and epsilon."""
Means = dict[Key, Figures]
"""Over folds."""
Folds = Mapping[Key, Sequence[Figures]]
"""The figures of every fold."""


@dataclass(frozen=True)
class Figures3478:
    """The first `only` of the `folds`, at `epsilons` in nats per value.

    `people`: number of users, drawn by a fixed seed, or None for all. `variants`: forms of the
    models beyond the printed one, of em and ours.
    """

    folds: int = 10
    only: int = 10
    epsilons: tuple[str, ...] = ("0.1", "0.3", "0.6", "1", "2", "3")
    people: int | None = None
    variants: tuple[str, ...] = ("em", "ours")

    name: ClassVar[str] = "figures-3-4-7-8"
    title: ClassVar[str] = "Figures 3, 4, 7 and 8: channels and models against epsilon"
    covers: ClassVar[tuple[str, ...]] = (
        "Figure 3", "Figure 4", "Figure 7", "Figure 8", "Table 3", "Algorithm 2",
        "equations (1), (6) to (10)",
    )  # fmt: skip
    own_data: ClassVar[str] = ""

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Both forms of both models through every channel."""
        train = among(data, self.people)
        folds = by_draw(
            kept.measured(self.name, self.cases, lambda case: measured(case, train)),
            lambda case: (case.form, case.channel, case.model, case.epsilon),
        )
        means = averaged(folds)
        width = float(data.scale.high) - float(data.scale.low)
        return StudyResult(
            claims=tuple(claims(folds, self.forms, self.epsilons, width)),
            tables=tuple(table(means, self.epsilons, metric) for metric in METRICS),
            drawing=drawn(means, self.epsilons),
            described="RMSE and F-score against epsilon, as printed and in Tacit's form.",
            remarks=(
                f"Mean of {min(self.only, self.folds)} of {self.folds} folds, predicted at the "
                "provider. The paper has curves and no numbers. The threshold of its F-score is "
                "lost, and three quarters up the scale is ours.",
            ),
        )

    @property
    def forms(self) -> tuple[str, ...]:
        """The printed form and the variants. Raises `RequestError` for one that does not exist."""
        for form in self.variants:
            named(FORMS, form, "variant")
        return tuple(dict.fromkeys(("printed", *self.variants)))

    @property
    def cases(self) -> list[FoldCase]:
        """Every case, fold by fold."""
        channels = [("", ""), *product(CHANNELS, self.epsilons)]
        members = [(form, model) for form in self.forms for model in FORMS[form]]
        return [
            FoldCase(form, channel, model, epsilon, fold, self.folds, self.people)
            for fold in range(min(self.folds, self.only))
            for (form, model), (channel, epsilon) in product(members, channels)
            if channel or model == "mf-plain"
        ]


def among(found: Ratings, most: int | None) -> Ratings:
    """Return the ratings of `most` random users, or of all."""
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


def claims(
    folds: Folds, forms: Sequence[str], epsilons: Sequence[str], width: float
) -> Iterator[PaperClaim]:
    """Judge Figures 3, 4, 7 and 8, in every form. `width`: of the scale."""
    words_of = {form: WORDS[form] for form in forms}

    def figures(
        form: str, channel: str, model: str, metric: str = "rmse"
    ) -> dict[str, list[float]]:
        plain = form if model in FORMS[form] else "printed"
        return {e: samples(folds[plain, channel, model, e], metric) for e in epsilons}

    for form, words in words_of.items():
        for model in FORMS[form]:
            yield PaperClaim.of_draws(
                f"Figure 3: bounded below plain Laplace, {model} {words}",
                figures(form, "bounded-laplace", model),
                figures(form, "laplace", model),
                least=LEAST["rmse"] * width,
            )
    for (form, words), channel in product(words_of.items(), ("laplace", "bounded-laplace")):
        yield PaperClaim.of_draws(
            f"Figure 4: the mixture below plain factors, {channel}, {words}",
            figures(form, channel, "mog-mf"),
            figures(form, channel, "mf-plain"),
            least=LEAST["rmse"] * width,
        )
    for form, words in words_of.items():
        yield PaperClaim.of_draws(
            f"Figure 7: RMSE of bounded and mixture below ISGD's, {words}",
            figures(form, "bounded-laplace", "mog-mf"),
            figures(form, "clamped-laplace", "mf-plain"),
            least=LEAST["rmse"] * width,
        )
    metric = "pooled_f_score"
    for form, words in words_of.items():
        yield PaperClaim.of_draws(
            f"Figure 8: F-score of ISGD below that of bounded and mixture, {words}",
            figures(form, "clamped-laplace", "mf-plain", metric),
            figures(form, "bounded-laplace", "mog-mf", metric),
            least=LEAST[metric],
        )


def table(found: Means, epsilons: Sequence[str], metric: str) -> Table:
    """A line a form, channel and model: one metric at every epsilon, and without privacy."""
    lines: list[tuple[str, ...]] = []
    members = dict.fromkeys((form, model) for form, channel, model, _ in found if channel)
    for (form, model), channel in product(members, CHANNELS):
        cells = (f"{found[form, channel, model, e][metric]:.3f}" for e in epsilons)
        lines.append((channel, f"{model}, {WORDS[form]}", *cells))
    for form in drawn_forms(found):
        open_figure = f"{found[form, '', 'mf-plain', ''][metric]:.3f}"
        cells = (open_figure for _ in epsilons)
        lines.append(("no privacy", f"mf-plain, {WORDS[form]}", *cells))
    heading = ("channel", "model", *epsilons)
    return Table(f"{METRICS[metric]}; epsilon per value", heading, tuple(lines))


def drawn_forms(found: Means) -> list[str]:
    """Return the measured forms that have a figure without privacy."""
    return [form for form in DRAWN if (form, "", "mf-plain", "") in found]


def drawn(found: Means, epsilons: Sequence[str]) -> Figure:
    """A column a form, a row RMSE and a row the pooled F-score."""
    forms = drawn_forms(found)
    page, axes = panels(2, len(forms))
    at = [float(epsilon) for epsilon in epsilons]
    for panel, (metric, form) in zip(axes, product(("rmse", "pooled_f_score"), forms), strict=True):
        for (number, channel), model in product(enumerate(CHANNELS), MODELS):
            line = [found[form, channel, model, e][metric] for e in epsilons]
            style = "-" if model == "mog-mf" else ":"
            words = f"{channel}, {model}"
            panel.plot(at, line, style, color=PALETTE[number], marker="o", ms=3, label=words)
        open_figure = found[form, "", "mf-plain", ""][metric]
        panel.axhline(open_figure, color=INK, lw=0.8, label="no privacy")
        dress(panel, WORDS[form] if metric == "rmse" else "", at, "epsilon per value")
    for panel, words in zip(axes[:: len(forms)], ("RMSE", "F-score at 10, pooled"), strict=True):
        panel.set_ylabel(words, color=INK, fontsize=9)
    legend(page, axes[0], 4)
    return page
