"""Fit of a released map: systems, their settings, and the record of what was released before.

x-map-strict, x-map-factors   `FactorMap`, a private item model that devices download
nx-map, nx-map-everybody      `ItemMap`, without privacy
x-map                         `ItemMap`, under the published claim, which fails
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from tacit import registry
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.x_map.item_map import ItemMap, check_release, everything
from tacit.crossdomain.x_map.refit_file import (
    Release,
    composed,
    debit,
    read_memory,
    write_memory,
)
from tacit.crossdomain.x_map.released import FactorMap, ReleasedMap
from tacit.crossdomain.x_map.strict import StrictMap
from tacit.crossdomain.x_map.x_map import EVERYBODY, XMap
from tacit.engines.engine import Engine, Local
from tacit.errors import RequestError
from tacit.models import item_model
from tacit.privacy.guarantee import PARTS
from tacit.privacy.ledger import epsilon_text
from tacit.scale import shortest
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism.accounting import check_promise
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.wire.item_model import ItemTarget

SYSTEMS: dict[str, XMap | StrictMap] = {
    "x-map-strict": StrictMap(training=DPCovariance()),
    "x-map-factors": StrictMap(training=DPALS()),
    "x-map": XMap(mode="faithful"),
    "nx-map": XMap(),
    "nx-map-everybody": EVERYBODY,
}
"""Systems whose map can be saved, by name."""


def fit_map(
    name: str,
    domains: Domains,
    *,
    epsilon: str | None = None,
    delta: str = "1e-6",
    engine: Engine | None = None,
    state: str | Path | None = None,
    releases: NoisyReleases | None = None,
    **settings: Any,
) -> ReleasedMap:
    """Fit a map to the ratings of joined domains, the target last.

    Parameters
    ----------
    name
        One of `SYSTEMS`.
    domains
        True ratings of all domains.
    epsilon
        Nats per user, a decimal string. Required, but for the systems without privacy.
    delta
        Of a strict map, a decimal string.
    engine
        Of `nx-map` and `x-map`. Default: this process.
    state
        Folder with the record of earlier fits, created by the first. `nx-map` then compares only
        items that changed. The guarantee of a private map is that of all its releases together.
    releases
        Replaced in tests only.
    **settings
        Settings of the system to change.

    Returns
    -------
    FactorMap or ItemMap
        The map with the guarantee that follows from what was run.

    Raises
    ------
    RequestError
        For an unknown name or setting, an epsilon that is missing, superfluous or out of range, a
        delta out of range, and domains without common users. None of them is recorded in `state`.
    """
    system, engine = configured(name, settings, epsilon), engine or Local()
    folder = None if state is None else Path(state)
    trial = everything(domains)
    if isinstance(system, XMap):
        # Not for a strict map: who links the domains is secret, and an error would reveal it.
        domains.require_links(trial.target)
    if epsilon is None and isinstance(system, XMap):
        return _refitted(system, domains, engine, folder)
    trial.require_stars()
    if isinstance(system, StrictMap):
        check_promise(str(epsilon), delta)
    spent = Release(
        name,
        _claimed(system, epsilon),
        delta if isinstance(system, StrictMap) else "0",
        domains.ratings.uncovered(PARTS),
        domains.ratings.assumptions,
    )
    every = (spent,) if folder is None else debit(folder, spent)
    if isinstance(system, XMap):
        item_map = ItemMap.fit(system, domains, engine=engine, epsilon=epsilon)
        return replace(item_map, guarantee=composed(item_map.guarantee, every))
    system = replace(system, delta=delta)
    fitted, cuts = system.release(trial, str(epsilon), releases or SecretReleases())
    target = ItemTarget(domains.bounds[trial.target], tuple(cuts.tolist()))
    guarantee = composed(fitted.guarantee, every)
    return FactorMap(replace(item_model(fitted), target=target, guarantee=guarantee))


def _refitted(system: XMap, domains: Domains, engine: Engine, state: Path | None) -> ItemMap:
    """Return the map of a system without privacy, from the earlier fit in `state` if there is
    one."""
    if state is None:
        return ItemMap.fit(system, domains, engine=engine)
    fitted, memory = ItemMap.refit(system, domains, read_memory(state, system), engine=engine)
    write_memory(state, memory, system)
    return fitted


def _claimed(system: XMap | StrictMap, epsilon: str | None) -> str:
    """Return the total epsilon of one release, a decimal string."""
    budget = system.budget(epsilon) if isinstance(system, XMap) else None
    return str(epsilon) if budget is None else shortest(sum(map(Decimal, budget), Decimal(0)))


def configured(name: str, settings: Mapping[str, Any], epsilon: str | None) -> XMap | StrictMap:
    """Return a system with changed settings, those of its trainer for a strict one.

    Raises `RequestError` for an unknown name or setting, for an epsilon that is missing or
    superfluous, and for a system that is not released.
    """
    system = _changed(name, settings)
    if isinstance(system, XMap):
        check_release(system, epsilon)
    elif epsilon is None:
        raise RequestError(f"{name} requires an epsilon per user, such as 8.")
    return system


def _changed(name: str, settings: Mapping[str, Any]) -> XMap | StrictMap:
    system = registry.named(SYSTEMS, name, "map")
    if isinstance(system, StrictMap):
        training = registry.changed(system.training, name, "map", settings)
        return replace(system, training=training)
    if fixed := sorted({"mode", "draws"} & set(settings)):
        raise RequestError(f"{fixed[0]} of {name} cannot be changed; choose another model.")
    return registry.changed(system, name, "map", settings)


def parsed(name: str, key: str, text: str) -> Any:
    """Parse the text of a setting. Raises `RequestError` for an unknown one or another type."""
    system = registry.named(SYSTEMS, name, "map")
    holder = system if isinstance(system, XMap) else system.training
    _changed(name, {key: getattr(holder, key, None)})
    if key == "neighbour_epsilon":
        return epsilon_text(text)
    return registry.parse_setting(holder, name, key, text)
