"""Fitted models as frozen values: prediction, recommendation, persistence and guarantee."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError, must_be
from tacit.errors import path as given_path
from tacit.kernels.layout import Side
from tacit.kernels.predict import bilinear, median, predict
from tacit.models import model_file
from tacit.models.distillation import CondensedItems
from tacit.models.evidence.presence_features import DAMPING, Presence
from tacit.models.preselection import MeanForm, candidates_for
from tacit.models.ranking import (
    Id,
    Notify,
    RankedLists,
    best_with_scores,
    checked_length,
    every_item,
    is_id,
    rows_of,
    same_for_all,
    say_unknown,
    with_titles,
)
from tacit.models.rounded import singles
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary, raw_ids
from tacit.wire.item_model import ItemDraw, ItemModel, ItemPresence

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Ids = Iterable[Any]
"""Raw ids: a list, an array, or a polars or pandas series."""
BLOCK = 4096
"""Users whose candidates are ranked at a time."""


class Vocabularies(Protocol):
    """Ratings, reports or evidence: their scale, users and items."""

    @property
    def scale(self) -> RatingScale:
        """Public rating scale."""
        ...

    @property
    def user_ids(self) -> Vocabulary:
        """All users, with or without ratings."""
        ...

    @property
    def item_ids(self) -> Vocabulary:
        """All items, with or without ratings."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """D draws of one bilinear form (D = 1 for a point estimate).

        theta_ui = mu + x_u[0] + y_i[0] + x_u[1:] . y_i[1:]

    `mu`: shape (D,). `people`: shape (D, users, 1 + K), `items`: shape (D, items, 1 + K), column 0
    the bias. `precision`: shape (D, 1 + K), of the normal prior of a user's row, whose mean is
    `presence` features times `prior_weights` (D, features, 1 + K), or zero. `sigma`: residual
    deviation of the cells link on the rating scale; 0 for the linear link, whose noise then has
    unit variance. `condensed`: the draws' item side distilled into one draw, which devices receive;
    None where they receive the draws.

    Unknown users and items never raise: an unknown user gets the average user's rating of the item,
    an unknown item the user's own average.
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
        """Return the model with the devices' item side; user rows remain the provider's."""
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
        self, user: Id, n: int = 10, *, exclude: Ids | None = None, notify: Notify | None = None
    ) -> list[tuple[Any, float]]:
        """Recommend to one user."""

    @overload
    def recommend(
        self,
        user: Ids,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        titles: object = None,
        notify: Notify | None = None,
    ) -> pl.DataFrame:
        """Recommend to many users."""

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        titles: object = None,
        notify: Notify | None = None,
    ) -> Any:
        """Return the n best items per user with predicted ratings, best first, ties by item id.

        `user`: one raw id, for a list of (item, rating), or many, for a frame with the columns
        user, item, title (with `titles`, as in `ranking.with_titles`) and rating. `exclude`: raw
        ids of items never to recommend. Users without reports get the average user's items;
        `notify` is called with a notice. Raises `RequestError` for arguments that are not ids.
        """
        one = is_id(user)
        users = raw_ids([user] if one else user)
        people = self.user_ids.codes(users)
        say_unknown(users, people, "they get the recommendations of an average user", notify)
        excluded = same_for_all(self.item_ids, exclude, len(people))
        codes, ratings = self.best_items(people, excluded, checked_length(n))
        lists = RankedLists(users, self.item_ids, codes, ratings)
        return lists.first() if one else with_titles(lists.frame("rating"), titles)

    def best_items(self, users: Codes, excluded: Side, n: int) -> tuple[Codes, Floats]:
        """Return the n items of the largest predicted ratings per user, best first, ties by code.

        `users`: codes, -1 for the average user, shape (m,). `excluded`: items to exclude, one row
        per user. Returns codes and ratings of shape (m, n), padded with -1 and -inf. If there are
        several draws, items are preselected (`tacit.models.preselection`).
        """
        form, n_items = self._mean_form, len(self.item_ids)
        if form is None or candidates_for(n) >= n_items:
            score = every_item(self.predict_codes, users, n_items)
            return best_with_scores(score, excluded, n_items, n)
        codes = np.full((len(users), n), -1, np.int32)
        ratings = np.full((len(users), n), -np.inf, np.float32)
        for first in range(0, len(users), BLOCK):
            some = slice(first, min(first + BLOCK, len(users)))
            candidates = form.candidates(self.people, users[some], rows_of(excluded, some), n)
            predicted = self._ratings_of(users[some], candidates)
            order = np.argsort(-predicted, axis=1, kind="stable")[:, :n]
            codes[some] = np.take_along_axis(candidates, order, 1)
            ratings[some] = np.take_along_axis(predicted, order, 1)
        return codes, ratings

    def _ratings_of(self, users: Codes, codes: Codes) -> Floats:
        """Return predicted ratings of each user's items, -inf for -1; shape as `codes`."""
        each = np.repeat(users, codes.shape[1])
        predicted = self.predict_codes(each, codes.ravel()).reshape(codes.shape)
        return np.where(codes >= 0, predicted, np.float32(-np.inf))

    @cached_property
    def _mean_form(self) -> MeanForm | None:
        """Mean theta by few factors, None for models of one draw, whose predictions are cheap."""
        one = self.condensed
        return None if one is None else MeanForm.of(self.items, one.items[:, 1:])

    def save(self, path: Path | str) -> None:
        """Write the model to one file, without pickle. Raises `RequestError` if that fails."""
        model_file.write(given_path(path), vars(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model written by `save`. Raises `RequestError` for any other file."""
        return cls(**model_file.read(path))


# Conversion of a fitted model to the item model that devices download.


def item_model(fitted: Fitted) -> ItemModel:
    """Return the item side of a model, and what a device needs to fold in a user.

    Raises `RequestError` for models that predict no ratings, such as top-N models.
    """
    must_be(Fitted, fitted, "a rating model", "pass what `fit` returns, or use `list_model`")
    fitted = fitted.on_devices()
    return ItemModel(
        scale=fitted.scale,
        items=tuple(fitted.item_ids.ids.to_list()),
        factors=fitted.items.shape[2] - 1,
        link="cells" if fitted.sigma else "linear",
        sigma=fitted.sigma,
        draws=tuple(_draw(fitted, d) for d in range(len(fitted.mu))),
        guarantee=fitted.guarantee,
        presence=None if fitted.presence is None else _presence(fitted.presence),
    )


def _draw(fitted: Fitted, d: int) -> ItemDraw:
    weights = np.empty(0) if fitted.prior_weights is None else fitted.prior_weights[d]
    return ItemDraw(
        mu=float(fitted.mu[d]),
        item_bias=singles(fitted.items[d, :, 0]),
        item_factors=singles(fitted.items[d, :, 1:]),
        precision=singles(fitted.precision[d]),
        prior_weights=singles(weights),
        shrinkage=singles(fitted.condensed.shrinkage if fitted.condensed else np.empty(0)),
    )


def _presence(presence: Presence) -> ItemPresence:
    return ItemPresence(
        vectors=singles(presence.vectors),
        centre=singles(presence.centre),
        log_mean=presence.log_mean,
        log_scale=presence.log_scale,
        damping=DAMPING,
    )
