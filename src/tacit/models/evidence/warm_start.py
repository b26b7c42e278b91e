"""Warm start: rows of an earlier model in the order of new reports.

A rating model that starts from the last one needs fewer sweeps. The result depends on the reports
of that model too, so all of them must still be there: reports that were deleted since, at a user's
request or because they expired, must not affect a later model.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError, shown
from tacit.models.evidence.evidence import Evidence
from tacit.ratings import Codes
from tacit.vocabulary import Vocabularies, Vocabulary

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


class EarlierModel(Vocabularies, Protocol):
    """A fitted rating model with its users (`tacit.models.Fitted`)."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def mu(self) -> NDArray[np.float64]:
        """Global levels, shape (draws,)."""
        ...

    @property
    def people(self) -> Floats:
        """User rows, shape (draws, users, 1 + K)."""
        ...

    @property
    def items(self) -> Floats:
        """Item rows, shape (draws, items, 1 + K)."""
        ...


class WarmDraw(NamedTuple):
    """Rows of one draw, in the order of new reports; 0 for users and items that the model lacks.

    `mu`: global level. `people`: shape (users, 1 + K). `items`: shape (items, 1 + K).
    """

    mu: float
    people: Floats
    items: Floats


@dataclass(frozen=True, eq=False)
class WarmStart:
    """An earlier model, and where it has the users and items of new reports.

    `user_codes`, `item_codes`: codes in the model by those in the reports, -1 for new ones.
    """

    model: EarlierModel
    user_codes: Codes
    item_codes: Codes

    @classmethod
    def of(cls, model: EarlierModel, name: str, data: Evidence) -> "WarmStart":
        """Return the start of a fit to `data`, which includes the reports of `model`.

        `name`: of the model to be fitted. Raises `RequestError` for another model, for one on
        another scale, and for one whose users or items are not all in `data`.
        """
        require_kind(model, name)
        if model.scale != data.scale:
            raise RequestError(
                f"A warm start on the scale {data.scale} requires a model on that scale, got "
                f"{model.scale}; fit without warm."
            )
        require_all(model, data.user_ids, data.item_ids)
        user_codes = model.user_ids.codes(data.user_ids.ids)
        return cls(model, user_codes, model.item_ids.codes(data.item_ids.ids))

    @property
    def known_people(self) -> Mask:
        """Which users of the reports the model has, shape (users,)."""
        return self.user_codes >= 0

    @property
    def known_items(self) -> Mask:
        """Which items of the reports the model has, shape (items,)."""
        return self.item_codes >= 0

    def draw(self, number: int) -> WarmDraw:
        """Return the rows of a draw of the model, -1 for the last one."""
        return WarmDraw(
            float(self.model.mu[number]),
            rows_of(self.model.people[number], self.user_codes),
            rows_of(self.model.items[number], self.item_codes),
        )


def require_kind(warm: object, name: str) -> None:
    """Raise `RequestError` unless `warm` is a fitted model of that name."""
    if (kind := getattr(warm, "model", None)) != name:
        raise RequestError(
            f"A warm start of {name} requires a model of that kind, got {kind or shown(warm)}; fit "
            "without warm."
        )


class WithUsers(Protocol):
    """A fitted model with its users and items."""

    @property
    def user_ids(self) -> Vocabulary:
        """Users of the model."""
        ...

    @property
    def item_ids(self) -> Vocabulary:
        """Items of the model."""
        ...


def require_all(model: WithUsers, user_ids: Vocabulary, item_ids: Vocabulary) -> None:
    """Raise `RequestError` unless all users and items of an earlier model are in the reports."""
    lost = lost_users(model, user_ids)
    if lost or (item_ids.codes(model.item_ids.ids) < 0).any():
        raise RequestError(
            f"The reports lack items or users of the warm model ({lost:,} users); fit without warm."
        )


def lost_users(model: WithUsers, user_ids: Vocabulary) -> int:
    """Return how many users of the model have no reports any more, deleted or expired."""
    return int((user_ids.codes(model.user_ids.ids) < 0).sum())


def rows_of(rows: Floats, codes: Codes) -> Floats:
    """Return rows of an earlier model by their codes in it, 0 for -1; shape (codes, columns)."""
    aligned = np.zeros((len(codes), rows.shape[1]), np.float32)
    aligned[codes >= 0] = rows[codes[codes >= 0]]
    return aligned
