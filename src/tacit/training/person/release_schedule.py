"""Schedule of releases, chosen from the budget and noisy counts: post-processing.

The *reliability* of an item with noisy weight c, for factors of variance t^2, is c^2 t^2 / (c^2 t^2
+ noise). K factors with geometrically decreasing variances are expected to explain

    gain(K) = sum_k t_k^2 (mean reliability of k)^2,

squared because users' rows are solved from items of limited reliability; across domains one of the
two means is over the source's items, the other over the target's. It increases and then decreases
in K, since K factors share the noise. Among the K within 2 % of the best gain the largest is
chosen, since the rate of decrease is a guess as well. The cost of factors is the loss of accuracy
of item means with the smaller remaining budget. The variance of factors is a public guess, so the
gain must be several times the cost: otherwise K is 0, and the complete budget is spent on item
means. A last release tests the guess (`factor_scale`).

First stage of user-level trainers: release noisy counts, which set the remaining schedule.

The first tenth of the budget is spent on the mean rating, on rating frequencies of items and,
across domains, on the number of linking users. Later stages depend on ratings through these
releases alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Ratings
from tacit.scale import RATING_SPREAD
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings, require_vocabularies
from tacit.training.person.item_means import (
    CLEAR,
    ITEM_SPREAD,
    LABELS,
    Counted,
    CrossDomain,
    counted,
    linked_share,
)

Doubles = NDArray[np.float64]
FIRST = {"level": 0.01, "counts": 0.09}  # budget fractions of the releases before this choice
FIRST_LINKED = {"level": 0.005, "links": 0.005, "counts": 0.09}  # the same across domains
LEFT = 0.9
MEANS, GRAM, FACTOR_SCALE = 0.35, 0.05, 0.02  # budget fractions with factors; pulls get the rest
ROUGH = 0.05  # budget fraction of the means that own levels are relative to
GROWTH = np.exp(0.6)  # ratio of budget fractions of consecutive steps; the last step is the result
TASTE_SPREAD, FALL = 0.2, 0.6  # total deviation, in half ranges; ratio of consecutive variances
CAUTION = 4.0
ACROSS = 1.5  # CAUTION across domains, where links and both sides of the guess are separate
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
        """Budget fractions of all remaining releases."""
        if not self.factors:
            return means_shares(LEFT)
        pulls = LEFT - MEANS - GRAM - FACTOR_SCALE
        parts = GROWTH ** np.arange(self.steps)
        parts /= parts.sum()
        shares = means_shares(MEANS) | {"factor scale": FACTOR_SCALE}
        for step, part in enumerate(parts):
            shares |= {f"gram {step}": GRAM * part, f"pull {step}": pulls * part}
        return shares


def means_shares(share: float) -> dict[str, float]:
    """Divide the budget fraction of item means: a small part for rough means, then means."""
    return {"rough means": ROUGH, "means": share - ROUGH}


def release_schedule(
    known: Counted,
    alone: float,
    half: float,
    steps: int,
    factors: int | None,
    linked: float = 1.0,
    target_items: NDArray[np.bool_] | None = None,
) -> ReleaseSchedule:
    """Return the schedule at a budget whose single release would have the multiplier `alone`.

    `factors`: K, or None to choose it. `half`: of the scale's range. `linked`: fraction of users
    whose factors carry over to the target; across domains, those with ratings in several.
    `target_items`: of the target domain, shape (items,), None for one domain; user rows are solved
    from the others.
    """
    head = known.weights > CLEAR * known.noise
    if not head.any():
        return ReleaseSchedule(0, head, steps)
    if factors is not None:
        return ReleaseSchedule(factors, head, steps)
    items = np.ones(len(head), np.bool_)
    sources, targets = (items, items) if target_items is None else (~target_items, target_items)
    guess = _Guess(known, alone, half, sources, targets)
    gains = [guess.gain(K, head, steps) for K in range(1, MOST_FACTORS + 1)]
    best = max(k for k, gain in enumerate(gains) if gain >= NEARLY * max(gains))
    caution = CAUTION if target_items is None else ACROSS
    is_beneficial = linked * gains[best] > caution * (guess.loss(MEANS) - guess.loss(LEFT))
    return ReleaseSchedule(best + 1 if is_beneficial else 0, head, steps)


@dataclass(frozen=True, eq=False)
class _Guess:
    known: Counted
    alone: float
    half: float
    sources: NDArray[np.bool_]
    targets: NDArray[np.bool_]

    def gain(self, factors: int, head: NDArray[np.bool_], steps: int) -> float:
        """Return the variance of ratings that `factors` factors are expected to explain."""
        share = (LEFT - MEANS - GRAM - FACTOR_SCALE) / steps
        variances = (TASTE_SPREAD * self.half) ** 2 * (1 - FALL) * FALL ** np.arange(factors)
        reliable = [self._reliability(v, factors, share) * head for v in variances]
        rows, items = (
            np.array([r @ self._often(among) for r in reliable])
            for among in (self.sources, self.targets)
        )
        return float(variances @ (rows * items))

    def loss(self, share: float) -> float:
        """Return the variance of ratings that item means with this budget fraction leave."""
        variance = (ITEM_SPREAD * self.half) ** 2
        return float(
            variance * (1 - self._reliability(variance, 1, share)) @ self._often(self.targets)
        )

    def _reliability(self, variance: float, factors: int, share: float) -> Doubles:
        drawn = factors * (2 * self.alone * LABELS * self.half) ** 2 / share
        rated = (RATING_SPREAD * 2 * self.half) ** 2 * self.known.share * self.known.weights
        signal = variance * self.known.weights**2
        return signal / (signal + drawn + rated)

    def _often(self, among: NDArray[np.bool_]) -> Doubles:
        weights = self.known.weights * among
        return weights / max(float(weights.sum()), LEAST)


class FirstReleases(NamedTuple):
    """`canonical`: true ratings. `known`: released counts. `schedule`: of the remaining budget."""

    canonical: CanonicalRatings
    known: Counted
    schedule: ReleaseSchedule


def first_releases(
    ratings: Ratings,
    account: Account,
    *,
    steps: int,
    factors: int | None,
    cross_domain: CrossDomain | None,
) -> FirstReleases:
    """Release `level`, `counts` and, across domains, `links`, and plan the remaining releases.

    `steps`: of the alternation. `factors`: K, None to choose it. Data without ratings are accepted:
    an error would reveal that no user rated. Raises `RequestError` without users or items, and for
    a scale of one level.
    """
    require_vocabularies(ratings)
    ratings.scale.require_stars("A trainer that predicts ratings")
    account.allot(FIRST if cross_domain is None else FIRST_LINKED)
    canonical = CanonicalRatings.of(ratings)
    known = counted(canonical, account, cross_domain)
    linked = 1.0 if cross_domain is None else linked_share(cross_domain.links, known, account)
    target_items = None if cross_domain is None else cross_domain.target_items
    schedule = release_schedule(
        known, account.alone, canonical.half, steps, factors, linked, target_items
    )
    return FirstReleases(canonical, known, schedule)
