"""A fitted top-N model: item-item weights, and the presence matrix of the reports."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError, integer, must_be
from tacit.errors import path as given_path
from tacit.kernels.layout import Side
from tacit.kernels.ranking.linked_lists import linked_lists
from tacit.kernels.ranking.topk import best_lists
from tacit.models.evidence.presence_matrix import PresenceMatrix, cells, public
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists import list_file
from tacit.models.lists.exclusion import (
    Exclusion,
    UserScorer,
    Where,
    items_by_user,
    maker_exclusion,
    users_of,
    with_reported,
)
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.ranking import (
    Id,
    Notify,
    RankedLists,
    best_with_scores,
    checked_length,
    is_one,
    known_item,
    largest,
    most_similar,
    of_kind,
    same_for_all,
    say_unknown,
    with_titles,
)
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings
from tacit.vocabulary import Vocabulary, raw_ids

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedLists:
    """A fitted top-N model.

    `weights`: between the items of `item_ids`, by which a device scores its user's own
    interactions. `presence`: debiased reports, whose rows the provider scores.
    `provider_weights`: the weights for that, whose scores are probabilities; None for `weights`.
    `tuning`: what the search of the fit chose, which a warm fit reuses; None without a search.
    """

    model: str
    user_ids: Vocabulary
    item_ids: Vocabulary
    weights: ItemWeights
    presence: PresenceMatrix
    guarantee: Guarantee
    provider_weights: ItemWeights | None = None
    tuning: Tuning | None = None

    def __repr__(self) -> str:
        return (
            f"<FittedLists {self.model}: {len(self.user_ids):,} users, "
            f"{len(self.item_ids):,} items, {self.guarantee.brief}>"
        )

    def _repr_html_(self) -> str:
        """Show size and guarantee."""
        lines = (
            ("users", f"{len(self.user_ids):,}"),
            ("items", f"{len(self.item_ids):,}"),
            ("guarantee", self.guarantee.sentence),
        )
        return card(f"Lists of {self.model}", lines)

    @classmethod
    def of(
        cls,
        model: str,
        data: Interactions,
        weights: ItemWeights,
        provider_weights: ItemWeights | None = None,
        tuning: Tuning | None = None,
    ) -> "FittedLists":
        """Return the fitted model named `model`, for the users and items of `data`."""
        return cls(
            model=model,
            user_ids=data.user_ids,
            item_ids=data.item_ids,
            weights=weights,
            presence=data.presence,
            guarantee=data.guarantee,
            provider_weights=provider_weights,
            tuning=tuning,
        )

    def lists(self, own: Ratings, length: int = 20, *, where: Where = "device") -> Codes:
        """Return the top items of every user: codes, best first, padded with -1.

        `own`: true interactions, matched by raw user and item ids. `where`: the recommending party.
        A "device" scores by its user's interactions in `own` and excludes them. The "provider" uses
        only reports: it excludes the reported items if presence is public, and none if it is
        protected. Users without a known item have no list (`exclusion`). Shape (users of the model,
        length).

        Raises `RequestError` for a length below 1, for another `where`, and if `own` is not a
        `Ratings`.
        """
        length = integer("length", length, 1)
        own_items = self.own_items(own)
        users, excluded = self.exclusion(own_items, where)
        codes = np.full((len(self.user_ids), length), -1, np.int32)
        links = None if where == "provider" else self.weights.links(self._rows(excluded))
        if links is not None:
            codes[users] = linked_lists(excluded, links, length)
        else:
            score = users_of(users, self.scorer(own_items, where))
            codes[users] = best_lists(score, excluded, len(self.item_ids), length)
        return codes

    def own_items(self, own: Ratings) -> Side:
        """Return the items of `own` by user, in the model's codes.

        Raises `RequestError` if `own` is not a `Ratings`, or shares no user and item with the
        model.
        """
        must_be(Ratings, own, "`Ratings`", "pass the ratings of the model's users")
        return items_by_user(own.aligned(self.user_ids, self.item_ids))

    def exclusion(self, own_items: Side, where: Where) -> Exclusion:
        """Return the users with a list and the items to exclude."""
        return maker_exclusion(own_items, self.presence, self.guarantee, where)

    def scorer(self, own_items: Side, where: Where) -> UserScorer:
        """Return the scores of all items, by own items or, for the provider, by reports."""
        if where == "provider":
            return self._by_reports
        rows = self._rows(own_items)
        return lambda some: self.weights.scores(rows[some])

    @overload
    def recommend(
        self,
        user: Id,
        n: int = 10,
        *,
        exclude: Iterable[Any] | None = None,
        candidates: Iterable[Any] | None = None,
        notify: Notify | None = None,
    ) -> list[tuple[Any, float]]:
        """Recommend to one user."""

    @overload
    def recommend(
        self,
        user: Iterable[Any],
        n: int = 10,
        *,
        exclude: Iterable[Any] | None = None,
        candidates: Iterable[Any] | None = None,
        titles: object = None,
        notify: Notify | None = None,
    ) -> pl.DataFrame:
        """Recommend to many users."""

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude: Iterable[Any] | None = None,
        candidates: Iterable[Any] | None = None,
        titles: object = None,
        notify: Notify | None = None,
    ) -> Any:
        """Return the n best items per user by their reports, with scores; best first, ties by item.

        As `Fitted.recommend`, with scores instead of ratings. Reported items are excluded where
        presence is public. Users without reports are dropped; `notify` is called with a notice.
        Raises `RequestError` if no user is left.
        """
        one = is_one(user, titles)
        users = raw_ids([user] if one else user)
        people = self.user_ids.codes(users)
        if not (people >= 0).any():
            who = f"user {user!r}" if one else f"any of these {len(users)} users"
            raise RequestError(f"The model contains no reports from {who}; choose another user.")
        say_unknown(users, people, "skipping them", notify)
        reporting = np.flatnonzero(people >= 0)
        known = people[reporting]
        excluded = same_for_all(self.item_ids, exclude, len(known), candidates)
        best = best_with_scores(
            lambda some: self._by_reports(known[some]),
            with_reported(excluded, known, self.presence),
            len(self.item_ids),
            checked_length(n, len(self.item_ids)),
        )
        lists = RankedLists(users.gather(reporting), self.item_ids, *best)
        return lists.first() if one else of_kind(with_titles(lists.frame("score"), titles), user)

    def recommend_to(self, items: Iterable[Any], n: int = 10) -> list[tuple[Any, float]]:
        """Return the n best items for a user with `items` (raw ids, unknown ones ignored).

        Raises `RequestError` for arguments that are not ids, and if the model has none of the
        items.
        """
        known = self.item_ids.codes(raw_ids(items))
        if not (known >= 0).any():
            raise RequestError(
                f"items must contain at least one item of the model, got {len(known)} unknown "
                "items; use the ids of the catalogue."
            )
        n_items, excluded = len(self.item_ids), same_for_all(self.item_ids, items, 1)
        scores = self.weights.scores(self._rows(excluded))
        best = best_with_scores(scores.__getitem__, excluded, n_items, checked_length(n, n_items))
        return RankedLists(raw_ids([0]), self.item_ids, *best).first()

    def similar_items(self, item: Id, n: int = 10) -> list[tuple[Any, float]]:
        """Return the n items to whose scores `item`, a raw id, adds most, as (item, weight) pairs.

        Raises `RequestError` for an unknown item, and for a model without weights.
        """
        code = known_item(self.item_ids, item)
        return most_similar(self.item_ids, self.weights.rows([code])[0], code, n)

    def explain(self, item: Id, items: Iterable[Any], n: int = 5) -> list[tuple[Any, float]]:
        """Return the n items that add most to a user's score of `item`, as (item, weight) pairs.

        `items`: the user's own items, raw ids, unknown ones ignored. Raises `RequestError` for an
        unknown `item`, if the model has none of `items`, and for a model without weights.
        """
        code, ids = known_item(self.item_ids, item), raw_ids(items)
        codes = self.item_ids.codes(ids)
        if not (codes >= 0).any():
            raise RequestError("items must contain at least one item of the model, got none.")
        known = np.flatnonzero(codes >= 0)
        return largest(ids.gather(known), self.weights.rows(codes[known].tolist())[:, code], n)

    def exposures(self, users: Codes) -> Floats:
        """Return the scores of all items by the users' reports, shape (users, items).

        `users`: codes, -1 for a user without reports, who gets the popularity. Where that is zero,
        and for other users without any score, all scores are 1.
        """
        scores = self._by_reports(np.maximum(users, 0))
        return distinguishing(np.where(users[:, None] >= 0, scores, self.weights.popularity))

    def on_devices(self, own: Ratings) -> "FittedLists":
        """Return the model of devices that score by their users' true items, those of `own`."""
        own_items = self._rows(self.own_items(own))
        return replace(self, presence=public(own_items), provider_weights=None)

    def without_reports(self) -> "FittedLists":
        """Return the model with no reports of its users: what a warm fit requires."""
        empty = csr_array(self.presence.shape, dtype=np.float32)
        presence = replace(self.presence, reported=empty, asked=None, products=None, blocks=None)
        return replace(self, presence=presence, provider_weights=None)

    def save(self, path: Path | str) -> None:
        """Write the model with its users' reports to one file. Raises `RequestError` if that fails.

        `list_model` returns what may be published, without users.
        """
        list_file.write(given_path(path), vars(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model written by `save`. Raises `RequestError` for any other file."""
        return cls(**list_file.read(path))

    def _rows(self, seen: Side) -> csr_array:
        return cells(seen, len(self.item_ids)).astype(np.float32)

    def _by_reports(self, some: slice | Codes) -> Floats:
        """Return scores of some users' reports."""
        weights = self.provider_weights
        if weights is None:
            return self._debiased(self.weights, some)
        return self.presence.unowned(self._debiased(weights, some), some)

    def _debiased(self, weights: ItemWeights, some: slice | Codes) -> Floats:
        """Return popularity + C W for some users, W without its diagonal if C is noisy."""
        presence, popularity = self.presence, weights.popularity
        up = presence.gain[some].astype(np.float32)[:, None]
        reported = weights.scores(self._lifted(presence.reported[some]))
        scores = (reported - popularity) * up + popularity
        if not presence.protected:
            return scores
        everything = csr_array(np.ones((1, presence.shape[1]), np.float32))
        queried = everything if presence.asked is None else self._lifted(presence.asked[some])
        silent = weights.scores(queried) - popularity
        down = up * presence.unrated[some].astype(np.float32)[:, None]
        scores -= silent * down
        if weights.directions is not None:
            scores -= presence.dense(some) * weights.directions.diagonal
        return np.asarray(scores, np.float32)

    def _lifted(self, rows: csr_array) -> csr_array:
        """Return rows of 0 and 1, in which an item counts by the queried fraction of its block."""
        light = csr_array(rows.astype(np.float32))
        if self.presence.blocks is not None:
            light.data = self.presence.lift.astype(np.float32)[light.indices]
        return light


def distinguishing(scores: Floats) -> Floats:
    """Return the scores, with 1 for all items of users without any score, shape (users, items)."""
    return np.where(scores.any(1, keepdims=True), scores, np.float32(1))
