"""Top-N recommendation models, trained on implicit feedback."""

from collections.abc import Callable
from typing import Any, Protocol

from tacit.models.lists.baselines import Popularity as Popularity
from tacit.models.lists.baselines import Random as Random
from tacit.models.lists.ease import EASE as EASE
from tacit.models.lists.exclusion import Where
from tacit.models.lists.fitted import FittedLists as FittedLists
from tacit.models.lists.graph_filter import GraphFilter as GraphFilter
from tacit.models.lists.interactions import Interactions as Interactions
from tacit.models.lists.interactions import interactions as interactions
from tacit.ratings import Codes, Ratings
from tacit.registry import Registry, settings


class Lists(Protocol):
    """A fitted top-N recommendation model."""

    def lists(self, own: Ratings, length: int = 20, *, where: Where = "device") -> Codes:
        """Return every user's list, item codes, shape (users, length), as `FittedLists.lists`."""
        ...


class AbstractListModel(Protocol):
    """Settings of a top-N model. `fit` does not change them."""

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        ...

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> Lists:
        """Return a fitted model.

        `rng`: seed of initial values and draws. `advance`: progress callback, called with the
        fraction of the work done.
        """
        ...


def _list_model(name: str, declared: Any) -> AbstractListModel:
    return settings(name, declared, ("fit",))


LIST_MODELS = Registry(
    "list_models",
    {model.name: model for model in (Random(), Popularity(), EASE(), GraphFilter())},
    _list_model,
)
