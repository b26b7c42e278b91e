"""A trial: domains whose hidden ratings a system has to tell."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.engines.engine import Engine
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Mask

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trial:
    """What is known, and what is asked.

    `domains`: the known ratings. `target`: the number of the domain that is asked about; every
    other domain is a source. `people`: whose target ratings are hidden, shape (p,). `users`,
    `items`: the hidden ratings' codes, shape (n,); their values stay with the protocol.
    """

    domains: Domains
    target: int
    people: Codes
    users: Codes
    items: Codes

    @property
    def in_target(self) -> Mask:
        """Which known ratings are of the target domain."""
        return self.domains.rows(self.target)


class Predicted(NamedTuple):
    """Predictions of the ratings asked for, shape (n,); `covered` where they are more than an
    item's mean."""

    values: Doubles
    covered: Mask


class TrialPredictions(NamedTuple):
    """What a system predicted, and what that promises."""

    predicted: Predicted
    guarantee: Guarantee


class System(Protocol):
    """A declaration of what predicts held-out ratings.

    `name`: as in the results ("nx-map", "item-average"). `variant`: "item" or "user" where it
    recommends by similar items or people, else None. `mode`: "strict", "faithful", or "none"
    without privacy.
    """

    @property
    def name(self) -> str:
        """As in the results."""
        ...

    @property
    def variant(self) -> str | None:
        """ "item" or "user", or None."""
        ...

    @property
    def mode(self) -> str:
        """ "strict", "faithful", or "none"."""
        ...

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """The asked ratings; `epsilon`: nats, a decimal string, None where the mode is "none"."""
        ...
