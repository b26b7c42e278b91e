"""Models: settings objects whose `fit` turns reports or ratings into a `Fitted` model.

Top-N models (`tacit.models.lists`) fit implicit feedback into `FittedLists`.

A *model* post-processes reports, so it has no privacy cost beyond theirs. A *trainer*
(`tacit.training`) reads true ratings and has its own privacy cost.
"""

from collections.abc import Callable
from typing import Any, Literal, Protocol, overload

from tacit import registry
from tacit.errors import RequestError, whole
from tacit.models.baselines import Baseline as Baseline
from tacit.models.channel_mf.model import ChannelMF as ChannelMF
from tacit.models.evidence.evidence import Evidence as Evidence
from tacit.models.evidence.evidence import evidence as evidence
from tacit.models.fitted import Fitted as Fitted
from tacit.models.fitted import item_model as item_model
from tacit.models.least_squares.als_svd import AlternatingSVD as AlternatingSVD
from tacit.models.least_squares.completion import Completion as Completion
from tacit.models.least_squares.mf import MF as MF
from tacit.models.least_squares.mog_mf import MoGMF as MoGMF
from tacit.models.lists import LIST_MODELS as LIST_MODELS
from tacit.models.lists import FittedLists as FittedLists
from tacit.models.lists import interactions as interactions
from tacit.models.lists.fitted import list_model as list_model
from tacit.models.simulated_devices import at_home as at_home
from tacit.models.simulated_devices import device_predict as device_predict
from tacit.models.svd import SVD as SVD
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import RatingScale


class AbstractModel(Protocol):
    """Settings of a model. `fit` learns from evidence and does not change the settings."""

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        ...

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Return a fitted model.

        `rng`: seed of initial values and draws. `advance`: progress callback, called with the
        fraction of the work done.
        """
        ...


def _declared(name: str, declared: Any) -> AbstractModel:
    return registry.settings(name, declared, ("fit",))


_BUILT_IN: dict[str, AbstractModel] = {
    model.name: model
    for model in (
        Baseline(items=False, people=False),
        Baseline(people=False),
        Baseline(),
        MF(biases=False),
        MF(),
        Completion(),
        SVD(),
        SVD(implicit=True),
        AlternatingSVD(),
        AlternatingSVD(implicit=True),
        MoGMF(),
        ChannelMF(),
        ChannelMF(screened=True),
    )
}
MODELS = registry.Registry("models", _BUILT_IN, _declared)
"""All rating models by name."""


def model(name: str, **settings: Any) -> AbstractModel:
    """Return the named model with `settings` changed.

    Raises `RequestError` for an unknown name or setting.
    """
    return registry.changed(registry.named(MODELS, name, "model"), name, "model", settings)


@overload
def fit(  # pyright: ignore[reportOverlappingOverload]  # names of rating models are str too
    name: Literal["popularity", "ease", "graph-filter"],
    data: object,
    *,
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = ...,
    **settings: Any,
) -> FittedLists:
    """Fit a top-N model."""


@overload
def fit(
    name: str,
    data: object,
    *,
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = ...,
    **settings: Any,
) -> Fitted:
    """Fit a rating model."""


def fit(
    name: str,
    data: object,
    *,
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = lambda done: None,
    **settings: Any,
) -> Any:
    """Fit the named model to reports or true ratings.

    `data`: `Reports`, or ratings in any form that `as_ratings` accepts. `scale`: public rating
    scale; default: the scale of the data, or one inferred with a notice. `rng`: seed of the model.
    `advance`: progress callback, called with the fraction of the work done, 0 to 1.

    Returns a `Fitted`, or a `FittedLists` for a top-N model. Raises `RequestError` for an unknown
    name or setting, for data that the model cannot learn from, and for reports on another scale.
    """
    whole("rng", rng, 0)
    source = _on(scale, data) if isinstance(data, Reports) else as_ratings(data, scale=scale)
    if name in LIST_MODELS:
        chosen = registry.changed(LIST_MODELS[name], name, "model", settings)
        return chosen.fit(interactions(source), rng=rng, advance=advance)
    return model(name, **settings).fit(evidence(source), rng=rng, advance=advance)


def _on(scale: RatingScale | str | None, reports: Reports) -> Reports:
    if scale is not None and str(scale) != str(reports.scale):
        raise RequestError(
            f"scale must be that of the reports, {reports.scale}, got {scale}; leave it out."
        )
    return reports
