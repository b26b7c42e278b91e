"""Division of a budget per rating value between biases and factors, by public counts alone.

At a small epsilon factors are pure noise, and their cost reduces the accuracy of biases: then
nothing is spent on them. The division has the least *expected* error, by the laws of the noise and
public guesses of the signal. No rating is read, and none may be: a division chosen on ratings would
cost epsilon, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.scale import shortest
from tacit.training.value.biases import BiasBudget, expected_error
from tacit.training.value.factors import RATING, FactorBudget, GradientBudget, ridge_sensitivity

Counts = NDArray[np.int64]
Noise = Literal["objective", "output", "gradient"]
"""Where noise is added: to the right-hand side of a solve, to its solution, or to errors."""

SWEEPS, EPOCHS = 4, 10
FACTOR_SHARES = (0.5, 0.7, 0.85, 0.92)
MEAN_SHARE, ITEM_SHARE = 0.02, 0.4
"""Fractions of the bias budget: all ratings inform the mean, and items have more than users."""

RANKS = {2: (0.027, 0.72, 0.90), 4: (0.056, 0.58, 0.77), 8: (0.090, 0.46, 0.65)}
"""Per rank: the variance that factors explain without noise, in units of the bound squared, and
the reliability below which they explain nothing and above which all of it. Public guesses from
synthetic data of MovieLens 1M's shape. Alternating solves either find a direction or miss it, so
the transition is short."""


@dataclass(frozen=True)
class ValuePlan:
    """Budgets of biases and factors, None for no factors. They add up to at most the total."""

    biases: BiasBudget
    factors: FactorBudget | GradientBudget | None

    @property
    def rank(self) -> int:
        """Factors K."""
        return self.factors.rank if self.factors else 0


def value_plan(
    epsilon: str,
    users: Counts,
    items: Counts,
    *,
    noise: Noise | None,
    ridge: float,
    rank: int | None = None,
) -> ValuePlan:
    """Return the division of least expected error among a few; `noise` None for biases alone.

    `rank`: K, None to choose it. `users`, `items`: ratings of each user and each item, public at
    the unit `value`.
    """
    total = Decimal(epsilon)
    alone = _bias_budget(total)
    if noise is None:
        return ValuePlan(alone, None)
    gain = partial(_gain, users=users, items=items, where=noise, ridge=ridge)
    plans = [ValuePlan(alone, None)] if not rank else list[ValuePlan]()
    plans += [plan for plan in _split(total, noise) if rank in (None, plan.rank)]
    return min(plans, key=lambda plan: _bias_error(plan.biases, users, items) - gain(plan.factors))


def _split(total: Decimal, noise: Noise) -> Iterator[ValuePlan]:
    looks = EPOCHS if noise == "gradient" else 2 * SWEEPS
    for share in FACTOR_SHARES:
        for rank in RANKS:
            one = _part(total * Decimal(str(share)) / looks)
            left = _bias_budget(total - looks * Decimal(one))
            if noise == "gradient":
                yield ValuePlan(left, GradientBudget(epsilon=one, epochs=EPOCHS, rank=rank))
            else:
                yield ValuePlan(left, FactorBudget(epsilon=one, sweeps=SWEEPS, rank=rank))


def _bias_budget(total: Decimal) -> BiasBudget:
    mean, items = (_part(total * Decimal(str(share))) for share in (MEAN_SHARE, ITEM_SHARE))
    return BiasBudget(mean, items, shortest(total - Decimal(mean) - Decimal(items)))


def _part(epsilon: Decimal) -> str:
    return shortest(epsilon.quantize(Decimal("1e-9"), ROUND_FLOOR))


def _bias_error(budget: BiasBudget, users: Counts, items: Counts) -> float:
    """Return the expected error of biases, in units of the residual bound squared, range / 4."""
    of_items = expected_error(items, float(budget.items))
    return 16 * (of_items + expected_error(users, float(budget.people)))


def _gain(
    budget: FactorBudget | GradientBudget | None,
    users: Counts,
    items: Counts,
    where: Noise,
    ridge: float,
) -> float:
    """Return the expected variance of residuals that factors explain, in the same units."""
    if budget is None:
        return 0.0
    reliable = [_reliability(counts, budget, where, ridge) for counts in (users, items)]
    most, low, high = RANKS[budget.rank]
    return most * min(max((reliable[0] * reliable[1] - low) / (high - low), 0.0), 1.0)


def _reliability(
    counts: Counts, budget: FactorBudget | GradientBudget, where: Noise, ridge: float
) -> float:
    """Return the reliability of a row's release, mean over ratings."""
    a = counts * budget.prior
    if isinstance(budget, GradientBudget):
        # The mean of all copies has the variance of one over their number; descent loses half.
        copies = 4 * (2.0 / float(budget.epsilon)) ** 2 / budget.epochs
        signal = a / (a + (RATING + copies) / budget.prior)
        return float((counts * signal).sum() / max(1, counts.sum()))
    held = a + ridge if where == "output" else 1.0
    change = 2.0 if where == "objective" else ridge_sensitivity(2.0, 1.0, ridge)
    noise = (budget.rank + 1) * (change / float(budget.epsilon)) ** 2
    error = RATING * a / held**2 + noise
    signal = (a / held) ** 2 / np.maximum((a / held) ** 2 + error / budget.prior, 1e-300)
    return float((counts * signal).sum() / max(1, counts.sum()))
