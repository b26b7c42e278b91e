"""Models: settings objects whose `fit` turns reports or ratings into a `Fitted` model.

Top-N models (`tacit.models.lists`) fit implicit feedback into `FittedLists`.

A *model* post-processes reports, so it has no privacy cost beyond theirs. A *trainer*
(`tacit.training`) reads true ratings and has its own privacy cost.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tacit import registry
from tacit.errors import path as given_path
from tacit.models import archive, model_file
from tacit.models.channel_mf.model import ChannelMF as ChannelMF
from tacit.models.evidence.evidence import Evidence as Evidence
from tacit.models.evidence.evidence import evidence as evidence
from tacit.models.exposure import exposure_of as exposure_of
from tacit.models.fitted import Fitted as Fitted
from tacit.models.least_squares.als_svd import AlternatingSVD as AlternatingSVD
from tacit.models.least_squares.baselines import Baseline as Baseline
from tacit.models.least_squares.completion import Completion as Completion
from tacit.models.least_squares.mf import MF as MF
from tacit.models.least_squares.mog_mf import MoGMF as MoGMF
from tacit.models.least_squares.svd import SVD as SVD
from tacit.models.lists import LIST_MODELS as LIST_MODELS
from tacit.models.lists import FittedLists as FittedLists
from tacit.models.lists import interactions as interactions
from tacit.models.lists import list_file
from tacit.models.published import item_model as item_model
from tacit.models.published import list_model as list_model
from tacit.models.simulated_devices import device_predict as device_predict
from tacit.models.simulated_devices import fold_in as fold_in
from tacit.wire.list_model import ListModel, is_list_model


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


def load(path: Path | str) -> Fitted | FittedLists | ListModel:
    """Read a model file of `tacit fit`, `save` or a collector.

    Returns a `Fitted`, a `FittedLists`, or the `ListModel` of a top-N model without users. Raises
    `RequestError` for any other file.
    """
    file = given_path(path)
    if _holds_list_model(file):
        return ListModel.from_bytes(file.read_bytes())
    return archive.read(file, _FORMATS)


LINE = 64
"""Bytes that contain the first line of a list model."""
_FORMATS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Fitted | FittedLists]] = {
    model_file.FORMAT: lambda header, arrays: Fitted(**model_file.fields_of(header, arrays)),
    list_file.FORMAT: lambda header, arrays: FittedLists(**list_file.fields_of(header, arrays)),
}


def _holds_list_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return is_list_model(file.read(LINE))
    except OSError:
        return False  # `Fitted.load` raises the error
