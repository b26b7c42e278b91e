"""Fit a model to reports, or run a trainer on ratings, by name."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, overload

from tacit import models
from tacit.errors import RequestError, integer, must_be, shown
from tacit.learners.learner import Learner, learner
from tacit.models import Fitted, FittedLists
from tacit.privacy.ledger import epsilon_text
from tacit.progress import Advance, share
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import RatingScale


@overload
def fit(  # pyright: ignore[reportOverlappingOverload]  # names of rating models are str too
    name: Literal[
        "popularity",
        "ease",
        "graph-filter",
        "dp-ease",
        "dp-popularity",
        "shuffled-ease",
        "shuffled-popularity",
    ],
    data: object,
    *,
    scale: RatingScale | str | None = None,
    epsilon: str | float | None = None,
    unit: str | None = None,
    delta: str | float = "1e-6",
    mode: str = "strict",
    exposure: bool = True,
    rng: int = 0,
    progress: bool | Advance = True,
    **settings: Any,
) -> FittedLists:
    """Fit a top-N model, or run a top-N trainer."""


@overload
def fit(
    name: str,
    data: object,
    *,
    scale: RatingScale | str | None = None,
    epsilon: str | float | None = None,
    unit: str | None = None,
    delta: str | float = "1e-6",
    mode: str = "strict",
    exposure: bool = True,
    rng: int = 0,
    progress: bool | Advance = True,
    **settings: Any,
) -> Fitted:
    """Fit a rating model, or run a rating trainer."""


def fit(
    name: str,
    data: object,
    *,
    scale: RatingScale | str | None = None,
    epsilon: str | float | None = None,
    unit: str | None = None,
    delta: str | float = "1e-6",
    mode: str = "strict",
    exposure: bool = True,
    rng: int = 0,
    progress: bool | Advance = True,
    **settings: Any,
) -> Any:
    """Fit the named model to reports or true ratings, or run the named trainer on true ratings.

    Parameters
    ----------
    name
        A model or trainer of `names`.
    data
        `Reports`, or ratings in any form that `as_ratings` accepts. A trainer requires ratings.
    scale
        Public rating scale. Default: the scale of the data, or one inferred with a notice.
    epsilon
        Of a trainer, which requires it: nats per unit of its guarantee, a decimal string or a
        number. A model has none: the guarantee of its reports holds for it.
    unit
        The unit that `epsilon` is meant for: "value", "slot" or "user". Checked if given.
    delta
        Of a trainer whose guarantee has one.
    mode
        "strict", or "faithful" for a trainer as published.
    exposure
        Whether a rating model also learns which items users are likely to interact with, and ranks
        by expected gain (`tacit.models.exposure`). If presence is public, everyone who downloads
        the model then learns statistics of which items are rated together.
    rng
        Seed of initial values and of a model's draws. The noise of a trainer has no seed.
    progress
        Whether to show a progress bar in a terminal or notebook, or a callback that is called with
        the completed share of the work, 0 to 1.
    **settings
        Settings of the model or trainer to change.

    Returns
    -------
    Fitted or FittedLists
        The fitted model with its guarantee. `FittedLists` of a top-N model or trainer.

    Raises
    ------
    RequestError
        For an unknown name or setting, an epsilon that is missing, superfluous or of another unit,
        data that cannot be learned from, and reports on another scale.
    """
    remedy = "pass its name first, and settings as options, as in fit('mf', data, factors=8)"
    must_be(str, name, "the name of a model or trainer", remedy)
    integer("rng", rng, 0)
    if "advance" in settings:
        raise RequestError("advance is not a setting; pass a callback as progress.")
    if mode not in ("strict", "faithful"):
        raise RequestError(f"mode must be strict or faithful, got '{mode}'.")
    chosen = learner(name, mode)
    if mode != "strict" and mode not in chosen.modes:
        raise RequestError(f"{name} has no mode {mode}; leave out mode.")
    chosen = chosen.changed(settings)
    if not chosen.is_trainer:
        if epsilon is not None or unit is not None:
            raise RequestError(
                f"{name} is a model and has no epsilon; pass reports, as in "
                f"fit('{name}', perturb(ratings, plan)), or choose a trainer."
            )
        source = _on(scale, data) if isinstance(data, Reports) else as_ratings(data, scale=scale)
        with _advance(progress) as advance:
            fitted = chosen.fit(source, rng=rng, advance=advance)
        last = getattr(settings.get("warm"), "exposure", None)
        return with_exposure(fitted, source, rng=rng, warm=last) if exposure else fitted
    _check_unit(chosen, epsilon, unit)
    # Text is passed unchanged: each trainer rejects an invalid epsilon with its own message.
    text = epsilon if isinstance(epsilon, str) else epsilon_text(epsilon)
    ratings = as_ratings(data, scale=scale)
    with _advance(progress) as advance:
        return chosen.fit(ratings, epsilon=text, delta=str(delta), rng=rng, advance=advance)


def _advance(progress: bool | Advance) -> AbstractContextManager[Advance | None]:
    """Return the callback of `fit`'s `progress`; None for no progress."""
    if not isinstance(progress, bool):
        if not callable(progress):
            raise RequestError(f"progress must be a boolean or a callback, got {shown(progress)}.")
        return nullcontext(progress)
    return share("fitting") if progress else nullcontext()


def with_exposure(
    fitted: Any, data: Ratings | Reports, *, rng: int = 0, warm: FittedLists | None = None
) -> Any:
    """Return a rating model with the exposure in its data. Other models are returned unchanged.

    `warm`: earlier exposure, of fewer reports.
    """
    if not isinstance(fitted, Fitted):
        return fitted
    return fitted.with_exposure(models.exposure_of(data, rng=rng, warm=warm))


def _check_unit(trainer: Learner, epsilon: object, unit: str | None) -> None:
    """Raise `RequestError` without an epsilon, and for one that is meant for another unit."""
    if epsilon is None:
        raise RequestError(
            f"{trainer.name} is a trainer and requires epsilon, in nats per {trainer.unit}."
        )
    if unit is not None and unit != trainer.unit:
        raise RequestError(
            f"The epsilon of {trainer.name} is per {trainer.unit}, got unit '{unit}'; choose an "
            "epsilon for that unit, or another trainer."
        )


def _on(scale: RatingScale | str | None, reports: Reports) -> Reports:
    if scale is not None and str(scale) != str(reports.scale):
        raise RequestError(
            f"scale must equal the scale of the reports, {reports.scale}, got {scale}; leave it "
            "out."
        )
    return reports
