"""Protocols of trainers: settings, and a `fit` with a privacy cost."""

from collections.abc import Callable
from typing import Protocol

from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.ratings import Ratings


class AbstractTraining(Protocol):
    """Settings of a rating trainer. `fit` simulates every device, and the server between them.

    Its result has the guarantee of the complete run, at `epsilon`.
    """

    @property
    def name(self) -> str:
        """Name of the trainer on the command line, unique among models."""
        ...

    @property
    def where(self) -> tuple[str, ...]:
        """Parties that can compute its predictions: "provider", "device", "curator"."""
        ...

    @property
    def unit(self) -> str:
        """Privacy unit of its epsilon, as in its guarantee: "value", "slot" or "user"."""
        ...

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "0",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> Fitted:
        """Return a fitted model. `epsilon`: in nats of the guarantee's unit.

        `delta`: a decimal string, ignored by trainers without a delta.
        """
        ...


class AbstractListTraining(Protocol):
    """Settings of a top-N trainer, like `AbstractTraining` but for `FittedLists`."""

    @property
    def name(self) -> str:
        """Name of the trainer on the command line, unique among models."""
        ...

    @property
    def where(self) -> tuple[str, ...]:
        """Parties that can compute its lists."""
        ...

    @property
    def unit(self) -> str:
        """Privacy unit of its epsilon, as in its guarantee: "value", "slot" or "user"."""
        ...

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "0",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Return a fitted top-N model. `epsilon`: in nats of the guarantee's unit.

        Of ratings on a scale of stars, each is an interaction.
        """
        ...
