"""Where a model's fit has its tables: in memory, or in the folder that is its setting `state`."""

from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.folder import InFolder
from tacit.engines.tables import InMemory, Tables
from tacit.errors import RequestError

Array = NDArray[Any]


class LearnsOnEngine(Protocol):
    """Settings, a dataclass, of a model that learns on an engine, over a folder."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def engine(self) -> Engine | None:
        """Where stages run; None for this process."""
        ...

    @property
    def state(self) -> Path | None:
        """The folder; None for memory."""
        ...


def fit_tables(model: LearnsOnEngine, rng: int, *learnt_from: Array) -> Tables:
    """Of a fit: in the model's folder, or in memory where it has neither folder nor engine.

    `learnt_from` and the settings by which models compare tell one fit from another. Raises
    `RequestError` for an engine without a folder, and for a folder of another fit.
    """
    if model.state is not None:
        return InFolder.of(model.state, _told(model) | {"rng": rng, "data": _digest(learnt_from)})
    if model.engine is not None:
        raise RequestError(
            "state is required: workers of an engine cannot access the memory of this process. "
            "Name a folder that all workers can reach."
        )
    return InMemory()


def _told(model: Any) -> dict[str, Any]:
    """The settings that can change a digit, and the model's name."""
    kept = {each.name: getattr(model, each.name) for each in fields(model) if each.compare}
    return kept | {"model": model.name}


def _digest(arrays: tuple[Array, ...]) -> str:
    found = sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
