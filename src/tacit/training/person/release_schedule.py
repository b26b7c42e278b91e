"""What a curator's training releases, chosen from its budget and noisy counts: post-processing.

An item whose noisy weight is c tells tastes of variance t^2 as well as c^2 t^2 / (c^2 t^2 + noise),
its *reliability*. K tastes whose variances fall off geometrically are expected to explain

    gain(K) = sum_k t_k^2 (mean reliability of k)^2,

squared because people's rows are solved from items that are only so reliable; across domains one
of the two means is over the source's items, and the other over the target's. It grows and then
falls in K, since K tastes share the noise; of those K that are expected to explain nearly as much
as the best, the largest is taken, since how fast tastes fall off is a guess as well. What they cost
is what item means lose by the smaller share that is left for them. How strong tastes are is a
public guess, so the gain has to be several times the cost: otherwise K is 0, and the whole budget
goes to the item means. Whether the guess was right is seen in the end (`strength`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.public_priors import RATING_SPREAD
from tacit.training.person.item_means import CLEAR, ITEM_SPREAD, LABELS, Counted

Doubles = NDArray[np.float64]
FIRST = {"level": 0.01, "counts": 0.09}  # shares of the budget that are spent before this choice
FIRST_LINKED = {"level": 0.005, "links": 0.005, "counts": 0.09}  # where people link domains
LEFT = 0.9
MEANS, GRAM, STRENGTH = 0.35, 0.05, 0.02  # shares beside factors; the rest goes to the pulls
ROUGH = 0.05  # of the budget, for means that own levels are taken around
GROWTH = np.exp(0.6)  # of the share from one step to the next: later ones are kept
TASTE_SPREAD, FALL = 0.2, 0.6  # of half the range, for all tastes together; from one to the next
CAUTION = 4.0
ACROSS = 1.5  # the same across domains, where links and both sides of the guess are told apart
NEARLY = 0.98
LEAST = 1e-9
MOST_FACTORS = 12


@dataclass(frozen=True, eq=False)
class ReleaseSchedule:
    """`factors`: K. `head`: which items get factors, shape (items,). `steps`: of alternation."""

    factors: int
    head: NDArray[np.bool_]
    steps: int

    @property
    def shares(self) -> dict[str, float]:
        """The share of the budget of every release that is still to come."""
        if not self.factors:
            return means_shares(LEFT)
        pulls = LEFT - MEANS - GRAM - STRENGTH
        parts = GROWTH ** np.arange(self.steps)
        parts /= parts.sum()
        shares = means_shares(MEANS) | {"strength": STRENGTH}
        for step, part in enumerate(parts):
            shares |= {f"gram {step}": GRAM * part, f"pull {step}": pulls * part}
        return shares


def means_shares(whole: float) -> dict[str, float]:
    """How item means spend their share: as little on rough ones as own levels need."""
    return {"rough means": ROUGH, "means": whole - ROUGH}


def release_schedule(
    known: Counted,
    alone: float,
    half: float,
    steps: int,
    factors: int | None,
    linked: float = 1.0,
    asked: NDArray[np.bool_] | None = None,
) -> ReleaseSchedule:
    """The outline at a budget whose single release would have the multiplier `alone`.

    `factors`: K, or None to choose it. `half`: of the scale's range. `linked`: the share of people
    through whom tastes can tell what is asked; across domains, those with ratings in several.
    `asked`: the items of the target domain, shape (items,); people's rows are solved from others.
    """
    head = known.weights > CLEAR * known.noise
    if not head.any():
        return ReleaseSchedule(0, head, steps)
    if factors is not None:
        return ReleaseSchedule(factors, head, steps)
    items = np.ones(len(head), np.bool_)
    told, asks = (items, items) if asked is None else (~asked, asked)
    guess = _Guess(known, alone, half, told, asks)
    gains = [guess.gain(K, head, steps) for K in range(1, MOST_FACTORS + 1)]
    best = max(k for k, gain in enumerate(gains) if gain >= NEARLY * max(gains))
    caution = CAUTION if asked is None else ACROSS
    worth = linked * gains[best] > caution * (guess.loss(MEANS) - guess.loss(LEFT))
    return ReleaseSchedule(best + 1 if worth else 0, head, steps)


@dataclass(frozen=True, eq=False)
class _Guess:
    known: Counted
    alone: float
    half: float
    told: NDArray[np.bool_]
    asks: NDArray[np.bool_]

    def gain(self, factors: int, head: NDArray[np.bool_], steps: int) -> float:
        """Variance of ratings that so many tastes are expected to explain."""
        share = (LEFT - MEANS - GRAM - STRENGTH) / steps
        variances = (TASTE_SPREAD * self.half) ** 2 * (1 - FALL) * FALL ** np.arange(factors)
        reliable = [self._reliability(v, factors, share) * head for v in variances]
        rows, items = (
            np.array([r @ self._often(among) for r in reliable]) for among in (self.told, self.asks)
        )
        return float(variances @ (rows * items))

    def loss(self, share: float) -> float:
        """Variance of ratings that item means of this share of the budget leave behind."""
        variance = (ITEM_SPREAD * self.half) ** 2
        return float(
            variance * (1 - self._reliability(variance, 1, share)) @ self._often(self.asks)
        )

    def _reliability(self, variance: float, factors: int, share: float) -> Doubles:
        drawn = factors * (2 * self.alone * LABELS * self.half) ** 2 / share
        rated = (RATING_SPREAD * 2 * self.half) ** 2 * self.known.share * self.known.weights
        signal = variance * self.known.weights**2
        return signal / (signal + drawn + rated)

    def _often(self, among: NDArray[np.bool_]) -> Doubles:
        weights = self.known.weights * among
        return weights / max(float(weights.sum()), LEAST)
