"""Composition: (epsilon, delta) of a complete profile, by the privacy loss of a table's rows.

Adding up worst cases is exact for delta = 0 and loose for any other: that all slots of a user draw
the most informative symbol is much less likely than one in a million. The computation is by the
library dp-accounting (the extra `curator`).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

Rows = NDArray[np.float64]

STEPS = 512
"""Grid points from a loss of 0 to that of the slot. Randomized response is exactly on the grid."""


def tight_epsilon(
    table: Sequence[Sequence[float]], *, slots: int, cap: int, delta: float
) -> float | None:
    """Return epsilon at `delta` between two profiles, in nats.

    `table`: P(symbol | input), row 0 the input "missing". `cap`, `slots`: at most `cap` ratings on
    `slots` slots. Each slot's pair of rows is dominated by the pointwise largest hockey-stick curve
    delta(epsilon) = sum_y max(0, P(y) - e^epsilon Q(y)) of its kind (rated against missing, the
    reverse, two levels). A slot rated by both users is dominated by its curve for two levels or by
    those of two slots rated by one user each, so `cap` such pairs dominate two profiles. Where 2
    cap > slots each slot counts as the worst one. Discretised upwards (Doroshenko et al. 2022,
    Connect the Dots), so the result is an upper bound up to rounding.

    None if the extra `curator` is not installed. Raises `RequestError` for a delta outside (0, 1).
    """
    if not 0 < delta < 1:
        raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {delta:g}.")
    if not find_spec("dp_accounting"):
        return None
    rows = np.asarray(table, np.float64)
    if (rows == rows[0]).all():
        return 0.0
    return composed_epsilon(*_dominating(rows, slots, cap), delta)


@dataclass(frozen=True)
class Curve:
    """A hockey-stick curve: `deltas` at epsilon = step x (-n .. n), shape (2 n + 1,)."""

    step: float
    deltas: NDArray[np.float64]

    @property
    def distribution(self) -> Any:
        """The privacy loss distribution that dominates the curve."""
        from dp_accounting.pld import (  # pyright: ignore[reportMissingTypeStubs]
            pld_pmf,
            privacy_loss_distribution,
        )

        reach = len(self.deltas) // 2
        places = np.arange(-reach, reach + 1)
        # Rounding may exceed 1, or the previous point: raised values are still upper bounds.
        deltas = np.minimum(np.maximum.accumulate(self.deltas[::-1])[::-1], 1.0)
        pmf = pld_pmf.create_pmf_pessimistic_connect_dots(self.step, places, deltas)
        return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def curve(rows: Rows, others: Rows, step: float, reach: int) -> Curve:
    """Return the pointwise largest hockey-stick curve of any of `rows` against any of `others`.

    Both of shape (rows, symbols), probabilities. `step` and `reach`: of the grid of losses. It
    extends beyond every ratio, since the value at its last point counts as an infinite loss.
    """
    odds = np.exp(step * np.arange(-reach, reach + 1))[:, None]
    most = np.zeros(len(odds))
    for first, second in itertools.product(rows, others):
        np.maximum(most, np.maximum(first - odds * second, 0).sum(1), out=most)
    return Curve(step, most)


def composed_epsilon(one: Curve, count: int, delta: float) -> float:
    """Return epsilon at `delta` of `count` independent releases that `one` dominates, in nats."""
    return float(one.distribution.self_compose(count).get_epsilon_for_delta(delta))


def _dominating(rows: Rows, slots: int, cap: int) -> tuple[Curve, int]:
    missing, levels = rows[:1], rows[1:]
    step = float(np.log(rows.max(0) / rows.min(0)).max()) / STEPS
    if 2 * cap > slots:
        return curve(rows, rows, step, STEPS + 1), slots
    there, back = (
        curve(first, second, step, STEPS + 1).distribution
        for first, second in ((levels, missing), (missing, levels))
    )
    between = curve(levels, levels, step, 2 * STEPS + 2)
    apart = there.compose(back).get_delta_for_epsilon(
        step * np.arange(-2 * STEPS - 2, 2 * STEPS + 3)
    )
    return Curve(step, np.maximum(between.deltas, apart)), cap
