"""Tables of a model's fit: in memory, or in the folder given by the setting `state`."""

from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine, check_engine
from tacit.engines.tables import InFolder, InMemory, Tables
from tacit.errors import RequestError
from tacit.errors import path as given_path

Array = NDArray[Any]


class LearnsOnEngine(Protocol):
    """Settings (a dataclass) of a model that is fitted on an engine, over a folder."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    @property
    def engine(self) -> Engine | None:
        """Where stages run; None for this process."""
        ...

    @property
    def state(self) -> str | Path | None:
        """The folder; None for memory."""
        ...


def fit_tables(model: LearnsOnEngine, rng: int, *learnt_from: Array) -> Tables:
    """Open the tables of a fit, in the model's folder, or in memory without folder and engine.

    `learnt_from`: data of the fit. Together with the settings that models compare by, it identifies
    the fit. Raises `RequestError` for an engine without a folder, and for a folder of another fit.
    """
    check_engine(model.engine)
    if model.state is not None:
        return InFolder.of(
            given_path(model.state), _settings(model) | {"rng": rng, "data": _digest(learnt_from)}
        )
    if model.engine is not None:
        raise RequestError(
            "state is required: an engine's workers cannot access the memory of this process. "
            "Name a folder that all workers can reach."
        )
    return InMemory()


def _settings(model: Any) -> dict[str, Any]:
    """Return the settings that affect results, and the model's name."""
    values = {each.name: getattr(model, each.name) for each in fields(model) if each.compare}
    return values | {"model": model.name}


def _digest(arrays: tuple[Array, ...]) -> str:
    digest = sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
