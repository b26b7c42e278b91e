"""One cell of a grid of trials: a system, its epsilon, and what is hidden."""

import json
from dataclasses import asdict, dataclass, field
from typing import Protocol as Interface
from typing import runtime_checkable

from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System


@runtime_checkable
class Parted(Interface):
    """A system whose guarantee has two parts. With a `neighbour_epsilon`, its epsilon is for
    replacements only. Without one, it divides its epsilon itself."""

    @property
    def neighbour_epsilon(self) -> str | None:
        """Epsilon of the neighbour selection, in nats, a decimal string."""
        ...

    def budget(self, epsilon: str | None) -> tuple[str, str] | None:
        """Return the epsilons of replacements and neighbours, in nats per draw, decimal strings."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrialCell:
    """One system on one trial. `data`: a checksum of the ratings and domains, so that rows of other
    data are not reused. `lists`: whether top-N lists are evaluated as well."""

    data: str
    names: tuple[str, ...]
    target: int
    system: System = field(repr=False)
    epsilon: str | None
    protocol: Holdout
    seed: int
    lists: bool = False

    @property
    def key(self) -> str:
        """Unique key: one line of JSON."""
        system = self.system
        settings = {name: repr(value) for name, value in sorted(vars(system).items())}
        facts = {
            "data": self.data,
            "names": self.names,
            "target": self.target,
            "system": [system.name, system.variant, system.mode, settings],
            "epsilon": self.epsilon,
            "protocol": asdict(self.protocol),
            "seed": self.seed,
            "lists": self.lists,
        }
        return json.dumps(facts, sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        claim = "" if self.epsilon is None else f" {self.system.mode} at {self.epsilon}"
        k = getattr(self.system, "k", None)
        near = "" if k is None else f", k {k}"
        return f"{self.system.name}{claim}{near}, overlap {self.protocol.overlap:g}"
