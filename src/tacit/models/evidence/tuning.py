"""Tuning of a top-N model: what its search over held-out users chose, for the next fit to reuse.

The next model depends on the reports of the search too, as in `tacit.models.evidence.warm_start`.
"""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Protocol, Self, cast

from tacit.errors import DataError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.warm_start import WithUsers, require_all, require_kind
from tacit.wire import strict

GROWTH = 2
"""Factor by which the number of reports may change before the search is done again."""
NOISE_CHANGE = 1.25
"""Factor by which a slot's noise may change before the search is done again."""


class TunedModel(WithUsers, Protocol):
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
    weights (`tacit.models.lists.shrinkage.Blend`). `step`, `emphasis`, `prior`: the ridge of
    EASE, its emphasis of popular items, and the weight of their features. `regression`: whether
    EASE's provider scores by a `ReportRegression` instead (`tacit.models.lists.ease_from_reports`).
    """

    reports: int
    noise: float
    settings: tuple[float, ...] = ()
    device: tuple[float, float] = (0.0, 1.0)
    provider: tuple[float, float] = (0.0, 1.0)
    step: int = 0
    emphasis: float = 0.0
    prior: float = 0.0
    regression: bool = False

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
        """Parse `to_dict`. Raises `DataError` for other fields and for invalid values.

        Models of earlier versions have no `prior` or no `regression`.
        """
        if isinstance(value, dict):
            value = {"prior": 0.0, "regression": False} | cast("dict[str, Any]", value)
        known = strict.fields(value, what, tuple(cls.__dataclass_fields__))
        reports, step = (strict.integer(known, name, what) for name in ("reports", "step"))
        noise, emphasis, prior = (
            _number(known[name], what) for name in ("noise", "emphasis", "prior")
        )
        settings, device, provider = (
            strict.listed(known[name], name, lambda each: _number(each, what), what, 9)
            for name in ("settings", "device", "provider")
        )
        if len(device) != 2 or len(provider) != 2:
            raise DataError(f"{what}'s device and provider must be two numbers each")
        regression = strict.typed(known, "regression", bool, what)
        blends = device[:2], provider[:2]
        return cls(reports, noise, settings, *blends, step, emphasis, prior, regression)


class PresenceOfUsers(WithUsers, Protocol):
    """The input of a top-N model (`tacit.models.Interactions`)."""

    @property
    def presence(self) -> PresenceMatrix:
        """Reported presence, shape (users, items)."""
        ...


def tuning_for(
    warm: TunedModel | None, name: str, data: PresenceOfUsers, settings: tuple[float, ...] = ()
) -> Tuning | None:
    """Return the tuning of `warm` for a fit of the model `name` to `data`; None to search.

    Raises `RequestError` for another model, and for one whose users or items are not all in `data`.
    """
    if warm is None:
        return None
    require_kind(warm, name)
    require_all(warm, data.user_ids, data.item_ids)
    tuning = warm.tuning
    return tuning if tuning and tuning.holds_for(data.presence, settings) else None


def _number(value: Any, what: str) -> float:
    """Return a finite number. Raises `DataError`."""
    if type(value) not in (int, float) or not isfinite(value):
        raise DataError(f"{what} has {str(value)[:40]!r} for a number")
    return float(value)
