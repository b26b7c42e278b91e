"""Result rows of attacks: one row per figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.evaluation.results import checked, plain


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """One figure of one attack.

    `epsilon`: nats per `unit` ("value" or "slot") of reports through `channel` under `plan`.
    `plan`, `epsilon` and `unit` are None without privacy, and for attacks that run trainers
    themselves. `setting`: background knowledge of the attacker. `value`: of `figure`, a share.
    `baseline`: the same by the method `beside`. `bound`: the maximum under the guarantee, None if
    it implies none. `error`: standard error of `value`. `leaks`: whether the value exceeds the
    bound significantly. `seconds`: wall seconds of the entire attack. `plugins`: plug-in of the
    channel, None for a built-in one.
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
        """Return the row as JSON-ready values. The key `plugins` is omitted if it is None."""
        values = plain(self)
        return {k: v for k, v in values.items() if k != "plugins" or v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, {"plugins": None, **values}, ()))
