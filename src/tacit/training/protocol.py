"""What a training is: settings, and one `fit` that spends an epsilon of its own."""

from collections.abc import Callable
from typing import Protocol

from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
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

    @property
    def unit(self) -> str:
        """What its epsilon is per: "value", "slot" or "user", as its guarantee names it."""
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


class AbstractListTraining(Protocol):
    """Settings of a training of lists: the same, but for what is learnt."""

    @property
    def name(self) -> str:
        """The training's name on the command line, among those of the models."""
        ...

    @property
    def where(self) -> tuple[str, ...]:
        """Where its lists are made."""
        ...

    @property
    def unit(self) -> str:
        """What its epsilon is per: "value", "slot" or "user", as its guarantee names it."""
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
        """A fitted model of lists; `epsilon` is in nats of the unit that its guarantee names.

        Of ratings on a scale of stars, each is an interaction.
        """
        ...
