"""Accounting: one (epsilon, delta) per person, shared out over Gaussian releases.

A release of relative share w gets the multiplier z / sqrt(w), the shares adding up to 1: together
they then tell no more than one release of multiplier z (Renyi losses of Gaussians add up, and
those of order alpha are alpha / (2 z^2)). z is the smallest that keeps epsilon at delta. Renyi's
curve decides, since it holds for discrete Gaussians as for continuous ones (Canonne, Kamath and
Steinke 2020); the figure by privacy loss distributions, of the continuous law, stands beside it.
The arithmetic is the library dp-accounting's (the extra `curator`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from functools import cache
from importlib.util import find_spec
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError, RequestError
from tacit.training.mechanism.epsilon import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases, Spend

FINEST = Decimal("1e-6")  # of a multiplier, which is rounded up to it
LEAST, MOST = 1e-2, 1e6  # multipliers of one release, between which the answer is looked for
HALVINGS = 60

Ints = NDArray[np.int64]


@dataclass
class Account:
    """What a training may spend, and what it has spent, through `releases`.

    `epsilon`: nats per person, at `delta`; decimal strings. `planned`: a multiplier for each
    release that was allotted a share. Raises `RequestError` for an epsilon or a delta that promises
    nothing, and where the extra `curator` is missing.

    Later shares may depend on earlier releases: whatever they are, all that follows tells no more
    than the share that is left, and Renyi losses of adaptive releases add up.
    """

    epsilon: str
    delta: str
    releases: NoisyReleases
    planned: dict[str, str] = field(default_factory=dict[str, str])
    spent: list[Spend] = field(default_factory=list[Spend])
    allotted: float = 0.0
    kept: float = 0.0
    opened: int = field(init=False)

    def __post_init__(self) -> None:
        self.opened = len(self.releases.spent)
        check_promise(self.epsilon, self.delta)
        from_library()

    @property
    def alone(self) -> float:
        """z, the multiplier of a release that had all that is not reserved to itself."""
        return least_multiplier(self.epsilon, self.delta) / sqrt(1 - self.kept)

    def reserve(self, name: str, share: float) -> None:
        """Plan a release before anything else, at a `share` of the whole: from then on the whole is
        what it leaves. Raises `CertificateError` as `allot`, and where something was allotted."""
        if self.planned:
            raise CertificateError(
                f"The share of {name} must be reserved before {', '.join(self.planned)} are "
                "planned."
            )
        self.allot({name: share})
        self.allotted, self.kept = 0.0, share

    def allot(self, shares: Mapping[str, float]) -> None:
        """Plan releases: `shares` of the whole, each above 0, and together at most 1.

        Raises `CertificateError` for anything else, or a name that is planned already.
        """
        self.allotted += sum(shares.values())
        again = shares.keys() & self.planned.keys()
        # Asked this way round, so that a share that is no number fails too.
        within = all(share > 0 for share in shares.values()) and self.allotted <= 1 + 1e-9
        if again or not within:
            raise CertificateError(
                f"Shares must be above 0, planned once and at most 1 in total, got {dict(shares)} "
                f"with a total of {self.allotted:g}."
            )
        for name, share in shares.items():
            self.planned[name] = _rounded_up(self.alone / sqrt(share))

    def multiplier(self, name: str) -> float:
        """Standard deviation over sensitivity of a planned release."""
        return float(self._price(name))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int) -> Ints:
        """The planned release `name`, once: `totals` with noise for `sensitivity` (L2, in steps).

        Raises `CertificateError` for a release that was not planned, or was made already.
        """
        price = self._price(name)
        if any(look.name == name for look in self.spent):
            raise CertificateError(
                f"The release {name} was already made; a release can be made once."
            )
        # The multiplier comes from the plan alone, so noise and accounting cannot drift apart.
        self.spent.append(Spend(name, "gaussian", price))
        return self.releases.gaussian(name, totals, sensitivity=sensitivity, multiplier=price)

    def close(self) -> float:
        """Epsilon of what was spent, by Renyi, in nats per person; raises `CertificateError` when
        it is above the promise, or other noise was drawn than was planned."""
        done = [look.price for look in self.spent]
        drawn = self.releases.spent[self.opened :]
        if drawn != self.spent:
            raise CertificateError(
                f"The noise drawn, {drawn}, differs from the noise planned, {self.spent}."
            )
        total = renyi_epsilon(done, self.delta)
        if total > float(self.epsilon):
            raise CertificateError(
                f"The releases {done} spend epsilon {total} per user, above {self.epsilon}."
            )
        return total

    def _price(self, name: str) -> str:
        if name not in self.planned:
            raise CertificateError(f"The release {name} has no share of the budget; allot one.")
        return self.planned[name]


def check_promise(epsilon: str, delta: str) -> None:
    """Raise `RequestError` for an epsilon or a delta that promises nothing.

    `epsilon`: nats per person.
    """
    nats(epsilon)
    try:
        share = float(delta)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise RequestError(
            f"delta must be between 0 and 1 for Gaussian noise, such as 1e-6, got '{delta}'."
        )


@cache
def least_multiplier(epsilon: str, delta: str) -> float:
    """z: the least multiplier of a single release that keeps `epsilon` at `delta`, by halving.

    Raises `RequestError` for an epsilon so small, or so large, that no multiplier from 0.01 to a
    million has it. `epsilon`: nats.
    """
    low, high = LEAST, MOST
    if not _keeps(high, epsilon, delta) or _keeps(low, epsilon, delta):
        raise RequestError(
            f"No noise level reaches epsilon {epsilon} at delta {delta} without exceeding it."
        )
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        low, high = (low, middle) if _keeps(middle, epsilon, delta) else (middle, high)
    return high


def renyi_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """Epsilon at `delta` of Gaussian releases of these multipliers, in nats of their unit."""
    from_library()
    from dp_accounting.rdp import RdpAccountant  # pyright: ignore[reportMissingTypeStubs]

    return _epsilon(RdpAccountant(), multipliers, delta)


def loss_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """The same by the privacy loss distribution of the *continuous* Gaussian: to stand beside."""
    from_library()
    from dp_accounting.pld import PLDAccountant  # pyright: ignore[reportMissingTypeStubs]

    return _epsilon(PLDAccountant(), multipliers, delta)


def simple_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """b / 2 + sqrt(2 b ln(1 / delta)), b the sum of 1 / multiplier^2: the textbook's conversion."""
    b = sum(float(multiplier) ** -2 for multiplier in multipliers)
    return b / 2 + sqrt(2 * b * log(1 / float(delta)))


def from_library() -> None:
    """Raise `RequestError` where the extra `curator` is not installed."""
    if not find_spec("dp_accounting"):
        raise RequestError(
            "Curator trainers require dp-accounting for their epsilon, which is not installed. "
            "Run pip install 'tacit-recommender[curator]'."
        )


def _keeps(multiplier: float, epsilon: str, delta: str) -> bool:
    return renyi_epsilon([f"{multiplier:.15g}"], delta) <= float(epsilon)


def _rounded_up(multiplier: float) -> str:
    return str(Decimal(multiplier).quantize(FINEST, ROUND_CEILING))


def _epsilon(accountant: Any, multipliers: Sequence[str], delta: str) -> float:
    from dp_accounting.dp_event import (  # pyright: ignore[reportMissingTypeStubs]
        GaussianDpEvent,
    )

    for multiplier in multipliers:
        accountant.compose(GaussianDpEvent(float(multiplier)))
    return float(accountant.get_epsilon(float(delta)))
