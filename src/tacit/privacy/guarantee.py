"""Privacy guarantees: an epsilon with its unit, trust, public parts and assumptions."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from tacit.errors import RequestError, must_be
from tacit.notebook import card

Unit = Literal["none", "value", "slot", "user"]
Trust = Literal["nobody", "shuffler", "curator", "everybody"]
Part = Literal["catalogue", "people", "scale"]

PROTECTS: dict[Unit, str] = {
    "none": "nothing",
    "value": "the value of one rating; which items a user rated is public",
    "slot": "one catalogue slot: whether the user rated the item, and the value",
    "user": "all data of one user",
}
PARTS: dict[Part, str] = {
    "catalogue": "the catalogue",
    "people": "the set of people",
    "scale": "the rating scale",
}
"""Descriptions of the parts in `uncovered`."""
SIMULATED = "its noise was drawn from a seed, and anyone who has the seed can remove it"
"""Value of `fails` for simulated reports."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """(epsilon, delta)-differential privacy of one release.

    `epsilon`: a decimal string in nats per `unit`, None without protection. `unit`: the difference
    between neighbouring inputs: `value` (one rating, presence public), `slot` (one catalogue slot,
    presence included) or `user` (all data of one user). `trust`: who sees true data. `released`:
    the released data. `public`, `assumptions`: parts that are not protected, and conditions of the
    proof. `exact`: whether the claim was verified in integer arithmetic. `fails`: why the claim is
    known not to hold, as part of a sentence; None if it holds. `uncovered`: parts of the release
    that were inferred from the ratings, because they were not declared, and that the claim does not
    cover. `empty`: epsilon where one of the two inputs is empty, if it is smaller than `epsilon`.
    Raises `RequestError` for an unknown unit or trust.
    """

    epsilon: str | None
    delta: str = "0"
    unit: Unit
    trust: Trust
    released: str
    public: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    exact: bool = False
    fails: str | None = None
    uncovered: tuple[str, ...] = ()
    empty: str | None = None

    def __post_init__(self) -> None:
        for what, given, known in (("unit", self.unit, Unit), ("trust", self.trust, Trust)):
            if given not in get_args(known):
                choices = ", ".join(get_args(known))
                raise RequestError(f"{what} must be one of {choices}, got '{given}'.")

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence or more."""
        if self.epsilon is None:
            return f"No privacy: {self.released} is released without noise."
        spread = "" if self.delta == "0" else f", delta = {self.delta}"
        public = f" Public: {', '.join(self.public)}." if self.public else ""
        holds = f"Claimed but not satisfied ({self.fails}): e" if self.fails else "E"
        trusted = f"the {self.trust}" if self.trust in ("shuffler", "curator") else self.trust
        return (
            f"{holds}psilon = {self.epsilon} per {self.unit}{spread}, trusting {trusted}: "
            f"releasing {self.released} protects {PROTECTS[self.unit]}.{self._smaller}{public}"
            f"{self._gap}"
        )

    @property
    def brief(self) -> str:
        """Epsilon with its unit, and any delta, in a few words."""
        if self.epsilon is None:
            return "no privacy"
        spread = "" if self.delta == "0" else f" at delta {self.delta}"
        fails = ", claimed but not satisfied" if self.fails else ""
        return f"epsilon {self.epsilon} per {self.unit}{spread}{fails}"

    def require_secret_noise(self, release: str) -> None:
        """Raise `RequestError` if the noise was drawn from a seed. `release`: what is published."""
        if self.fails == SIMULATED:
            raise RequestError(
                f"{release} cannot be published: {SIMULATED}. Call perturb without simulate_seed."
            )

    def __repr__(self) -> str:
        return f"<Guarantee: {self.brief}, trusting {self.trust}>"

    def _repr_html_(self) -> str:
        """Show one line for each part that is set."""
        parts = (
            ("epsilon", "none" if self.epsilon is None else f"{self.epsilon} per {self.unit}"),
            ("against empty data", "" if self.empty is None else f"{self.empty} per {self.unit}"),
            ("delta", "" if self.delta == "0" else self.delta),
            ("trusting", self.trust),
            ("released", self.released),
            ("protects", PROTECTS[self.unit]),
            ("public", ", ".join(self.public)),
            ("assumes", ", ".join(self.assumptions)),
            ("not covered", ", ".join(self.uncovered)),
            ("does not hold", self.fails),
        )
        return card("Guarantee", [(name, value) for name, value in parts if value])

    @property
    def _smaller(self) -> str:
        if self.empty is None:
            return ""
        return f" Against an empty profile, epsilon = {self.empty} per {self.unit}."

    @property
    def _gap(self) -> str:
        if not self.uncovered:
            return ""
        *first, last = self.uncovered
        parts = f"{', '.join(first)} and {last}" if first else last
        return f" Not covered: {parts}, inferred from the ratings because not declared."

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values. Leaves out an empty `uncovered`, and `empty` if it is None."""
        values = asdict(self)
        absent = [name for name in ("uncovered", "empty") if not values[name]]
        return {name: value for name, value in values.items() if name not in absent}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Self:
        """Return the guarantee written by `to_dict`.

        Raises `RequestError` for missing and unknown keys, and for values that are not mappings.
        """
        must_be(Mapping, written, "a guarantee", "pass the result of `to_dict`")
        every = {field.name: field.default for field in fields(cls)}
        missing = [
            name for name, usual in every.items() if usual is MISSING and name not in written
        ]
        for name in (*missing, *(name for name in written if name not in every)):
            has = "has no" if name in missing else "has an unknown"
            raise RequestError(f"This guarantee {has} '{name}'; pass the result of `to_dict`.")
        known: dict[str, Any] = dict(written)
        for name in ("public", "assumptions", "uncovered"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)


NO_PRIVACY = Guarantee(epsilon=None, unit="none", trust="everybody", released="every true rating")
