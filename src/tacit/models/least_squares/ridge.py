"""Choosing a ridge from the reports alone: no true rating is looked at."""

from collections.abc import Callable

import numpy as np

from tacit.errors import RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.factors import Factors

RIDGES = (3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)
HELD_OUT = 0.1


def at_best_ridge(
    data: Evidence, ridge: float | None, fit: Callable[[Evidence, float], Factors]
) -> Factors:
    """The fit to all reports at `ridge`, or for None at the one that `choose_ridge` finds.

    Raises `RequestError` for a negative ridge.
    """
    if ridge is not None and not ridge >= 0:
        raise RequestError(f"A ridge of {ridge} pushes factors apart; give 0 or more.")
    return fit(data, choose_ridge(data, fit) if ridge is None else ridge)


def choose_ridge(data: Evidence, fit: Callable[[Evidence, float], Factors]) -> float:
    """The ridge whose fit on 9 in 10 reports comes nearest to the tenth, by squared error.

    The noise of the held-out reports adds the same to every candidate, so the order is unbiased.
    Beyond the largest of `RIDGES` they are doubled for as long as that helps: on a wide scale the
    noise is many times what it is on five levels.
    """
    train, test = held_out(data)
    errors = {ridge: squared_error(fit(train, ridge), test) for ridge in RIDGES}
    best = min(errors, key=errors.__getitem__)
    while best == max(errors):
        errors[2 * best] = squared_error(fit(train, 2 * best), test)
        best = min(errors, key=errors.__getitem__)
    return best


def held_out(data: Evidence) -> tuple[Evidence, Evidence]:
    """9 in 10 reports to learn from, and the tenth to judge by."""
    held = np.random.default_rng(0).random(len(data)) < HELD_OUT
    return data.where(~held), data.where(held)


def squared_error(factors: Factors, test: Evidence) -> float:
    """The mean squared distance of a fit from held-out reports; zero where there are none."""
    error = factors.predict(test) - test.values
    return float(np.sum(error * error, dtype=np.float64)) / max(len(test), 1)
