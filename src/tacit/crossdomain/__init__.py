"""Cross-domain recommendation: predict in a target domain from ratings in a source domain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit import registry
from tacit.crossdomain.systems.emcdr import EMCDR as EMCDR
from tacit.crossdomain.systems.emcdr import TasteMap as TasteMap
from tacit.crossdomain.systems.item_lists import ItemLists as ItemLists
from tacit.crossdomain.systems.item_means import Constant as Constant
from tacit.crossdomain.systems.item_means import ItemMeans as ItemMeans
from tacit.crossdomain.systems.knn import KNN as KNN
from tacit.crossdomain.systems.knn import RemoteUser as RemoteUser
from tacit.crossdomain.systems.merged import Merged as Merged
from tacit.crossdomain.systems.merged import MllibALS as MllibALS
from tacit.crossdomain.trial import System
from tacit.crossdomain.x_map.strict import StrictMap as StrictMap
from tacit.crossdomain.x_map.x_map import EVERYBODY
from tacit.crossdomain.x_map.x_map import XMap as XMap
from tacit.errors import RequestError
from tacit.models.lists import EASE, GraphFilter, Popularity
from tacit.training import DPALS, DPCovariance

PRIVACY = ("none", "strict")

CONSTANTS: tuple[System, ...] = (Constant(), Constant(level=False))
"""Baselines of every trial."""

MEMBERS: tuple[System, ...] = (
    *CONSTANTS,
    ItemMeans(),
    ItemMeans(mode="strict"),
    ItemMeans(offset=True),
    ItemMeans(offset=True, mode="strict"),
    RemoteUser(),
    KNN(),
    KNN(linked=True),
    Merged(),
    EMCDR(),
    XMap(),
    XMap(variant="user"),
    EVERYBODY,
    replace(EVERYBODY, variant="user"),
    XMap(mode="faithful"),
    XMap(variant="user", mode="faithful"),
    TasteMap(),
    StrictMap(training=DPCovariance()),
    StrictMap(training=DPALS()),
)
"""Systems that run on any engine, one per name, variant and mode."""

ON_SPARK: tuple[System, ...] = (MllibALS(),)
"""Systems that require Spark."""

OF_INTERACTIONS: tuple[System, ...] = (
    ItemLists(model=Popularity(), mode="strict"),
    *(ItemLists(model=model, mode=m) for model in (EASE(), GraphFilter()) for m in PRIVACY),
)
"""Systems that rank items by implicit feedback, one per name and mode. Popularity without privacy
is a baseline of every trial with lists."""


def _by_name(members: Sequence[System]) -> dict[str, tuple[System, ...]]:
    names = dict.fromkeys(member.name for member in members)
    return {name: tuple(m for m in members if m.name == name) for name in names}


SYSTEMS = _by_name((*MEMBERS, *ON_SPARK))
"""Systems that predict ratings, by name."""
LIST_SYSTEMS = _by_name(OF_INTERACTIONS)
"""Systems that rank items by implicit feedback, by name."""

MODES = ("strict", "faithful", "both")


def systems(name: str, mode: str = "strict") -> tuple[System, ...]:
    """Return the systems of a name: non-private ones, and those in the mode strict, faithful, or
    both.

    Raises `RequestError` for an unknown name or mode.
    """
    members = registry.named(SYSTEMS | LIST_SYSTEMS, name, "system")
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, got '{mode}'.")
    return tuple(m for m in members if m.mode in ("none", mode) or mode == "both")


def with_texts(system: System, texts: Mapping[str, str]) -> System:
    """Return a system with changed settings, given as text: those that it has.

    The settings of a strict map are those of its trainer, of lists those of their model. Raises
    `RequestError` for a text of another type.
    """
    holder = settings_of(system)
    settings = {
        key: registry.parse_setting(holder, system.name, key, text)
        for key, text in texts.items()
        if key in vars(holder)
    }
    inner: Any = registry.changed(holder, system.name, "system", settings)
    if isinstance(system, StrictMap):
        return replace(system, training=inner)
    return replace(system, model=inner) if isinstance(system, ItemLists) else inner


def settings_of(system: System) -> object:
    """Return the object whose fields are the system's settings: a strict map's trainer, the model
    of lists, or the system."""
    if isinstance(system, StrictMap):
        return system.training
    return system.model if isinstance(system, ItemLists) else system


def changed(system: System, **settings: Any) -> System:
    """Return a system with changed settings. Raises `RequestError` for an unknown setting."""
    return registry.changed(system, system.name, "system", settings)
