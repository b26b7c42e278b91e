"""EASE (Steck 2019): linear item-item autoencoder.

    B = I - P diag(P)^-1,    P = (G + ridge I)^-1,    s = x B,    diag(B) = 0

minimises |X - X B|^2 + ridge |B|^2. It uses second moments G alone, so reports can replace the true
data: unbiased, and denoised.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv

from tacit.engines.engine import Engine, Local
from tacit.engines.tables import Tables
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.co_occurrence import CoOccurrence, co_occurrence
from tacit.models.lists.denoised import denoised
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights

Doubles = NDArray[np.float64]
Inverse = Callable[[float], Doubles]
"""P = (G + ridge I)^-1 for a ridge, shape (items, items)."""

MOST_ITEMS = 10_000
TABLES = 5
"""Item-by-item tables of doubles that a fit holds in memory at once."""
START, STEPS = 6, 20
"""Candidate ridges: 2^(k / 2) mean item counts, k from 6 in either direction, at most 20 from 0."""
HELD_OUT = 5
"""One in `HELD_OUT` users is held out to choose a ridge."""
EMPHASES = (0.0, 0.25)
"""Emphases of popular items; without noise they make no difference."""
RETAINED = 0.99
"""Fraction of the best ridge's gain that the chosen ridge retains at least."""


@dataclass(frozen=True, kw_only=True)
class EASE:
    """EASE (Steck 2019): linear item-item autoencoder.

    `ridge`: in users, like G; None to choose it, and the emphasis of popular items in denoising,
    from the reports.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.

    Raises `RequestError` for a ridge that is not above 0.
    """

    ridge: float | None = None
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)
    name = "ease"

    def __post_init__(self) -> None:
        if self.ridge is not None and not self.ridge > 0:
            raise RequestError(
                f"ridge must be above 0, got {self.ridge:g}: EASE is undefined without it."
            )

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Fit weights between all items. `rng`: seed of the held-out users when a ridge is chosen.

        Raises `RequestError` above 10,000 items, with the memory required; for an engine without
        `state`, and for a folder of another fit.
        """
        _bounded(data.n_items)
        moments = partial(_moments, self.engine or Local(), data.tables(self, rng))
        if self.ridge is None:
            totals, ridge, emphasis = _chosen(data, rng, moments)
        else:
            totals, ridge, emphasis = moments("all", data.presence), self.ridge, EMPHASES[0]
        weights = ease_weights(totals, ridge, emphasis)
        # If nothing exceeds the noise all weights are 0, and the counts are the scores.
        counts = np.diag(totals.gram).astype(np.float32)
        popularity = np.zeros_like(counts) if weights.any() else counts
        return FittedLists.of(self.name, data, ItemWeights(popularity=popularity, between=weights))


Moments = Callable[[str, PresenceMatrix], CoOccurrence]
"""Compute the second moments of some users, in tables of the given name."""


def _moments(engine: Engine, tables: Tables, name: str, some: PresenceMatrix) -> CoOccurrence:
    return co_occurrence(some, engine, tables.within(name))


def _inverse(totals: CoOccurrence, emphasis: float) -> Inverse:
    """Return P as a function of the ridge: of G, or of its directions above the noise."""
    n = len(totals.gram)
    if totals.edge == 0:
        return lambda ridge: inv(totals.gram + ridge * np.eye(n), check_finite=False)
    factors = denoised(totals, emphasis)
    inner = factors.T @ factors

    def low_rank(ridge: float) -> Doubles:
        """(I - F (F' F + ridge I)^-1 F') / ridge (Woodbury)."""
        small = inv(inner + ridge * np.eye(len(inner)), check_finite=False)
        inverse = (factors @ small) @ -factors.T
        inverse[np.diag_indices(n)] += 1
        return inverse / ridge

    return low_rank


def ease_weights(totals: CoOccurrence, ridge: float, emphasis: float = 0.0) -> NDArray[np.float32]:
    """Return B at a ridge (in users), shape (items, items); 0 without directions above noise.

    `emphasis`: of popular items in denoising (`denoised`).
    """
    return _weights(_inverse(totals, emphasis)(ridge))


def _weights(inverse: Doubles) -> NDArray[np.float32]:
    """Return B."""
    weights = (inverse / -np.diag(inverse)).astype(np.float32)
    np.fill_diagonal(weights, 0)
    return weights


class _Choice(NamedTuple):
    """`loss`: least loss at an emphasis over all ridges. `step`: the chosen ridge."""

    loss: float
    emphasis: float
    step: int


def _chosen(data: Interactions, rng: int, moments: Moments) -> tuple[CoOccurrence, float, float]:
    """Return second moments of all users, and the ridge and emphasis for them.

    Candidates are fitted to four of five users and evaluated by the squared error of x - x B on the
    rest: tr((I - B)' G (I - B)), of which their debiased G is an unbiased estimate.
    """
    people = data.presence.shape[0]
    held = np.random.default_rng(rng).permutation(people) % HELD_OUT == 0
    if people < HELD_OUT:
        who = "1 user is" if people == 1 else f"{people} users are"
        raise RequestError(
            f"{who} too few to select a ridge, which requires {HELD_OUT}; choose graph-filter or "
            "popularity, or set EASE's ridge."
        )
    known, other = (
        moments(name, data.presence.where(who)) for name, who in (("known", ~held), ("held", held))
    )
    emphases = EMPHASES if known.edge else EMPHASES[:1]
    best = min(_judged(known, other.gram, emphasis) for emphasis in emphases)
    everybody = known + other
    return everybody, _ridge(everybody, best.step), best.emphasis


def _judged(known: CoOccurrence, other: Doubles, emphasis: float) -> _Choice:
    """Return the ridge for an emphasis.

    Squared error weighs popular items more than a top-N list does, and favours a larger ridge: the
    smallest ridge is chosen that retains 99 % of the best one's gain over B = 0.
    """
    inverse = _inverse(known, emphasis)

    @cache
    def loss(step: int) -> float:
        return _loss(inverse(_ridge(known, step)), other)

    step = _lowest(loss)
    least = loss(step)
    bound = least + (1 - RETAINED) * (float(np.trace(other)) - least)
    while step > -STEPS and loss(step - 1) <= bound:
        step -= 1
    return _Choice(least, emphasis, step)


def _ridge(totals: CoOccurrence, step: int) -> float:
    """Return 2^(step / 2) mean item counts."""
    return max(float(np.diag(totals.gram).mean()), 1.0) * 2.0 ** (step / 2)


def _lowest(loss: Callable[[int], float]) -> int:
    """Return a local minimum of the loss, at most `STEPS` from 0."""
    step, way = START, 1 if loss(START + 1) < loss(START) else -1
    while abs(step + way) <= STEPS and loss(step + way) < loss(step):
        step += way
    return step


def _loss(inverse: Doubles, gram: Doubles) -> float:
    """Return tr((I - B)' G (I - B)), I - B = P diag(P)^-1."""
    return float(np.einsum("ij,ij,j->", inverse, gram @ inverse, np.diag(inverse) ** -2.0))


def _bounded(n: int) -> None:
    if n > MOST_ITEMS:
        size = TABLES * 8 * n * n / 1e9
        raise RequestError(
            f"EASE on {n:,} items requires {size:,.0f} GB for item-item matrices; "
            f"choose graph-filter, or a catalogue of at most {MOST_ITEMS:,} items."
        )
