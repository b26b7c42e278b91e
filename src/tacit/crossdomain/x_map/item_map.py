"""A released item-based map: what `nx-map` and `x-map` compute from ratings, for later users.

It contains the replacement of every source item, the neighbours of every target item with their
similarities, and the means of target items. The AlterEgo and the predictions of a user are computed
from these and from that user's own ratings:

    Pred_A(i) = r_i + sum_j s_ij (r_Aj - r_j) w_Aj / (sum_j |s_ij| w_Aj + prior)

where j runs over the neighbours of i in the AlterEgo of A (`tacit.crossdomain.neighbours`). Later
users do not change neighbours and means. `x-map` draws replacements and neighbours once, for all
users, because each draw is a separate release.

A user-based map would contain the ratings of other users and is not released.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains, item_indices, notify_ambiguity
from tacit.crossdomain.neighbours import POINT_BITS, TargetProfiles, age, means_of
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map import item_map_file
from tacit.crossdomain.x_map.refit import Memory
from tacit.crossdomain.x_map.replacement import NOTHING, averaged, united
from tacit.crossdomain.x_map.x_map import FittedXMap, XMap
from tacit.engines.engine import Engine
from tacit.errors import RequestError, integer
from tacit.kernels.neighbourhood.predictions import Circle, Profiles, Requests, Shared, by_items
from tacit.models.ranking import Notify, warn
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Mask, Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]
RELEASED = "a map computed from true ratings"


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemMap:
    """Released replacements, neighbours and means. The target is the last domain.

    `system`: settings of the fit. `item_ids`: of the sources, then from the index `first` on of the
    target. `replacement`: index of the target item that replaces each source item, -1 for none,
    shape (first,). `neighbours`: indices of target items, best first, padded with -1, shape
    (targets, k). `similarities`: of the same shape. `means`: of target items, in steps above the
    lowest level, shape (targets,).
    """

    system: XMap
    scale: RatingScale
    item_ids: Vocabulary
    first: int
    replacement: Codes
    neighbours: Codes
    similarities: Doubles
    means: Doubles
    guarantee: Guarantee

    def __repr__(self) -> str:
        return (
            f"<ItemMap {self.model}: {self.first:,} source items, {len(self.means):,} target "
            f"items, {self.guarantee.brief}>"
        )

    @property
    def model(self) -> str:
        """Name of the system."""
        return self.system.name

    @classmethod
    def fit(
        cls, system: XMap, domains: Domains, *, engine: Engine, epsilon: str | None = None
    ) -> Self:
        """Compute a map from the ratings of joined domains, the target last.

        `epsilon`: nats as claimed by `x-map`, a decimal string, None for `nx-map`. Raises
        `RequestError` for a user-based system, for an epsilon that is missing or superfluous, and
        for domains without common users.
        """
        check_release(system, epsilon)
        trial = everything(domains)
        domains.require_links(trial.target)
        return cls.of(system, domains, system.fit(trial, engine=engine, epsilon=epsilon))

    @classmethod
    def refit(
        cls, system: XMap, domains: Domains, memory: Memory, *, engine: Engine
    ) -> tuple[Self, Memory]:
        """Compute the map of `fit`, and compare only items that changed since the earlier fit.

        `memory`: of that fit, with the same settings and target, or empty. Returns the map and the
        memory for the next refit. Raises `RequestError` for a system with privacy, whose every fit
        is another release, and as `fit` does.
        """
        check_release(system, None)
        trial = everything(domains)
        domains.require_links(trial.target)
        fitted = system.fit(trial, engine=engine, memory=memory)
        return cls.of(system, domains, fitted), fitted.memory or memory

    @classmethod
    def of(cls, system: XMap, domains: Domains, fitted: FittedXMap) -> Self:
        """Return the map of a fitted system."""
        first = domains.bounds[-2]
        means = means_of(fitted.profile, fitted.profile.items, domains.ratings.n_items)
        return cls(
            system=system,
            scale=domains.ratings.scale,
            item_ids=domains.ratings.item_ids,
            first=first,
            replacement=fitted.map.chosen[:first],
            neighbours=fitted.near.code,
            similarities=fitted.near.s,
            means=means[first:],
            guarantee=domains.ratings.qualified(replace(fitted.guarantee, released=RELEASED)),
        )

    def save(self, path: Path | str) -> None:
        """Write the map to one file, without pickle. Raises `RequestError` if that fails."""
        item_map_file.write(path, vars(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a map written by `save`, whose guarantee is as stated by its provider.

        Raises `RequestError` for any other file, and for values out of range.
        """
        return cls(**item_map_file.read(path))

    def indices(self, profile: Ratings) -> Codes:
        """Return the index of the item of each rating, -1 for an unknown one."""
        raw = profile.item_ids.take(profile.items)
        return item_indices(self.item_ids, self.first, raw, profile.name)

    def predict(self, profile: Ratings) -> Doubles:
        """Predict one user's ratings of all target items, on the scale, shape (targets,).

        `profile`: this user's ratings, of any domain. Raises `RequestError` for another scale.
        """
        return np.clip(self._scores(profile), float(self.scale.low), float(self.scale.high))

    def _scores(self, profile: Ratings) -> Doubles:
        """Return the predictions of all target items, which may be off the scale."""
        alterego = self._alterego(profile)
        above = alterego.points / 2**POINT_BITS - self.means[alterego.items]
        weight = np.exp(-self.system.decay * age(alterego))
        ends = np.array([0, len(above)])
        mine = Profiles(ends, alterego.items, above, weight)
        everyone = np.arange(len(self.means), dtype=np.int32)
        requests = Requests(np.zeros(1, np.int32), np.array([0, len(everyone)]), everyone)
        steps = by_items(requests, Shared(mine, self._circle)).value
        return float(self.scale.low) + float(self.scale.step) * steps

    def recommend(
        self, profile: Ratings, n: int = 10, *, notify: Notify = warn
    ) -> list[tuple[Any, float]]:
        """Return the n best target items that a user has not rated, with predicted ratings, best
        first, ties by item.

        Predictions off the scale are ranked before they are clipped. Raises `RequestError` as
        `predict` does, and for an n below 0. `notify` is called with a notice about ids that items
        of several domains have.
        """
        notify_ambiguity(self.item_ids, self.first, profile, notify)
        scores = self._scores(profile)
        owned = np.isin(np.arange(len(scores)) + self.first, self.indices(profile))
        order = np.argsort(-scores, kind="stable")
        best = order[~owned[order]][: integer("n", n, 0)]
        items = self.item_ids.take((best + self.first).astype(np.int32)).to_list()
        ratings = np.clip(scores[best], float(self.scale.low), float(self.scale.high))
        return list(zip(items, ratings.tolist(), strict=True))

    def _alterego(self, profile: Ratings) -> TargetProfiles:
        """Return a user's own target ratings and replaced source ratings, items from 0 on."""
        if profile.scale != self.scale:
            raise RequestError(
                f"The profile must be on the map's scale {self.scale}, got {profile.scale}."
            )
        index = self.indices(profile)
        targets = index >= self.first
        to = np.where(index >= 0, self.replacement[np.minimum(index, self.first - 1)], NOTHING)
        replaced = averaged(self._profile(profile, ~targets & (to != NOTHING), to))
        return united(self._profile(profile, targets, index), replaced, len(self.means))

    def _profile(self, profile: Ratings, rows: Mask, items: Codes) -> TargetProfiles:
        order = np.argsort(items[rows], kind="stable")
        mine = np.flatnonzero(rows)[order]
        times = np.zeros(len(profile), np.int64) if profile.times is None else profile.times
        return TargetProfiles(
            np.zeros(len(mine), np.int32),
            (items[mine] - self.first).astype(np.int32),
            profile.levels[mine].astype(np.int64) << POINT_BITS,
            times[mine],
        )

    @cached_property
    def _circle(self) -> Circle:
        """Neighbours and means, with items of the target from 0 on."""
        code = np.where(self.neighbours < 0, NOTHING, self.neighbours - self.first)
        rows = np.arange(len(self.means), dtype=np.int32)
        prior = self.system.neighbourhood.prior
        return Circle(rows, code.astype(np.int32), self.similarities, self.means, prior)


def everything(domains: Domains) -> Trial:
    """Return a trial that hides no rating, with the last domain as the target."""
    nobody = np.empty(0, np.int32)
    return Trial(domains, len(domains.names) - 1, nobody, nobody, nobody)


def check_release(system: XMap, epsilon: str | None) -> None:
    """Raise `RequestError` for a system that is not released, and for an epsilon without privacy or
    privacy without an epsilon."""
    if system.variant == "user":
        raise RequestError(
            f"A user-based {system.name} predicts from the ratings of other users, which a map "
            "would contain; use the item variant, or evaluate it with `tacit crossdomain`."
        )
    if system.mode == "none" and epsilon is not None:
        raise RequestError(
            f"{system.name} has no privacy and no epsilon; leave epsilon out, or choose "
            "x-map-strict."
        )
    system.budget(epsilon)
