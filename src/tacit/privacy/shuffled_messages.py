"""Accountant of shuffled messages: epsilon per user where only a shuffler sees who sent what.

In each round a device sends M messages about at most M distinct buckets of its user, filled up with
uniform ones, and D uniform dummies. The shuffler mixes the messages of all devices, so the provider
observes counts of messages per bucket, of nb. Let B be the dummies of all honest devices. Messages
that are common to two profiles can be omitted (post-processing), and a random choice of buckets is
no worse than the worst one (joint convexity). So profiles P and Q send messages about r and q of
2 M distinct buckets, filled up to max(r, q) <= M, among B dummies.

With n = B + max(r, q) - r uniform messages under P, (K)_r = K (K-1) .. (K-r+1), and K = n + r

    P(k) / Q(k) = prod_{P's} k_a / prod_{Q's} k_b * nb^(r - q) (K)_q / (K)_r,

which is at most prod_{P's} (k_a nb / n) / prod_{Q's} (k_b nb / n): the other factors are at most 1
together. Multinomial counts of t = r + q buckets have at most C times the probability of
independent Poisson counts of mean n / nb. C is attained at the least integer S above n t / nb, so
by Stirling's bounds

    C = max_S (n)_S n^-S (1 - t / nb)^(n - S) e^(t n / nb) <= sqrt(n / (n - S)) e^(1 / (12 n))
      <= (1 - t / nb - 1 / B)^(-1/2) e^(1 / (12 B)).

Poisson counts with one more under P or Q diverge less if there are fewer of them, or if their mean
is larger, because uniform messages could be added afterwards. All r and q up to M are thus bounded
by Poisson counts of mean B / nb, M of which have one more under P and M under Q:

    delta(epsilon) <= C E_P[(1 - e^(epsilon - L))+],    L as in `tacit.privacy.poisson_loss`.

Against an empty profile, q = 0 or r = 0. Rounds of a user add up their losses, and multiply C.
Fills are never counted as noise. Tests compare all of this with an enumeration of all outcomes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, copysign, exp, log, sqrt
from typing import Literal, get_args

from tacit.errors import RequestError, integer
from tacit.privacy.poisson_loss import PoissonCounts, divergence

Neighbour = Literal["replaced", "empty"]
"""What may change about a user's profile: any other one, or one without items in its stead."""
PRECISION = 2e-3
"""Least relative error of delta, which is one of about 1e-4 of epsilon and of dummies."""
FIRST_STEP, LARGEST_STEP = log(1.05), log(1.3)
"""First and largest step of a bracket, in the logarithm."""
MOST_EPSILON = 64.0
LARGEST_MEAN = 10_000_000
"""Most dummies per bucket that count: fewer are a valid bound, whose time and memory grow with the
square root of the mean."""


@dataclass(frozen=True, kw_only=True)
class ShuffledRound:
    """One round of shuffled messages.

    `buckets`: nb, number of different messages. `messages`: M, number of messages of a device that
    may be about its user. `dummies`: D, number of its uniform messages; 0 until they are computed
    (`calibrated`). Raises `RequestError` unless 2 M is below nb.
    """

    buckets: int
    messages: int
    dummies: int = 0

    def __post_init__(self) -> None:
        integer("messages", self.messages, 1)
        integer("dummies", self.dummies, 0)
        if 2 * self.messages >= integer("buckets", self.buckets):
            raise RequestError(
                f"messages must be below half of the {self.buckets} buckets, got {self.messages}; "
                "send fewer messages, or use more buckets."
            )


def shuffled_delta(
    rounds: Sequence[ShuffledRound],
    *,
    devices: int,
    epsilon: float,
    neighbour: Neighbour = "replaced",
) -> float:
    """Return an upper bound on delta at `epsilon` nats per user, for all rounds together.

    `devices`: honest devices in every batch, the user's included. Raises `RequestError` for invalid
    arguments.
    """
    integer("devices", devices, 1)
    backgrounds = [min(devices * one.dummies, LARGEST_MEAN * one.buckets) for one in rounds]
    return _delta(rounds, backgrounds, epsilon, _changes(neighbour))


def shuffled_epsilon(
    rounds: Sequence[ShuffledRound],
    *,
    devices: int,
    delta: float,
    neighbour: Neighbour = "replaced",
) -> float:
    """Return epsilon at `delta`, in nats per user, an upper bound for all rounds together.

    Raises `RequestError` for invalid arguments, and if epsilon is above 64.
    """
    _check_delta(delta)

    def excess(epsilon: float) -> float:
        if epsilon > MOST_EPSILON:
            raise RequestError(
                f"Epsilon at delta {delta:g} exceeds {MOST_EPSILON:g} nats per user; add dummies."
            )
        bound = shuffled_delta(rounds, devices=devices, epsilon=epsilon, neighbour=neighbour)
        return _log_ratio(bound, delta)

    if not all(one.dummies for one in rounds):
        raise RequestError("Rounds without dummies have no finite epsilon; add dummies.")
    variance = sum(m.messages * m.buckets / (devices * m.dummies) for m in rounds)
    return _root(excess, sqrt(_normal_guess(delta, neighbour) * variance))


def calibrated(
    rounds: Sequence[ShuffledRound],
    shares: Sequence[float],
    *,
    devices: int,
    epsilon: float,
    delta: float,
    neighbour: Neighbour = "replaced",
) -> tuple[ShuffledRound, ...]:
    """Return the rounds with the fewest dummies that attain `epsilon` nats per user at `delta`.

    `shares`: of each round in the variance of the loss, which is about M nb / B, with a total of 1.
    Raises `RequestError` for invalid arguments.
    """
    _check_delta(delta)
    integer("devices", devices, 1)
    if not epsilon > 0:
        raise RequestError(f"epsilon must be above 0, got {epsilon:g}.")
    if len(shares) != len(rounds) or not all(s > 0 for s in shares) or abs(sum(shares) - 1) > 1e-9:
        raise RequestError(
            f"shares must be {len(rounds)} positive numbers of total 1, got {list(shares)}."
        )
    changes = _changes(neighbour)
    units = [m.messages * m.buckets / share for m, share in zip(rounds, shares, strict=True)]

    def excess(scale: float) -> float:
        backgrounds = [scale * unit for unit in units]
        if any(b > LARGEST_MEAN * m.buckets for b, m in zip(backgrounds, rounds, strict=True)):
            raise RequestError(
                f"epsilon {epsilon:g} per user requires more than {LARGEST_MEAN:,} messages per "
                "bucket; choose a larger epsilon or fewer messages."
            )
        return _log_ratio(_delta(rounds, backgrounds, epsilon, changes), delta)

    scale = _root(excess, _normal_guess(delta, neighbour) / epsilon**2)
    return tuple(
        replace(one, dummies=ceil(scale * unit / devices))
        for one, unit in zip(rounds, units, strict=True)
    )


def _changes(neighbour: Neighbour) -> tuple[tuple[bool, bool], ...]:
    """Return whether messages are added and removed under P, for each order of the profiles.

    Two orders of two full profiles are the same.
    """
    if neighbour not in get_args(Neighbour):
        raise RequestError(f"neighbour must be 'replaced' or 'empty', got {neighbour!r}.")
    return ((True, True),) if neighbour == "replaced" else ((True, False), (False, True))


def _delta(
    rounds: Sequence[ShuffledRound],
    backgrounds: Sequence[float],
    epsilon: float,
    changes: Sequence[tuple[bool, bool]],
) -> float:
    """Return the bound for `backgrounds`, the dummies B of each round, and the worst of `changes`.

    It is 1 where B is too small for any bound, so that a round without dummies is not private.
    """
    worst = 0.0
    for added, removed in changes:
        factor, counts = 1.0, list[PoissonCounts]()
        for one, background in zip(rounds, backgrounds, strict=True):
            changed = one.messages * (added + removed)
            rest = one.buckets - changed - one.buckets / background if background else 0.0
            if rest <= 0:
                return 1.0
            factor *= sqrt(one.buckets / rest) * exp(1 / (12 * background))
            mean = background / one.buckets
            counts.append(
                PoissonCounts(mean=mean, gained=one.messages * added, lost=one.messages * removed)
            )
        worst = max(worst, factor * divergence(counts, epsilon))
    return min(1.0, worst)


def _normal_guess(delta: float, neighbour: Neighbour) -> float:
    """Return about epsilon^2 over the variance of the loss against an empty profile."""
    return (2.8 if neighbour == "replaced" else 1.4) * log(1 / delta)


def _log_ratio(bound: float, delta: float) -> float:
    return log(max(bound, 1e-300) / delta)


def _root(excess: Callable[[float], float], guess: float) -> float:
    """Return x > 0 with -PRECISION <= excess(x) <= 0, by regula falsi in log x (Pegasus).

    `excess`: continuous and decreasing.
    """

    def gap(log_x: float) -> float:
        return excess(exp(log_x)) + PRECISION / 2

    x = near = log(guess)
    value = beyond = gap(x)
    step = FIRST_STEP
    while beyond * value > 0:
        x, value = near, beyond
        near = x + copysign(step, value)
        beyond, step = gap(near), min(2 * step, LARGEST_STEP)
    while abs(beyond) > PRECISION / 2:
        between = near - beyond * (near - x) / (beyond - value)
        at = gap(between)
        # The value at a retained end is scaled down, so that the other end does not stay.
        x, value = (x, value * beyond / (beyond + at)) if at * beyond > 0 else (near, beyond)
        near, beyond = between, at
    return exp(near)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise RequestError(f"delta must be between 0 and 1, such as 1e-7, got {delta:g}.")
