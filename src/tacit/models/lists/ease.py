"""EASE (Steck 2019): every item's score is a sum over the person's other items.

    B = I - P diag(P)^-1,    P = (G + ridge I)^-1,    s = x B,    diag(B) = 0

minimises |X - X B|^2 + ridge |B|^2. G are second moments alone, so reports serve as well as the
truth does: unbiased, and freed of what noise alone would show.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv

from tacit.errors import RequestError
from tacit.models.lists.co_occurrence import CoOccurrence, co_occurrence, leading
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights

Doubles = NDArray[np.float64]
Inverse = Callable[[float], Doubles]
"""P = (G + ridge I)^-1 for a ridge, shape (items, items)."""

MOST_ITEMS = 10_000
TABLES = 5
"""Tables of items by items, in doubles, that a fit has in memory at a time."""
START, STEPS = 6, 20
"""Ridges tried: 2^(k / 2) mean counts of an item, k from 6 on either way, at most 20 from 0."""
HELD_OUT = 5
"""One person in so many is held out when a ridge is chosen."""
KEPT = 0.99
"""Of the gain of the best ridge, what the chosen one keeps at least."""


@dataclass(frozen=True, kw_only=True)
class EASE:
    """`ridge`: in people, as G is; None to choose it from the reports.

    Raises `RequestError` for a ridge that is not above 0.
    """

    ridge: float | None = None
    name = "ease"

    def __post_init__(self) -> None:
        if self.ridge is not None and not self.ridge > 0:
            raise RequestError(
                f"A ridge of {self.ridge:g} leaves EASE undefined; give one above 0."
            )

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Weights between all items; `rng` draws who is held out while a ridge is chosen.

        Raises `RequestError` above 10,000 items, with the memory that it would take.
        """
        _bounded(data.n_items)
        if self.ridge is None:
            found, ridge = _chosen(data, rng)
        else:
            found, ridge = co_occurrence(data.presence), self.ridge
        weights = ease_weights(found, ridge)
        # Where nothing stands out of the noise all weights are 0, and counts are what is left.
        counts = np.diag(found.gram).astype(np.float32)
        popularity = np.zeros_like(counts) if weights.any() else counts
        return FittedLists.of(self.name, data, ItemWeights(popularity=popularity, between=weights))


def _inverse(found: CoOccurrence) -> Inverse:
    """P for any ridge: of G itself, or of the directions of it that stand out of the noise."""
    n = len(found.gram)
    if found.edge == 0:
        return lambda ridge: inv(found.gram + ridge * np.eye(n), check_finite=False)
    vectors, values = leading(found)

    def low_rank(ridge: float) -> Doubles:
        inverse = (vectors * (-values / (values + ridge))) @ vectors.T
        inverse[np.diag_indices(n)] += 1
        return inverse / ridge

    return low_rank


def ease_weights(found: CoOccurrence, ridge: float) -> NDArray[np.float32]:
    """B at a ridge (in people), shape (items, items); without directions beyond the noise, 0."""
    return _weights(_inverse(found)(ridge))


def _weights(inverse: Doubles) -> NDArray[np.float32]:
    """B."""
    weights = (inverse / -np.diag(inverse)).astype(np.float32)
    np.fill_diagonal(weights, 0)
    return weights


def _chosen(data: Interactions, rng: int) -> tuple[CoOccurrence, float]:
    """Everybody's second moments, and the ridge for them.

    Learnt from four people of five, a ridge is judged by the squared error of x - x B on the
    others: tr((I - B)' G (I - B)), of which their debiased G is an unbiased estimate. Squared
    error counts an error of a popular item for more than a list does, and asks for more ridge: the
    least one is taken that keeps 99 % of the best one's gain over B = 0.
    """
    people = data.presence.shape[0]
    held = np.random.default_rng(rng).permutation(people) % HELD_OUT == 0
    if people < HELD_OUT:
        who = "1 person is" if people == 1 else f"{people} people are"
        raise RequestError(
            f"{who} too few to choose a ridge by, which takes {HELD_OUT}; choose graph-filter or "
            "popularity, or give EASE a ridge."
        )
    known, other = (co_occurrence(data.presence.where(who)) for who in (~held, held))
    inverse = _inverse(known)

    @cache
    def loss(step: int) -> float:
        return _loss(inverse(_ridge(known, step)), other.gram)

    best = _lowest(loss)
    bound = loss(best) + (1 - KEPT) * (float(np.trace(other.gram)) - loss(best))
    while best > -STEPS and loss(best - 1) <= bound:
        best -= 1
    everybody = known + other
    return everybody, _ridge(everybody, best)


def _ridge(found: CoOccurrence, step: int) -> float:
    """2^(step / 2) mean counts of an item."""
    return max(float(np.diag(found.gram).mean()), 1.0) * 2.0 ** (step / 2)


def _lowest(loss: Callable[[int], float]) -> int:
    """The step from which both ways lead up, at most `STEPS` from 0."""
    step, way = START, 1 if loss(START + 1) < loss(START) else -1
    while abs(step + way) <= STEPS and loss(step + way) < loss(step):
        step += way
    return step


def _loss(inverse: Doubles, gram: Doubles) -> float:
    """tr((I - B)' G (I - B)), I - B = P diag(P)^-1."""
    return float(np.einsum("ij,ij,j->", inverse, gram @ inverse, np.diag(inverse) ** -2.0))


def _bounded(n: int) -> None:
    if n > MOST_ITEMS:
        size = TABLES * 8 * n * n / 1e9
        raise RequestError(
            f"EASE of {n:,} items takes {size:,.0f} GB, for tables of all pairs of items; choose "
            f"graph-filter, or a catalogue of at most {MOST_ITEMS:,} items."
        )
