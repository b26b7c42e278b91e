"""Private trainers: read true ratings, add noise, and return a model with its guarantee.

A curator holds all users' ratings. In federated rounds each device keeps its user's ratings, as
with shuffled messages.
"""

from typing import Any

from tacit import registry
from tacit.errors import RequestError
from tacit.training.lists import DPEase as DPEase
from tacit.training.lists import DPPopularity as DPPopularity
from tacit.training.papers.berlioz import Berlioz as Berlioz
from tacit.training.papers.xian import FaithfulSVD as FaithfulSVD
from tacit.training.person.covariance import DPCovariance as DPCovariance
from tacit.training.person.dpals import DPALS as DPALS
from tacit.training.pg_mf import PGMF as PGMF
from tacit.training.protocol import AbstractListTraining as AbstractListTraining
from tacit.training.protocol import AbstractTraining as AbstractTraining
from tacit.training.shuffled.star_trainers import ShuffledCovariance as ShuffledCovariance
from tacit.training.shuffled.star_trainers import ShuffledItemMean as ShuffledItemMean
from tacit.training.shuffled.trainers import ShuffledEase as ShuffledEase
from tacit.training.shuffled.trainers import ShuffledPopularity as ShuffledPopularity
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
    ShuffledCovariance(),
    ShuffledItemMean(),
)
"""Trainers whose guarantee holds."""

FAITHFUL: tuple[AbstractTraining, ...] = (
    FaithfulSVD(noise="gradient"),
    FaithfulSVD(noise="gradient", implicit=True),
    FaithfulSVD(noise="objective"),
    FaithfulSVD(noise="objective", implicit=True),
    FaithfulSVD(noise="output"),
    FaithfulSVD(noise="output", implicit=True),
)
"""Trainers as published, with the printed claim and the reason why it fails."""

PER_PERSON = tuple(training.name for training in STRICT if training.unit == "user")
"""Names of the strict trainers with a guarantee per user. All built-in top-N trainers have one."""

TRAININGS: dict[tuple[str, str], AbstractTraining] = {
    (training.name, mode): training
    for mode, members in (("strict", STRICT), ("faithful", FAITHFUL))
    for training in members
}
"""All built-in rating trainers by name and mode."""


def _training(name: str, declared: Any) -> AbstractTraining:
    return registry.settings(name, declared, ("where", "fit"))


def _list_training(name: str, declared: Any) -> AbstractListTraining:
    return registry.settings(name, declared, ("where", "fit"))


STRICT_TRAININGS = registry.Registry("trainings", {one.name: one for one in STRICT}, _training)
"""Rating trainers in the mode "strict", by name. Plug-ins have this mode only."""

LIST_TRAININGS = registry.Registry(
    "list_trainings",
    {one.name: one for one in (DPEase(), DPPopularity(), ShuffledEase(), ShuffledPopularity())},
    _list_training,
)
"""Top-N trainers, whose guarantees hold. They use implicit feedback, not rating values."""


def names(mode: str = "strict") -> tuple[str, ...]:
    """Return the names of the rating trainers that have a mode, "strict" or "faithful"."""
    if mode == "strict":
        return tuple(STRICT_TRAININGS)
    return tuple(name for name, its in TRAININGS if its == mode)


def modes(name: str, wanted: str = "strict") -> tuple[str, ...]:
    """Return the modes a trainer runs in when `wanted` is strict, faithful or both.

    These are the available ones among the wanted modes. A trainer without the wanted mode runs in
    its only mode. Empty for an unknown name.
    """
    if name in LIST_TRAININGS:
        return ("strict",)
    had = tuple(mode for known, mode in TRAININGS if known == name)
    had = had or ("strict",) * (name in STRICT_TRAININGS)
    return tuple(mode for mode in had if wanted in (mode, "both")) or had[:1]


def unit(name: str) -> str | None:
    """Return the privacy unit of a trainer's epsilon.

    None for an unknown name, and for a plug-in without `unit`.
    """
    members = LIST_TRAININGS if name in LIST_TRAININGS else STRICT_TRAININGS
    return getattr(members.get(name), "unit", None)


def training(name: str, mode: str = "strict", **settings: Any) -> AbstractTraining:
    """Return the named trainer with `settings` changed.

    Raises `RequestError` for an unknown mode, and for a name or a setting unknown in it.
    """
    if mode not in ("strict", "faithful"):
        raise RequestError(f"mode must be strict or faithful, got '{mode}'.")
    faithful = {known: member for (known, its), member in TRAININGS.items() if its == mode}
    members = STRICT_TRAININGS if mode == "strict" else faithful
    known = registry.named(members, name, "trainer")
    return registry.changed(known, name, "trainer", settings)


def list_training(name: str, **settings: Any) -> AbstractListTraining:
    """Return the named top-N trainer with `settings` changed.

    Raises `RequestError` for an unknown name or setting.
    """
    known = registry.named(LIST_TRAININGS, name, "trainer")
    return registry.changed(known, name, "trainer", settings)
