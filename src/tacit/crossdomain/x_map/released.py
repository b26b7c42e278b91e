"""Released maps: fitted once, saved, and used to recommend to users by their ratings.

A `FactorMap` is an item model that devices download. An `ItemMap` cannot be published: it contains
raw means and similarities, which reveal individual ratings.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from tacit import models
from tacit.atomic_files import write_atomically
from tacit.crossdomain.domains import item_indices, notify_ambiguity
from tacit.crossdomain.x_map.item_map import ItemMap
from tacit.crossdomain.x_map.item_map_file import is_item_map
from tacit.device.profile import Profile
from tacit.errors import DataError, RequestError
from tacit.errors import path as given_path
from tacit.models import Fitted, FittedLists
from tacit.models.ranking import Notify, warn
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire.item_model import MAGICS, ItemModel
from tacit.wire.list_model import ListModel


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
        write_atomically(Path(path), self.published.to_bytes())

    def _device(self, profile: Ratings) -> Profile:
        codes = self.indices(profile)
        rows = np.flatnonzero(codes >= 0).tolist()
        values = [profile.scale.values[int(level)] for level in profile.levels]
        items = self.published.items
        return Profile(self.published, {items[codes[row]]: values[row] for row in rows})


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
