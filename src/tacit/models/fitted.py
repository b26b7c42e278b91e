"""A fitted model is a frozen value: it predicts, recommends, saves and says what it guarantees."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.given import path as given_path
from tacit.kernels.predict import bilinear, median, predict
from tacit.models import model_file
from tacit.models.condensing.condensed import CondensedItems
from tacit.models.evidence.presence_features import Presence
from tacit.models.ranking import Id, Notify, is_id, ranked, say_unknown, table, with_titles
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary, raw_ids

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Ids = Iterable[Any]
"""Raw ids: a list, an array, or a polars or pandas series."""


class Vocabularies(Protocol):
    """Ratings, reports or evidence: whose ratings of what, on which scale."""

    @property
    def scale(self) -> RatingScale:
        """The public grid of ratings."""
        ...

    @property
    def user_ids(self) -> Vocabulary:
        """People, rated or not."""
        ...

    @property
    def item_ids(self) -> Vocabulary:
        """Items, rated or not."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What a model learnt, as D draws of one bilinear form (D = 1 for a point estimate).

        theta_ui = mu + x_u[0] + y_i[0] + x_u[1:] . y_i[1:]

    `mu`: shape (D,). `people`: shape (D, people, 1 + K), `items`: shape (D, items, 1 + K), column
    0 the bias. `precision`: shape (D, 1 + K), of the normal prior of a person's row, whose mean
    is `presence` features times `prior_weights` (D, features, 1 + K), or zero. `sigma`: the spread
    of the cells link on the rating scale; 0 for the linear link, whose noise then has unit
    variance. `condensed`: the draws' item side in one, which devices get in their place; None where
    they get the draws.

    Unknown people and items never raise: an unknown person gets the average person's rating of
    the item, an unknown item the person's own average.
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
            f"<Fitted {self.model}: {len(self.user_ids):,} people, {len(self.item_ids):,} items, "
            f"{self.items.shape[2] - 1} factors{draws}, {self.guarantee.brief}>"
        )

    def _repr_html_(self) -> str:
        """How large it is, and what it promises."""
        lines = (
            ("people", f"{len(self.user_ids):,}"),
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
        """A point estimate with the linear link, for the people and items of `data`.

        `people`: shape (people, 1 + K), `items`: (items, 1 + K), `precision`: (1 + K,).
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
        """The model with the item side that devices get; people's rows are still the provider's."""
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
        """The levels of the scale, shape (L,)."""
        return np.asarray(self.scale.values)

    def predict(self, users: Ids, items: Ids) -> Floats:
        """The rating that each person would give the item beside them; raw ids, shape (n,).

        Raises `RequestError` for what holds no ids, and for lists of different lengths.
        """
        people, things = self.user_ids.codes(raw_ids(users)), self.item_ids.codes(raw_ids(items))
        return self.predict_codes(people, things)

    def predict_codes(self, users: Codes, items: Codes) -> Floats:
        """The same for codes, row numbers in this model's vocabularies (-1: unknown).

        Shapes (n,), on the scale. Raises `RequestError` for lists of two lengths.
        """
        if len(users) != len(items):
            raise RequestError(
                f"users and items must have the same length, got {len(users)} users and "
                f"{len(items)} items."
            )
        who, what = np.asarray(users, np.int32), np.asarray(items, np.int32)
        return predict(who, what, self.mu, self.people, self.items, self.levels, self.sigma)

    def median(self, users: Codes, items: Codes) -> NDArray[np.float64]:
        """Median ratings of pairs of known codes, levels of the scale, shape (n,).

        The guess of least expected absolute error, as `predict_codes` is that of least squared
        error.
        """
        draws = zip(self.mu.tolist(), self.people, self.items, strict=True)
        theta = np.stack([bilinear(users, items, mu, x, y) for mu, x, y in draws])
        return median(theta, self.levels, self.sigma or 1.0)

    @overload
    def recommend(
        self, user: Id, n: int = 10, *, exclude: Ids | None = None, notify: Notify | None = None
    ) -> list[tuple[Any, float]]:
        """To one person."""

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
        """To many."""

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude: Ids | None = None,
        titles: object = None,
        notify: Notify | None = None,
    ) -> Any:
        """The n best items of a person with their predicted ratings, best first, ties by item id.

        `user`: one raw id, for pairs of item and rating, or many, for a frame with the columns
        user, item, title (with `titles`, as `ranking.with_titles` takes them) and rating.
        `exclude`: raw ids not to recommend to anybody. Whoever sent no report gets the average
        person's items, which `notify` hears. Raises `RequestError` for what holds no ids.
        """
        one = is_id(user)
        whose = raw_ids([user] if one else user)
        people = self.user_ids.codes(whose)
        say_unknown(whose, people, "they get the recommendations of an average user", notify)
        lists = [ranked(self.item_ids, self._ratings_by(code), n, exclude) for code in people]
        if one:
            return lists[0]
        found = table(whose, lists, self.item_ids, "rating")
        return found if titles is None else with_titles(found, titles)

    def _ratings_by(self, person: int) -> Floats:
        codes = np.arange(len(self.item_ids), dtype=np.int32)
        return self.predict_codes(np.full(len(codes), person, np.int32), codes)

    def save(self, path: Path | str) -> None:
        """Write the model to one file; no pickle. Raises `RequestError` where it cannot be."""
        model_file.write(given_path(path), vars(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model that `save` wrote; raises `RequestError` when the file is something else."""
        return cls(**model_file.read(path))
