"""Released maps: fit a cross-domain system once, save it, and recommend to users by their ratings.

    x-map-strict, x-map-factors   `FactorMap`, a private item model that devices download
    nx-map, nx-map-everybody      `ItemMap`, without privacy
    x-map                         `ItemMap`, under the published claim, which fails

Only a factor map can be published. The others contain raw means and similarities, which reveal
individual ratings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from tacit import models, registry
from tacit.crossdomain.domains import Domains, item_indices, notify_ambiguity
from tacit.crossdomain.x_map.item_map import ItemMap, check_release, everything
from tacit.crossdomain.x_map.item_map_file import is_item_map
from tacit.crossdomain.x_map.refit_file import (
    Release,
    composed,
    debit,
    read_memory,
    write_memory,
)
from tacit.crossdomain.x_map.strict import StrictMap
from tacit.crossdomain.x_map.x_map import EVERYBODY, XMap
from tacit.device.profile import Profile
from tacit.engines.engine import Engine, Local
from tacit.errors import DataError, RequestError
from tacit.errors import path as given_path
from tacit.models import Fitted, FittedLists, item_model
from tacit.models.ranking import Notify, warn
from tacit.privacy.guarantee import PARTS, Guarantee
from tacit.privacy.ledger import epsilon_text
from tacit.ratings import Codes, Ratings
from tacit.scale import RatingScale, shortest
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism.accounting import check_promise
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.vocabulary import Vocabulary
from tacit.whole_files import write_whole
from tacit.wire.item_model import MAGICS, ItemModel, ItemTarget
from tacit.wire.list_model import ListModel

SYSTEMS: dict[str, XMap | StrictMap] = {
    "x-map-strict": StrictMap(training=DPCovariance()),
    "x-map-factors": StrictMap(training=DPALS()),
    "x-map": XMap(mode="faithful"),
    "nx-map": XMap(),
    "nx-map-everybody": EVERYBODY,
}
"""Systems whose map can be saved, by name."""


class ReleasedMap(Protocol):
    """A map of any kind. `predict` and `recommend` take one user's ratings of any domain."""

    @property
    def scale(self) -> RatingScale:
        """Public rating scale."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the release."""
        ...

    def indices(self, profile: Ratings) -> Codes:
        """Return the index of the item of each rating, -1 for an unknown one."""
        ...

    def predict(self, profile: Ratings) -> Any:
        """Predict the ratings of all target items, on the scale, shape (targets,)."""
        ...

    def recommend(
        self, profile: Ratings, n: int = 10, *, notify: Notify = warn
    ) -> list[tuple[Any, float]]:
        """Return the n best unrated target items, with predicted ratings."""
        ...

    def save(self, path: Path | str) -> None:
        """Write the map to one file."""
        ...


@dataclass(frozen=True, eq=False)
class FactorMap:
    """A strict map: an item model of all domains that recommends target items.

    Raises `RequestError` for an item model of one domain.
    """

    published: ItemModel

    def __post_init__(self) -> None:
        if self.published.target is None:
            raise RequestError(
                "This item model has no target domain, so it is not a map; name a map, or the "
                "model that `tacit fit` wrote."
            )

    @property
    def scale(self) -> RatingScale:
        """Public rating scale."""
        return self.published.scale

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the release."""
        return self.published.guarantee

    @property
    def first(self) -> int:
        """Index of the first target item."""
        return self.published.target.first if self.published.target else 0

    @property
    def item_ids(self) -> Vocabulary:
        """Ids of the sources' items, then of the target's."""
        return Vocabulary(pl.Series("id", map(str, self.published.items), pl.String))

    def indices(self, profile: Ratings) -> Codes:
        """Return the index of the item of each rating, -1 for an unknown one."""
        raw = profile.item_ids.take(profile.items).cast(pl.String)
        return item_indices(self.item_ids, self.first, raw, profile.name)

    def predict(self, profile: Ratings) -> Any:
        """Predict one user's ratings of all target items, on the scale, shape (targets,).

        Raises `RequestError` for a profile without items of the map, or on another scale.
        """
        mine = self._device(profile)
        return np.array([mine.predict(item) for item in self.published.items[self.first :]])

    def recommend(
        self, profile: Ratings, n: int = 10, *, notify: Notify = warn
    ) -> list[tuple[Any, float]]:
        """Return the n best unrated target items, as on the user's device. Raises as `predict`.

        `notify` is called with a notice about ids that items of several domains have.
        """
        notify_ambiguity(self.item_ids, self.first, profile, notify)
        return self._device(profile).recommend(n)

    def save(self, path: Path | str) -> None:
        """Write the item model that devices download. Raises `OSError` if that fails."""
        write_whole(Path(path), self.published.to_bytes())

    def _device(self, profile: Ratings) -> Profile:
        codes = self.indices(profile)
        rows = np.flatnonzero(codes >= 0).tolist()
        values = [profile.scale.values[int(level)] for level in profile.levels]
        items = self.published.items
        return Profile(self.published, {items[codes[row]]: values[row] for row in rows})


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


def is_map(path: Path) -> bool:
    """Return whether a file contains a map or an item model, well-formed or not."""
    return _is_item_model(path) or is_item_map(path)


def load_map(path: Path) -> ReleasedMap:
    """Read a map written by `save`, whose guarantee is as stated by its provider.

    Raises `RequestError` for any other file, and for values out of range.
    """
    return FactorMap(_item_model(path)) if _is_item_model(path) else ItemMap.load(path)


def load(path: Path | str) -> Fitted | FittedLists | ItemModel | ListModel | ReleasedMap:
    """Read a model or map file of `tacit fit`, of `save`, of `to_bytes` or of a collector.

    Returns a `Fitted`, a `FittedLists`, the `ListModel` of a top-N model without users, an
    `ItemModel`, or a cross-domain map, whose guarantee is as stated by its provider. Raises
    `RequestError` for any other file.
    """
    file = given_path(path)
    if not _is_item_model(file):
        return load_map(file) if is_item_map(file) else models.load(file)
    published = _item_model(file)
    return published if published.target is None else FactorMap(published)


def _item_model(path: Path) -> ItemModel:
    try:
        return ItemModel.from_bytes(path.read_bytes())
    except DataError as error:
        raise RequestError(
            f"{path} is not a saved model ({str(error).rstrip('.')}); create one with `tacit fit`."
        ) from None


def _is_item_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGICS[0])) in MAGICS
    except OSError:
        return False
