"""Private trainers: read true ratings, add noise, and return a model with its guarantee.

A curator holds everybody's ratings; in rounds nobody does, and each device answers for its own.
"""

from collections.abc import Callable
from typing import Any, Literal, overload

from tacit import registry
from tacit.errors import RequestError
from tacit.given import whole
from tacit.models import Fitted, FittedLists
from tacit.privacy.epsilon import epsilon_text
from tacit.readers import as_ratings
from tacit.scale import RatingScale
from tacit.training.lists.ease import DPEase as DPEase
from tacit.training.lists.popularity import DPPopularity as DPPopularity
from tacit.training.papers.berlioz import Berlioz as Berlioz
from tacit.training.papers.xian import FaithfulSVD as FaithfulSVD
from tacit.training.person.covariance import DPCovariance as DPCovariance
from tacit.training.person.dpals import DPALS as DPALS
from tacit.training.protocol import AbstractListTraining as AbstractListTraining
from tacit.training.protocol import AbstractTraining as AbstractTraining
from tacit.training.rounds.pg_mf import PGMF as PGMF
from tacit.training.value.private_svd import PrivateSVD as PrivateSVD

STRICT: tuple[AbstractTraining, ...] = (
    PGMF(),
    PrivateSVD(noise=None),
    PrivateSVD(noise="gradient"),
    PrivateSVD(noise="gradient", implicit=True),
    PrivateSVD(noise="objective"),
    PrivateSVD(noise="objective", implicit=True),
    PrivateSVD(noise="output"),
    PrivateSVD(noise="output", implicit=True),
    Berlioz(noise="gradient"),
    Berlioz(noise="output"),
    DPALS(),
    DPCovariance(),
)
"""Trainings whose promise holds."""

FAITHFUL: tuple[AbstractTraining, ...] = (
    FaithfulSVD(noise="gradient"),
    FaithfulSVD(noise="gradient", implicit=True),
    FaithfulSVD(noise="objective"),
    FaithfulSVD(noise="objective", implicit=True),
    FaithfulSVD(noise="output"),
    FaithfulSVD(noise="output", implicit=True),
)
"""Trainings as published, with the claim that is printed for them and the reason why it fails."""

PER_PERSON = tuple(training.name for training in STRICT if training.unit == "user")
"""Those of them whose promise is one to a whole person; built-in trainings of lists all are."""

TRAININGS: dict[tuple[str, str], AbstractTraining] = {
    (training.name, mode): training
    for mode, members in (("strict", STRICT), ("faithful", FAITHFUL))
    for training in members
}
"""Every built-in training by name and mode."""


def _training(name: str, declared: Any) -> AbstractTraining:
    return registry.settings(name, declared, ("where", "fit"))


def _list_training(name: str, declared: Any) -> AbstractListTraining:
    return registry.settings(name, declared, ("where", "fit"))


STRICT_TRAININGS = registry.Registry("trainings", {one.name: one for one in STRICT}, _training)
"""Trainings on ratings in the mode "strict", by name: the only mode that a plug-in has."""

LIST_TRAININGS = registry.Registry(
    "list_trainings", {one.name: one for one in (DPEase(), DPPopularity())}, _list_training
)
"""Trainings of lists, whose promises hold: they learn who did what, and no ratings."""


def names(mode: str = "strict") -> tuple[str, ...]:
    """The names of the trainings on ratings that have a mode, "strict" or "faithful"."""
    if mode == "strict":
        return tuple(STRICT_TRAININGS)
    return tuple(name for name, its in TRAININGS if its == mode)


def modes(name: str, wanted: str = "strict") -> tuple[str, ...]:
    """The modes a training runs in when `wanted` is strict, faithful or both: those it has, and the
    only one it has where it lacks the wanted one; none for what is no training."""
    if name in LIST_TRAININGS:
        return ("strict",)
    had = tuple(mode for known, mode in TRAININGS if known == name)
    had = had or ("strict",) * (name in STRICT_TRAININGS)
    return tuple(mode for mode in had if wanted in (mode, "both")) or had[:1]


def unit(name: str) -> str | None:
    """What the epsilon of a training is per; None of a plug-in's that does not say, and of what is
    no training."""
    members = LIST_TRAININGS if name in LIST_TRAININGS else STRICT_TRAININGS
    return getattr(members.get(name), "unit", None)


def training(name: str, mode: str = "strict", **settings: Any) -> AbstractTraining:
    """The named training with some settings changed.

    Raises `RequestError` for a mode that does not exist, and for a name or a setting that does not
    exist in it.
    """
    if mode not in ("strict", "faithful"):
        raise RequestError(f"mode must be strict or faithful, got '{mode}'.")
    faithful = {known: member for (known, its), member in TRAININGS.items() if its == mode}
    members = STRICT_TRAININGS if mode == "strict" else faithful
    known = registry.named(members, name, "trainer")
    return registry.changed(known, name, "trainer", settings)


def list_training(name: str, **settings: Any) -> AbstractListTraining:
    """The named training of lists with some settings changed.

    Raises `RequestError` for a name or a setting that does not exist.
    """
    known = registry.named(LIST_TRAININGS, name, "trainer")
    return registry.changed(known, name, "trainer", settings)


@overload
def train(  # pyright: ignore[reportOverlappingOverload]  # a name of the other kind is a str too
    name: Literal["dp-ease", "dp-popularity"],
    ratings: object,
    *,
    epsilon: str | float,
    delta: str = "1e-6",
    mode: str = "strict",
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = ...,
    **settings: Any,
) -> FittedLists:
    """A training of lists."""


@overload
def train(
    name: str,
    ratings: object,
    *,
    epsilon: str | float,
    delta: str = "1e-6",
    mode: str = "strict",
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = ...,
    **settings: Any,
) -> Fitted:
    """A training on ratings."""


def train(
    name: str,
    ratings: object,
    *,
    epsilon: str | float,
    delta: str = "1e-6",
    mode: str = "strict",
    scale: RatingScale | str | None = None,
    rng: int = 0,
    advance: Callable[[float], None] = lambda done: None,
    **settings: Any,
) -> Any:
    """Run the named training on everybody's true ratings, whatever `as_ratings` reads them from,
    on the public `scale`; where it is not given, it is that of the data, or inferred with a notice.

    `epsilon`: nats of the unit that the training's guarantee names, and `delta` for those that
    need one; decimal strings, or an epsilon as a number. `advance` hears the share of the work that
    is done, 0 to 1. A `Fitted`, or `FittedLists` of a training of lists. Raises as `training` does,
    and as the training's own `fit`.
    """
    whole("rng", rng, 0)
    lists = name in LIST_TRAININGS
    member = list_training(name, **settings) if lists else training(name, mode, **settings)
    own = as_ratings(ratings, scale=scale)
    # Text stays as it is: what is no epsilon each training refuses in its own words.
    text = epsilon if isinstance(epsilon, str) else epsilon_text(epsilon)
    return member.fit(own, epsilon=text, delta=delta, rng=rng, advance=advance)
