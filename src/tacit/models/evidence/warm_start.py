"""Warm start: rows of an earlier model in the order of new reports, or what its search chose.

A rating model that starts from the last one needs fewer sweeps. A top-N model reuses its `Tuning`
and skips the search over held-out users. The result depends on the reports of that model too, so
all of them must still be there: reports that were deleted since, at a user's request or because
they expired, must not affect a later model.
"""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.ratings import Codes
from tacit.vocabulary import Vocabularies, Vocabulary
from tacit.wire import strict

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
GROWTH = 2
"""Factor by which the number of reports may change before the search is done again."""
NOISE_CHANGE = 1.25
"""Factor by which a slot's noise may change before the search is done again."""


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
        if model.model != name or model.scale != data.scale:
            raise RequestError(
                f"A warm start of {name} on the scale {data.scale} requires a model of that kind, "
                f"got {model.model} on the scale {model.scale}; fit without warm."
            )
        _require_all(model, data.user_ids, data.item_ids)
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


class _WithUsers(Protocol):
    """A fitted model with its users and items."""

    @property
    def user_ids(self) -> Vocabulary: ...

    @property
    def item_ids(self) -> Vocabulary: ...


class TunedModel(_WithUsers, Protocol):
    """A fitted top-N model with its users (`tacit.models.FittedLists`)."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def tuning(self) -> "Tuning | None":
        """What its search chose, None for a model that was saved without it."""
        ...


@dataclass(frozen=True)
class Tuning:
    """What the search of a top-N model over held-out users chose.

    `reports`: number of reports of the search. `noise`: mean variance of a slot. `settings`: of the
    model, for which the choice holds. `device`, `provider`: multiples of popularity and of the item
    weights (`tacit.models.lists.shrinkage.Blend`). `step`, `emphasis`: the ridge of EASE, and its
    emphasis of popular items (`tacit.models.lists.ease_from_reports`).
    """

    reports: int
    noise: float
    settings: tuple[float, ...] = ()
    device: tuple[float, float] = (0.0, 1.0)
    provider: tuple[float, float] = (0.0, 1.0)
    step: int = 0
    emphasis: float = 0.0

    @classmethod
    def of(cls, presence: PresenceMatrix, settings: tuple[float, ...] = (), **choice: Any) -> Self:
        """Return the choice of a search over the users of `presence`."""
        noise = float(presence.variance.mean())
        return cls(int(presence.reported.nnz), noise, settings, **choice)

    def holds_for(self, presence: PresenceMatrix, settings: tuple[float, ...] = ()) -> bool:
        """Return whether the choice holds for more reports.

        Not if their number or their noise differs by the factors `GROWTH` and `NOISE_CHANGE`: the
        best ridge and shrinkage depend on both.
        """
        now = Tuning.of(presence, settings)
        grown = max(now.reports, self.reports) >= GROWTH * min(now.reports, self.reports)
        low, high = sorted((now.noise, self.noise))
        return not grown and high <= NOISE_CHANGE * low and settings == self.settings

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any, what: str) -> Self:
        """Parse `to_dict`. Raises `DataError` for other fields and for invalid values."""
        known = strict.fields(value, what, tuple(cls.__dataclass_fields__))
        reports, step = (strict.whole(known, name, what) for name in ("reports", "step"))
        noise, emphasis = (_number(known[name], what) for name in ("noise", "emphasis"))
        settings, device, provider = (
            strict.listed(known[name], name, lambda each: _number(each, what), what, 9)
            for name in ("settings", "device", "provider")
        )
        if len(device) != 2 or len(provider) != 2:
            raise DataError(f"{what}'s device and provider must be two numbers each")
        return cls(reports, noise, settings, device[:2], provider[:2], step, emphasis)


def tuning_for(
    warm: TunedModel | None, name: str, data: "_PresenceOfUsers", settings: tuple[float, ...] = ()
) -> Tuning | None:
    """Return the tuning of `warm` for a fit of the model `name` to `data`; None to search.

    Raises `RequestError` for another model, and for one whose users or items are not all in `data`.
    """
    if warm is None:
        return None
    if warm.model != name:
        raise RequestError(
            f"A warm start of {name} requires a model of that kind, got {warm.model}; fit without "
            "warm."
        )
    _require_all(warm, data.user_ids, data.item_ids)
    tuning = warm.tuning
    return tuning if tuning and tuning.holds_for(data.presence, settings) else None


class _PresenceOfUsers(_WithUsers, Protocol):
    """The input of a top-N model (`tacit.models.Interactions`)."""

    @property
    def presence(self) -> PresenceMatrix: ...


def _require_all(model: _WithUsers, user_ids: Vocabulary, item_ids: Vocabulary) -> None:
    lost = lost_users(model, user_ids)
    if lost or (item_ids.codes(model.item_ids.ids) < 0).any():
        raise RequestError(
            f"The reports lack items or users of the warm model ({lost:,} users); fit without warm."
        )


def lost_users(model: _WithUsers, user_ids: Vocabulary) -> int:
    """Return how many users of the model have no reports any more, deleted or expired."""
    return int((user_ids.codes(model.user_ids.ids) < 0).sum())


def rows_of(rows: Floats, codes: Codes) -> Floats:
    """Return rows of an earlier model by their codes in it, 0 for -1; shape (codes, columns)."""
    aligned = np.zeros((len(codes), rows.shape[1]), np.float32)
    aligned[codes >= 0] = rows[codes[codes >= 0]]
    return aligned


def _number(value: Any, what: str) -> float:
    """Return a finite number. Raises `DataError`."""
    if type(value) not in (int, float) or not isfinite(value):
        raise DataError(f"{what} has {str(value)[:40]!r} for a number")
    return float(value)
