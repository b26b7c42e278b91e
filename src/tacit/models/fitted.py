"""A fitted model is a frozen value: it predicts, recommends, saves and says what it guarantees."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.predict import bilinear, median, predict
from tacit.models.condensed import CondensedItems
from tacit.models.evidence.presence_features import Presence
from tacit.models.ranking import ranked
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Vocabulary
from tacit.scale import RatingScale

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Ids = Sequence[int | str] | NDArray[Any] | pl.Series
FORMAT = "tacit-model-1"
DAMAGED = (
    AttributeError,
    EOFError,
    KeyError,
    MemoryError,
    OSError,
    RequestError,
    RuntimeError,
    TypeError,
    ValueError,
    BadZipFile,
    zlib.error,
)
"""What reading raises where a file is no archive of arrays, or not all of one.

A version or a method of packing that zipfile does not know is a `RuntimeError`, as is a member that
wants a password.
"""


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

        Raises `RequestError` for lists of different lengths.
        """
        people, things = pl.Series("id", users), pl.Series("id", items)
        return self.predict_codes(self.user_ids.codes(people), self.item_ids.codes(things))

    def predict_codes(self, users: Codes, items: Codes) -> Floats:
        """The same for codes, row numbers in this model's vocabularies (-1: unknown).

        Shapes (n,), on the scale. Raises `RequestError` for lists of two lengths.
        """
        if len(users) != len(items):
            raise RequestError(
                f"{len(users)} people and {len(items)} items are no pairs; give as many of each."
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

    def recommend(
        self, user: Any, n: int = 10, *, exclude: pl.Series | None = None
    ) -> list[tuple[Any, float]]:
        """The n best items of a person with their predicted ratings, best first, ties by item id.

        `exclude`: raw ids not to recommend, such as those already rated.
        """
        codes = np.arange(len(self.item_ids), dtype=np.int32)
        scores = self.predict_codes(np.full(len(codes), self.user_ids.code(user), np.int32), codes)
        return ranked(self.item_ids, scores, n, exclude)

    def save(self, path: Path | str) -> None:
        """Write the model to one file; no pickle."""
        header = {
            "format": FORMAT,
            "model": self.model,
            "scale": str(self.scale),
            "sigma": self.sigma,
            "guarantee": self.guarantee.to_dict(),
        }
        arrays: dict[str, Any] = {
            "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
            "user_ids": self.user_ids.ids.to_numpy().astype(_plain(self.user_ids)),
            "item_ids": self.item_ids.ids.to_numpy().astype(_plain(self.item_ids)),
            "mu": self.mu,
            "people": self.people,
            "items": self.items,
            "precision": self.precision,
        }
        if self.presence is not None and self.prior_weights is not None:
            arrays["prior_weights"] = self.prior_weights
            arrays |= {f"presence_{k}": v for k, v in self.presence.to_arrays().items()}
        if self.condensed is not None:
            arrays |= {f"condensed_{k}": v for k, v in self.condensed.to_arrays().items()}
        with Path(path).open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model that `save` wrote; raises `RequestError` when the file is something else."""
        try:
            with Path(path).open("rb") as stored, np.load(stored, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays["header"].tobytes())
            if header["format"] == FORMAT:
                return cls._of(header, arrays)
        except DAMAGED:
            raise RequestError(f"{path} is not a saved model; make one with `tacit fit`.") from None
        raise RequestError(
            f"{path} has format {str(header['format'])[:40]}, not {FORMAT}: fit it again."
        )

    @classmethod
    def _of(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        presence, one = _named(arrays, "presence_"), _named(arrays, "condensed_")
        return cls(
            model=header["model"],
            scale=RatingScale.parse(header["scale"]),
            user_ids=Vocabulary(pl.Series("id", arrays["user_ids"])),
            item_ids=Vocabulary(pl.Series("id", arrays["item_ids"])),
            mu=arrays["mu"],
            people=arrays["people"],
            items=arrays["items"],
            precision=arrays["precision"],
            sigma=header["sigma"],
            guarantee=Guarantee.from_dict(header["guarantee"]),
            presence=Presence.from_arrays(presence) if presence else None,
            prior_weights=arrays.get("prior_weights"),
            condensed=CondensedItems.from_arrays(one) if one else None,
        )


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, without the prefix."""
    found = arrays.items()
    return {name.removeprefix(prefix): value for name, value in found if name.startswith(prefix)}


def _plain(vocabulary: Vocabulary) -> str:
    return "i8" if vocabulary.ids.dtype.is_integer() else "U"
