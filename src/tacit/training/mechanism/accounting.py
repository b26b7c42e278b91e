"""Accounting: one (epsilon, delta) budget per user, divided among Gaussian releases.

A release with the fraction w of the budget has the multiplier z / sqrt(w), where fractions add up
to 1. Together they have the privacy cost of one release of multiplier z: Renyi divergences of
Gaussians add up, and that of order alpha is alpha / (2 z^2). z is the smallest multiplier with at
most epsilon at delta. The Renyi bound is used because it holds for discrete Gaussians as for
continuous ones (Canonne, Kamath and Steinke 2020); the value by privacy loss distributions, for the
continuous law, is reported for comparison. The computation is by the library dp-accounting (the
extra `curator`).
"""

import re
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
from tacit.training.mechanism.noisy_releases import NoisyReleases, Spend

PLAIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")


def nats(epsilon: str) -> Decimal:
    """Return the exact number, in nats of the guarantee's unit.

    Raises `RequestError` unless `epsilon` is a positive plain decimal.
    """
    if not PLAIN.fullmatch(epsilon) or Decimal(epsilon) <= 0:
        raise RequestError(f"epsilon must be a positive decimal such as 0.5, got '{epsilon}'.")
    return Decimal(epsilon)


FINEST = Decimal("1e-6")  # resolution of multipliers, which are rounded up
LEAST, MOST = 1e-2, 1e6  # search range of the multiplier of one release
HALVINGS = 60

Ints = NDArray[np.int64]


@dataclass
class Account:
    """Privacy budget of a trainer, and its expenditure through `releases`.

    `epsilon`: nats per user, at `delta`; decimal strings. `planned`: the multiplier of each planned
    release. Raises `RequestError` for an invalid epsilon or delta, and where the extra `curator` is
    missing.

    Later fractions may depend on earlier releases: whatever they are, all later releases cost at
    most the remaining budget, and Renyi divergences of adaptive releases add up.
    """

    epsilon: str
    delta: str
    releases: NoisyReleases
    planned: dict[str, str] = field(default_factory=dict[str, str])
    spent: list[Spend] = field(default_factory=list[Spend])
    allotted: float = 0.0
    reserved: float = 0.0
    opened: int = field(init=False)

    def __post_init__(self) -> None:
        self.opened = len(self.releases.spent)
        check_promise(self.epsilon, self.delta)
        from_library()

    @property
    def alone(self) -> float:
        """z, the multiplier of a single release with the complete unreserved budget."""
        return least_multiplier(self.epsilon, self.delta) / sqrt(1 - self.reserved)

    def reserve(self, name: str, share: float) -> None:
        """Plan the first release, with the fraction `share` of the budget.

        Fractions of later releases refer to the remaining budget. Raises `CertificateError` as
        `allot`, and if a release is already planned.
        """
        if self.planned:
            raise CertificateError(
                f"The share of {name} must be reserved before {', '.join(self.planned)} are "
                "planned."
            )
        self.allot({name: share})
        self.allotted, self.reserved = 0.0, share

    def allot(self, shares: Mapping[str, float]) -> None:
        """Plan releases. `shares`: fractions of the budget, each above 0, and together at most 1.

        Raises `CertificateError` for any other fractions, and for a name that is already planned.
        """
        self.allotted += sum(shares.values())
        again = shares.keys() & self.planned.keys()
        # Written this way round, so that NaN fails too.
        within = all(share > 0 for share in shares.values()) and self.allotted <= 1 + 1e-9
        if again or not within:
            raise CertificateError(
                f"Shares must be above 0, planned once and at most 1 in total, got {dict(shares)} "
                f"with a total of {self.allotted:g}."
            )
        for name, share in shares.items():
            self.planned[name] = _rounded_up(self.alone / sqrt(share))

    def multiplier(self, name: str) -> float:
        """Return the standard deviation over the sensitivity of a planned release."""
        return float(self._price(name))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int) -> Ints:
        """Make the planned release `name`, once: `totals` plus noise.

        `sensitivity`: L2, in grid steps. Raises `CertificateError` for a release that is not
        planned, or was already made.
        """
        price = self._price(name)
        if any(look.name == name for look in self.spent):
            raise CertificateError(
                f"The release {name} was already made; each release can be made only once."
            )
        # The multiplier comes from the plan alone, so noise and accounting cannot drift apart.
        self.spent.append(Spend(name, "gaussian", price))
        return self.releases.gaussian(name, totals, sensitivity=sensitivity, multiplier=price)

    def close(self) -> float:
        """Return epsilon of all releases, by the Renyi bound, in nats per user.

        Raises `CertificateError` if it exceeds the guarantee, or the noise drawn differs from the
        plan.
        """
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
            raise CertificateError(f"The release {name} has no share of the budget; allocate one.")
        return self.planned[name]


def check_promise(epsilon: str, delta: str) -> None:
    """Raise `RequestError` for an epsilon or a delta without a meaningful guarantee.

    `epsilon`: nats per user.
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
    """Return z, the least multiplier of a single release with `epsilon` at `delta`, by bisection.

    `epsilon`: nats. Raises `RequestError` if z is not between 0.01 and a million.
    """
    low, high = LEAST, MOST
    if not _keeps(high, epsilon, delta) or _keeps(low, epsilon, delta):
        raise RequestError(f"No noise level satisfies epsilon {epsilon} at delta {delta}.")
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        low, high = (low, middle) if _keeps(middle, epsilon, delta) else (middle, high)
    return high


def renyi_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """Return epsilon at `delta` of Gaussian releases, by the Renyi bound, in nats of their unit."""
    from_library()
    from dp_accounting.rdp import RdpAccountant  # pyright: ignore[reportMissingTypeStubs]

    return _epsilon(RdpAccountant(), multipliers, delta)


def loss_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """Return the same by the privacy loss distribution of the *continuous* Gaussian.

    For comparison only.
    """
    from_library()
    from dp_accounting.pld import PLDAccountant  # pyright: ignore[reportMissingTypeStubs]

    return _epsilon(PLDAccountant(), multipliers, delta)


def simple_epsilon(multipliers: Sequence[str], delta: str) -> float:
    """Return b / 2 + sqrt(2 b ln(1 / delta)), b the sum of 1 / multiplier^2.

    The textbook conversion.
    """
    b = sum(float(multiplier) ** -2 for multiplier in multipliers)
    return b / 2 + sqrt(2 * b * log(1 / float(delta)))


def from_library() -> None:
    """Raise `RequestError` where the extra `curator` is not installed."""
    if not find_spec("dp_accounting"):
        raise RequestError(
            "Curator trainers compute their epsilon with dp-accounting, which is not installed. "
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
