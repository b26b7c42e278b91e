"""A guarantee is a value: nothing in Tacit states an epsilon without what it protects."""

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
"""What `uncovered` lists: public parts of a release that were taken from the ratings."""
SIMULATED = "its noise was drawn from a seed, and whoever has the seed can remove it"
"""What a guarantee of simulated reports `fails` by."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """(epsilon, delta)-differential privacy of one release, with all that gives it meaning.

    `epsilon` is a decimal string, in nats per `unit`, and None where nothing is protected.
    `unit` says what may change between neighbouring inputs: `value` (one star value, presence
    public) < `slot` (one catalogue slot, missing included) < `user` (a whole profile).
    `exact` is true only when the claim was checked in integer arithmetic. `fails`: why a claim that
    somebody printed is known not to hold, as half a sentence; None for every other. `uncovered`:
    what the release shows and the claim leaves out, because it was taken from the ratings
    ("the catalogue"), which a declaration would mend. Raises `RequestError` for a unit or a trust
    that there is not.
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

    def __post_init__(self) -> None:
        for what, given, known in (("unit", self.unit, Unit), ("trust", self.trust, Trust)):
            if given not in get_args(known):
                choices = ", ".join(get_args(known))
                raise RequestError(f"{what} must be one of {choices}, got '{given}'.")

    @property
    def sentence(self) -> str:
        """The guarantee in English, what it leaves out last."""
        if self.epsilon is None:
            return f"No privacy: {self.released} is released without noise."
        spread = "" if self.delta == "0" else f", delta = {self.delta}"
        public = f" Public: {', '.join(self.public)}." if self.public else ""
        holds = f"Claimed but not satisfied ({self.fails}): e" if self.fails else "E"
        trusted = f"the {self.trust}" if self.trust in ("shuffler", "curator") else self.trust
        return (
            f"{holds}psilon = {self.epsilon} per {self.unit}{spread}, trusting {trusted}: "
            f"releasing {self.released} protects {PROTECTS[self.unit]}.{public}{self._gap}"
        )

    @property
    def brief(self) -> str:
        """Epsilon with its unit, and delta where there is one, in a few words."""
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
        """What it promises, a line for each part that it has."""
        parts = (
            ("epsilon", "none" if self.epsilon is None else f"{self.epsilon} per {self.unit}"),
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
    def _gap(self) -> str:
        if not self.uncovered:
            return ""
        *first, last = self.uncovered
        parts = f"{', '.join(first)} and {last}" if first else last
        return f" Not covered: {parts}, inferred from the ratings because not declared."

    def to_dict(self) -> dict[str, Any]:
        """The guarantee as JSON-ready values; `uncovered` only where there is something."""
        found = asdict(self)
        return found if self.uncovered else {k: v for k, v in found.items() if k != "uncovered"}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Self:
        """The guarantee that `to_dict` wrote.

        Raises `RequestError` for a key that is missing or not known, and for what has no keys.
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
