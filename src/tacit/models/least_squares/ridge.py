"""Selection of a ridge from the reports alone; no true rating is read."""

from collections.abc import Callable

import numpy as np

from tacit.errors import RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.half_steps import Factors

RIDGES = (3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)
HELD_OUT = 0.1


def at_best_ridge(
    data: Evidence, ridge: float | None, fit: Callable[[Evidence, float], Factors]
) -> Factors:
    """Fit to all reports at `ridge`, or for None at the one from `choose_ridge`.

    Raises `RequestError` for a negative ridge.
    """
    if ridge is not None and not ridge >= 0:
        raise RequestError(f"ridge must be 0 or more, got {ridge}.")
    return fit(data, choose_ridge(data, fit) if ridge is None else ridge)


def choose_ridge(data: Evidence, fit: Callable[[Evidence, float], Factors]) -> float:
    """Return the ridge of least squared error on a held-out tenth of the reports.

    The noise of the held-out reports adds the same to every candidate, so the order is unbiased.
    """
    train, test = held_out(data)
    ridges = candidates(train)
    errors = [squared_error(fit(train, ridge), test) for ridge in ridges]
    return ridges[int(np.argmin(errors))]


def candidates(data: Evidence) -> tuple[float, ...]:
    """Return `RIDGES`, extended by doubling until factors of pure noise vanish.

    Factors vanish once the ridge exceeds the largest singular value. For noise of deviation s, with
    at most a entries per row and b per column, that is about s (sqrt(a) + sqrt(b)).
    """
    rows, columns = (
        int(side.counts.max(initial=0)) for side in (data.layout.users, data.layout.items)
    )
    largest = float(data.values.std()) * (rows**0.5 + columns**0.5)
    ridges = list(RIDGES)
    while ridges[-1] < largest:
        ridges.append(2 * ridges[-1])
    return tuple(ridges)


def nearest_candidate(ridge: float) -> float:
    """Return the candidate that is nearest to a ridge above 0, by ratio."""
    ridges = list(RIDGES)
    while ridges[-1] < ridge:
        ridges.append(2 * ridges[-1])
    return min(ridges, key=lambda each: abs(np.log2(each / ridge)))


def held_out(data: Evidence) -> tuple[Evidence, Evidence]:
    """Split the reports: 9 in 10 for training, always with the first, the others for validation."""
    held = np.random.default_rng(0).random(len(data)) < HELD_OUT
    held[:1] = False
    return data.where(~held), data.where(held)


def squared_error(factors: Factors, test: Evidence) -> float:
    """Return the mean squared error on held-out reports, 0 without any."""
    error = factors.predict(test) - test.values
    return float(np.sum(error * error, dtype=np.float64)) / max(len(test), 1)
