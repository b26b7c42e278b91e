"""Fitted models as frozen values: prediction, recommendation, persistence and guarantee."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, Self, get_args, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.device.profile import RankBy
from tacit.errors import RequestError, must_be, shown
from tacit.errors import path as given_path
from tacit.kernels.layout import Side
from tacit.kernels.predict import bilinear, median, predict
from tacit.models import model_file
from tacit.models.best_items import ItemRanker, MeanForm
from tacit.models.distillation import CondensedItems
from tacit.models.evidence.presence_features import Presence
from tacit.models.item_relations import contributions, correlations
from tacit.models.lists.exclusion import with_reported
from tacit.models.lists.fitted import FittedLists
from tacit.models.ranking import (
    Id,
    Notify,
    RankedLists,
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
from tacit.ratings import Codes
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabularies, Vocabulary, raw_ids

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Ids = Iterable[Any]
"""Raw ids: a list, an array, or a polars or pandas series."""
CO_RATINGS = "statistics of which items are rated together, published with the model"


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """D draws of one bilinear form (D = 1 for a point estimate).

        theta_ui = mu + x_u[0] + y_i[0] + x_u[1:] . y_i[1:]

    `mu`: shape (D,). `people`: shape (D, users, 1 + K), `items`: shape (D, items, 1 + K), column 0
    the bias. `precision`: shape (D, 1 + K), of the normal prior of a user's row, whose mean is
    `presence` features times `prior_weights` (D, features, 1 + K), or zero. `sigma`: residual
    deviation of the cells link on the rating scale; 0 for the linear link, whose noise then has
    unit variance. `condensed`: the draws' item side distilled into one draw, which devices receive;
    None where they receive the draws. `exposure`: scores of which items a user interacts with, for
    rankings by expected gain; None for rankings by predicted rating.

    Predictions accept unknown users and items: an unknown user gets the average user's rating of
    the item, an unknown item the user's own average.
    """

    model: str
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    mu: NDArray[np.float64]
    people: Floats
    items: Floats
    precision: Floats
    sigma: float
    guarantee: Guarantee
    presence: Presence | None = None
    prior_weights: Floats | None = None
    condensed: CondensedItems | None = None
    exposure: FittedLists | None = None

    def __repr__(self) -> str:
        draws = f", {len(self.mu)} draws" if len(self.mu) > 1 else ""
        return (
            f"<Fitted {self.model}: {len(self.user_ids):,} users, {len(self.item_ids):,} items, "
            f"{self.items.shape[2] - 1} factors{draws}, {self.guarantee.brief}>"
        )

    def _repr_html_(self) -> str:
        """Show size and guarantee."""
        lines = (
            ("users", f"{len(self.user_ids):,}"),
            ("items", f"{len(self.item_ids):,}"),
            ("factors", self.items.shape[2] - 1),
            ("draws", len(self.mu)),
            ("scale", self.scale),
            ("guarantee", self.guarantee.sentence),
        )
        return card(f"Fitted {self.model}", lines)

    @classmethod
    def point(
        cls,
        model: str,
        data: Vocabularies,
        *,
        mu: float,
        people: Doubles | Floats,
        items: Doubles | Floats,
        precision: Doubles | Floats,
        guarantee: Guarantee,
    ) -> Self:
        """Return a point estimate with the linear link, for the users and items of `data`.

        `people`: shape (users, 1 + K), `items`: (items, 1 + K), `precision`: (1 + K,).
        """
        return cls(
            model=model,
            scale=data.scale,
            user_ids=data.user_ids,
            item_ids=data.item_ids,
            mu=np.array([mu]),
            people=people.astype(np.float32)[None],
            items=items.astype(np.float32)[None],
            precision=precision.astype(np.float32)[None],
            sigma=0.0,
            guarantee=guarantee,
        )

    def on_devices(self) -> Self:
        """Return the model with the devices' item side; users remain as the provider sees them."""
        one = self.condensed
        if one is None:
            return self
        return replace(
            self,
            mu=np.array([one.mu]),
            items=one.items[None],
            precision=one.precision[None],
            prior_weights=one.prior_weights[None],
        )

    def with_exposure(self, exposure: FittedLists | None) -> Self:
        """Return the model with an exposure for its users and items, or without one.

        If presence is public, the guarantee then names the statistics that the model publishes.
        Raises `RequestError` for an exposure of other users or items, or in another order.
        """
        guarantee = self.guarantee
        if exposure is not None:
            must_be(FittedLists, exposure, "an exposure", "pass what `exposure_of` returns")
        if exposure is not None and not (
            exposure.user_ids.same_as(self.user_ids) and exposure.item_ids.same_as(self.item_ids)
        ):
            raise RequestError(
                "exposure must be of the users and items of the model; pass "
                "exposure_of(data) of the data that the model was fitted to."
            )
        if exposure is not None and not exposure.presence.protected and guarantee.epsilon:
            guarantee = replace(guarantee, public=(*guarantee.public, CO_RATINGS))
        return replace(self, exposure=exposure, guarantee=guarantee)

    @property
    def levels(self) -> NDArray[np.float64]:
        """Levels of the scale, shape (L,)."""
        return np.asarray(self.scale.values)

    def predict(self, users: Ids, items: Ids) -> Floats:
        """Predict the rating of each user for the item at the same position; raw ids, shape (n,).

        Raises `RequestError` for arguments that are not ids, and for lists of different lengths.
        """
        people, things = self.user_ids.codes(raw_ids(users)), self.item_ids.codes(raw_ids(items))
        return self.predict_codes(people, things)

    def predict_codes(self, users: Codes, items: Codes) -> Floats:
        """Predict for codes, row numbers in this model's vocabularies (-1: unknown), shapes (n,).

        Raises `RequestError` for lists of different lengths.
        """
        if len(users) != len(items):
            raise RequestError(
                f"users and items must have the same length, got {len(users)} users and "
                f"{len(items)} items."
            )
        who, what = np.asarray(users, np.int32), np.asarray(items, np.int32)
        return predict(who, what, self.mu, self.people, self.items, self.levels, self.sigma)

    def median(self, users: Codes, items: Codes) -> NDArray[np.float64]:
        """Return median ratings of pairs of known codes, levels of the scale, shape (n,).

        They minimize the expected absolute error, `predict_codes` the expected squared error.
        """
        draws = zip(self.mu.tolist(), self.people, self.items, strict=True)
        theta = np.stack([bilinear(users, items, mu, x, y) for mu, x, y in draws])
        return median(theta, self.levels, self.sigma or 1.0)

    @overload
    def recommend(
        self,
        user: Id,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        candidates: Ids | None = None,
        rank_by: RankBy | None = None,
        notify: Notify | None = None,
    ) -> list[tuple[Any, float]]:
        """Recommend to one user."""

    @overload
    def recommend(
        self,
        user: Ids,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        candidates: Ids | None = None,
        titles: object = None,
        rank_by: RankBy | None = None,
        notify: Notify | None = None,
    ) -> pl.DataFrame:
        """Recommend to many users."""

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        candidates: Ids | None = None,
        titles: object = None,
        rank_by: RankBy | None = None,
        notify: Notify | None = None,
    ) -> Any:
        """Return the n best items per user with predicted ratings, best first, ties by item id.

        `user`: one raw id, for a list of (item, rating), or many, for a frame with the columns
        user, item, title (with `titles`, as in `ranking.with_titles`) and rating: of pandas if
        `user` is, otherwise of polars. `n`: at least 1; a list is shorter if fewer items remain.
        `exclude`: raw ids of items never to recommend.
        `candidates`: the only ones to recommend. `rank_by`: "gain", the expected gain
        (`tacit.models.exposure`), or "rating". Default: "gain" if the model has an exposure; items
        that a user's reports show to be rated are then excluded. Users without reports get the
        average user's items; `notify` is called with a notice. Raises `RequestError` for arguments
        that are not ids, `titles` for one user, candidates of which none is known, another
        `rank_by`, and "gain" without an exposure.
        """
        one = is_one(user, titles)
        users = raw_ids([user] if one else user)
        people = self.user_ids.codes(users)
        say_unknown(users, people, "returning the average user's list", notify)
        excluded = same_for_all(self.item_ids, exclude, len(people), candidates)
        if self.exposure is not None:
            excluded = with_reported(excluded, people, self.exposure.presence)
        codes, ratings = self.best_items(
            people, excluded, checked_length(n, len(self.item_ids)), rank_by
        )
        lists = RankedLists(users, self.item_ids, codes, ratings)
        if one:
            return lists.first()
        return of_kind(with_titles(lists.frame("rating"), titles), user)

    def similar_items(self, item: Id, n: int = 10) -> list[tuple[Any, float]]:
        """Return the n items whose ratings are most correlated with those of `item`, a raw id, as
        (item, correlation) pairs (`tacit.models.item_relations`).

        Raises `RequestError` for an unknown item, and for a model without factors.
        """
        code = known_item(self.item_ids, item)
        known = correlations(self.items, self.precision, code)
        return most_similar(self.item_ids, known, code, n)

    def explain(
        self, item: Id, ratings: Mapping[Any, float], n: int = 5
    ) -> list[tuple[Any, float]]:
        """Return the n ratings that raise a user's predicted rating of `item` most, as (item,
        contribution) pairs, in units of the scale (`tacit.models.item_relations`).

        `ratings`: of one user, by raw item id, unknown ones ignored. Raises `RequestError` for an
        unknown `item`, for a value off the model's scale, and if the model has none of the rated
        items.
        """
        must_be(Mapping, ratings, "a mapping", "pass ratings by item id, as in {1: 5}")
        if not all(isinstance(r, Real) and r in self.scale.values for r in ratings.values()):
            # The message names neither rating nor item: it may be logged.
            raise RequestError(f"A rating is not on the model's scale {self.scale}.")
        code, ids = known_item(self.item_ids, item), raw_ids(list(ratings))
        codes = self.item_ids.codes(ids)
        if not (codes >= 0).any():
            raise RequestError("ratings must contain at least one item of the model, got none.")
        known = np.flatnonzero(codes >= 0)
        values = np.asarray(list(ratings.values()), np.float64)[known]
        form = self.mu, self.items, self.precision, self.sigma
        parts = contributions(*form, codes[known].tolist(), values, code)
        return largest(ids.gather(known), parts, n)

    def best_items(
        self, users: Codes, excluded: Side, n: int, rank_by: RankBy | None = None
    ) -> tuple[Codes, Floats]:
        """Return the n best items per user with predicted ratings, best first, ties by code.

        `users`: codes, -1 for the average user, shape (m,). `excluded`: items to exclude, one row
        per user. `rank_by`: as in `recommend`. Returns codes and ratings of shape (m, n), padded
        with -1 and -inf. If there are several draws, items are preselected
        (`tacit.models.best_items`).
        """
        return self._ranker.best(users, excluded, n, self.ranking_exposure(rank_by))

    def ranking_exposure(self, rank_by: RankBy | None) -> FittedLists | None:
        """Return the exposure to rank by, None for predicted ratings.

        `rank_by`: as in `recommend`. Raises `RequestError` for another one, and for "gain" without
        an exposure.
        """
        if rank_by not in (None, *get_args(RankBy)):
            raise RequestError(f"rank_by must be gain or rating, got {shown(rank_by)}.")
        if rank_by == "gain" and self.exposure is None:
            raise RequestError("The model has no exposure to rank by; leave out rank_by.")
        return None if rank_by == "rating" else self.exposure

    @cached_property
    def _ranker(self) -> ItemRanker:
        one = self.condensed
        form = None  # predictions of one draw are cheap
        if one is not None and len(self.mu) > 1:
            form = MeanForm.of(self.items, one.items[:, 1:])
        return ItemRanker(
            self.predict_codes, self.levels, len(self.item_ids), self.mu, self.people, form
        )

    def save(self, path: Path | str) -> None:
        """Write the model to one file, without pickle. Raises `RequestError` if that fails."""
        model_file.write(given_path(path), vars(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model written by `save`. Raises `RequestError` for any other file."""
        return cls(**model_file.read(path))
