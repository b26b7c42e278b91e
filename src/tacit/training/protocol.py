"""What a training is: settings, and one `fit` that spends an epsilon of its own."""

from collections.abc import Callable
from typing import Protocol

from tacit.models.fitted import Fitted
from tacit.ratings import Ratings


class AbstractTraining(Protocol):
    """Settings of a training; `fit` plays every device, and the server between them.

    What it returns carries the guarantee of the whole training, at `epsilon`.
    """

    @property
    def name(self) -> str:
        """The training's name on the command line, among those of the models."""
        ...

    @property
    def where(self) -> tuple[str, ...]:
        """Where its predictions exist: "provider", "device", "curator"."""
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
        """A fitted model; `epsilon` is in nats of the unit that its guarantee names.

        `delta`: a decimal string, for those whose promise has one; the others leave it.
        """
        ...
