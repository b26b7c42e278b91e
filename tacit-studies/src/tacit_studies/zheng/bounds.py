"""Zheng's Theorem 3: how far the reports are from the taste that they should recover, at most.

    rho = ||P(Theta - Z)||_F over the slots that are reported

Theta is the low-rank matrix of tastes and Z what arrives when every slot of an m x n catalogue is
answered for, s of them rated; X are the true ratings, ||P_rated(Theta - X)||_F <= rho_0 sqrt(s).
Each bound holds with probability at least 1 - gamma: Markov's inequality, at gamma / 2, once for
slots that hold a rating and once for made-up ones. Epsilon is in nats per slot.

What the paper says beyond this does not hold. E (Theta - Z)^2 of a false answer is at most
(L - 1)^2, not equal to it, and only for Theta on the scale. s is the very thing that the mechanisms
hide, so no provider can compute rho. And (5), that the completed matrix is within C p^-1/2 rho of
Theta, p the reported share, rests on a restricted isometry that sampling cells does not have: a
Theta with one cell that is not reported is completed by zeros. It needs incoherence and cells
sampled evenly. At useful epsilon the bound says less than the scale does.
"""

import math
from dataclasses import dataclass

from tacit.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Slots:
    """`users` x `items` slots, `rated` of them rated (m, n and s of the paper), `misfit` rho_0: the
    root mean square of Theta - X over the rated ones, in units of the ratings reported.

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
        """rho_0 sqrt(s), what no noise adds."""
        return self.misfit * math.sqrt(self.rated)


def laplace_bound(slots: Slots, epsilon: float, gamma: float) -> float:
    """rho at most under modified Laplace, ratings and Theta on [-1, 1].

    rho_0 sqrt(s) + (4 / eps) sqrt(s / gamma)
      + sqrt(2 m n (1 + 8 / eps^2) / ((e^(eps/2) + 1) gamma))

    A rated slot sends its rating with Laplace noise of scale 2 / eps, variance 8 / eps^2; another
    one sends noise alone with probability 1 / (e^(eps/2) + 1). Raises `RequestError` for an epsilon
    that is not positive or a gamma not between 0 and 1. `epsilon`: nats per value, as the paper has
    it.
    """
    _check(epsilon, gamma)
    noise = 4 / epsilon * math.sqrt(slots.rated / gamma)
    made_up = 2 * slots.users * slots.items / (math.exp(epsilon / 2) + 1)
    return slots.own + noise + math.sqrt(made_up * (1 + 8 / epsilon**2) / gamma)


def response_bound(slots: Slots, epsilon: float, gamma: float, levels: int) -> float:
    """rho at most under randomized response over "missing" and `levels` = L stars, Theta in [1, L].

    rho_0 sqrt(s) + 2 (L - 1) sqrt(2 m n L / ((e^eps + L) gamma))

    A slot gives a false answer with probability L / (e^eps + L). The two uses of Markov's
    inequality add sqrt(s) and sqrt(m n - s), which the paper takes for 2 sqrt(m n); sqrt(2 m n)
    would do. Raises `RequestError` as `laplace_bound` does. `epsilon`: nats per value, as the paper
    has it.
    """
    _check(epsilon, gamma)
    false = 2 * slots.users * slots.items * levels / ((math.exp(epsilon) + levels) * gamma)
    return slots.own + 2 * (levels - 1) * math.sqrt(false)


def _check(epsilon: float, gamma: float) -> None:
    if not epsilon > 0:
        raise RequestError(f"epsilon must be above 0 nats per slot, got {epsilon}.")
    if not 0 < gamma < 1:
        raise RequestError(f"gamma must be a failure probability between 0 and 1, got {gamma}.")
