"""Decision whether a fitted model may replace the published one.

A model is refused with a figure: for too few reports, and for a gain over popularity on held-out
reports (`tacit.publishing.held_out`) that is below zero, or below that of the last model. Both
comparisons allow three standard errors: each refuses a model that is as good in one of 700 cases.
The last model's gain was measured on the reports of its time. It is relative to popularity in the
same reports, so it changes little where only their number does.
"""

from collections.abc import Iterator
from math import hypot

from tacit.collector.storage.publications import Publication
from tacit.errors import RequestError
from tacit.publishing.held_out import Gain

NOISE_AWARE = ("global-mean", "item-mean", "bias", "channel-mf", "channel-mf-screened")
"""Rating models that allow for the noise of reports when they predict from them. Others predict
well on devices, from true ratings, and badly from reports."""
MARGIN = 3.0
"""Standard errors by which a gain may be too low."""
REMEDY = (
    "The model was saved and not published. Check the reports, choose another --model, or publish "
    "it with --force."
)


def require_publishable(
    learner: str, reports: int, least: int, gain: Gain | None, last: Publication | None
) -> None:
    """Raise `RequestError` for a model that must not be published, with the figures.

    A rating model that does not allow for noise is compared with the last model of its kind alone.
    `learner`: its name. `reports`: number of rows that it was fitted to. `least`: minimum of these.
    `gain`: None if it could not be measured. `last`: the current model's publication, None for the
    first model.
    """
    if reports < least:
        raise RequestError(
            f"--publish requires at least {least:,} reports, got {reports:,}. The model was "
            f"saved and not published. Collect more reports or set --least {max(1, reports)}."
        )
    if gain is not None and (flaws := list(_flaws(learner, gain, last))):
        raise RequestError(f"{' '.join(flaws)} {REMEDY}")


def described(gain: Gain | None) -> str:
    """Return a sentence with the gain."""
    if gain is None:
        return "The gain over popularity was not measured: too few users have held-out reports."
    return (
        f"Gain over popularity on held-out reports of {gain.users:,} users: {gain.value:.4f} "
        f"(standard error {gain.error:.4f}) in {gain.unit}."
    )


def _flaws(learner: str, gain: Gain, last: Publication | None) -> Iterator[str]:
    of_lists = gain.unit != "squared error"
    comparable = of_lists or learner in NOISE_AWARE
    figure = f"{gain.value:.4f} in {gain.unit} (standard error {gain.error:.4f})"
    if comparable and gain.value < -MARGIN * gain.error:
        yield (
            "On held-out reports the model is worse than popularity: its gain over popularity is "
            f"{figure}."
        )
    if last is None or last.gain is None or last.unit != gain.unit:
        return
    both = comparable and (of_lists or last.learner in NOISE_AWARE)
    if last.learner != learner and not both:
        return
    if gain.value < last.gain - MARGIN * hypot(gain.error, last.error or 0.0):
        yield (
            "On held-out reports the model is worse than the last one: its gain over popularity "
            f"is {figure}, and that of the last model, {last.learner}, was {last.gain:.4f}."
        )
