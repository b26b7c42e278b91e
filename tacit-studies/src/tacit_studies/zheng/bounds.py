"""Zheng's Theorem 3: an upper bound on the distance between reports and the true low-rank matrix.

    rho = ||P(Theta - Z)||_F over the slots that are reported

Theta is the low-rank matrix of preferences and Z the reports if every slot of an m x n catalogue is
queried, s of them rated; X are the true ratings, ||P_rated(Theta - X)||_F <= rho_0 sqrt(s). Each
bound holds with probability at least 1 - gamma: Markov's inequality, at gamma / 2, once for slots
with a rating and once for slots without. Epsilon is in nats per slot.

Further statements of the paper do not hold. E (Theta - Z)^2 of a false report is at most (L - 1)^2,
not equal to it, and only for Theta on the scale. s is what the mechanisms protect, so no provider
can compute rho. And (5), that the completed matrix is within C p^-1/2 rho of Theta, p the reported
share, requires a restricted isometry that sampling of cells does not have: a Theta with a single
unreported non-zero cell is completed by zeros. It needs incoherence and uniformly sampled cells. At
useful epsilon the bound exceeds the scale.
"""

import math
from dataclasses import dataclass

from tacit.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Slots:
    """Dimensions of the problem.

    `users`, `items`, `rated`: m, n and s of the paper. `misfit`: rho_0, the root mean square of
    Theta - X over the rated slots, in units of the reported ratings.

    Raises `RequestError` for more ratings than slots.
    """

    users: int
    items: int
    rated: int
    misfit: float

    def __post_init__(self) -> None:
        if not 0 <= self.rated <= self.users * self.items:
            raise RequestError(
                f"rated must be at most the number of slots, got {self.rated} ratings for "
                f"{self.users} x {self.items} slots."
            )

    @property
    def own(self) -> float:
        """rho_0 sqrt(s), the part without noise."""
        return self.misfit * math.sqrt(self.rated)


def laplace_bound(slots: Slots, epsilon: float, gamma: float) -> float:
    """Return the bound on rho for modified Laplace, ratings and Theta on [-1, 1].

    rho_0 sqrt(s) + (4 / eps) sqrt(s / gamma)
      + sqrt(2 m n (1 + 8 / eps^2) / ((e^(eps/2) + 1) gamma))

    A rated slot sends its rating with Laplace noise of scale 2 / eps, variance 8 / eps^2; an
    unrated one sends noise alone with probability 1 / (e^(eps/2) + 1). `epsilon`: nats per value,
    as in the paper. Raises `RequestError` for an epsilon that is not positive or a gamma not
    between 0 and 1.
    """
    _check(epsilon, gamma)
    noise = 4 / epsilon * math.sqrt(slots.rated / gamma)
    false_reports = 2 * slots.users * slots.items / (math.exp(epsilon / 2) + 1)
    return slots.own + noise + math.sqrt(false_reports * (1 + 8 / epsilon**2) / gamma)


def response_bound(slots: Slots, epsilon: float, gamma: float, levels: int) -> float:
    """Return the bound on rho for randomized response over "missing" and L stars, Theta in [1, L].

    rho_0 sqrt(s) + 2 (L - 1) sqrt(2 m n L / ((e^eps + L) gamma))

    A slot sends a false report with probability L / (e^eps + L). The two uses of Markov's
    inequality add sqrt(s) and sqrt(m n - s), which the paper bounds by 2 sqrt(m n); sqrt(2 m n)
    would suffice. `levels`: L. `epsilon`: nats per value, as in the paper. Raises `RequestError` as
    `laplace_bound` does.
    """
    _check(epsilon, gamma)
    false = 2 * slots.users * slots.items * levels / ((math.exp(epsilon) + levels) * gamma)
    return slots.own + 2 * (levels - 1) * math.sqrt(false)


def _check(epsilon: float, gamma: float) -> None:
    if not epsilon > 0:
        raise RequestError(f"epsilon must be above 0 nats per slot, got {epsilon}.")
    if not 0 < gamma < 1:
        raise RequestError(f"gamma must be a failure probability between 0 and 1, got {gamma}.")
