"""The result file of attacks: one row a figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.evaluation.results import checked, plain


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """One figure of one attack.

    `epsilon`: nats per `unit` ("value" or "slot") of what left through `channel` under `plan`; all
    None where nothing was protected, and where an attack runs trainings of its own. `setting`: what
    the attacker had. `value`: of `figure`, a share; `baseline`: the same by the attack's `beside`.
    `bound`: what the promise allows, None where it says nothing. `error`: the standard error of
    `value`. `leaks`: whether it is above the bound, and not by chance. Seconds are wall seconds of
    the whole attack. `plugins`: of which plug-in the channel is; None for a built-in one.
    """

    dataset: str
    attack: str
    plan: str | None
    channel: str | None
    channel_id: str | None
    epsilon: float | None
    unit: str | None
    seed: int
    setting: str
    figure: str
    value: float
    baseline: float
    beside: str
    bound: float | None
    error: float
    count: int
    leaks: bool
    seconds: float
    plugins: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values; without a plug-in there is no key of one."""
        values = plain(self)
        return {k: v for k, v in values.items() if k != "plugins" or v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The row that `to_dict` wrote; raises `DataError` for other keys."""
        return cls(**checked(cls, {"plugins": None, **values}, ()))
