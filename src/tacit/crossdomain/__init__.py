"""Cross-domain recommendation: predict in a target domain from ratings in a source domain."""

from dataclasses import replace
from typing import Any

from tacit import registry
from tacit.crossdomain.systems.emcdr import EMCDR as EMCDR
from tacit.crossdomain.systems.emcdr import TasteMap as TasteMap
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
from tacit.training import DPALS, DPCovariance

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

SYSTEMS: dict[str, tuple[System, ...]] = {
    name: tuple(member for member in (*MEMBERS, *ON_SPARK) if member.name == name)
    for name in dict.fromkeys(member.name for member in (*MEMBERS, *ON_SPARK))
}
"""Systems by name."""

MODES = ("strict", "faithful", "both")


def systems(name: str, mode: str = "strict") -> tuple[System, ...]:
    """Return the systems of a name: non-private ones, and those in the mode strict, faithful, or
    both.

    Raises `RequestError` for an unknown name or mode.
    """
    members = registry.named(SYSTEMS, name, "system")
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, got '{mode}'.")
    return tuple(m for m in members if m.mode in ("none", mode) or mode == "both")


def changed(system: System, **settings: Any) -> System:
    """Return a system with changed settings. Raises `RequestError` for an unknown setting."""
    return registry.changed(system, system.name, "system", settings)
