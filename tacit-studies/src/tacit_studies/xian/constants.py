"""For which constants do the claims of Xian et al. hold? Ridge, rounds and factors are lost.

Every method as published, at every choice of constants, on synthetic ratings of MovieLens 100K's
shape, a tenth held out. So constants chosen here have read no user's ratings. Algorithm 2's n is
that of all ratings, as printed, or a row's own. y of the ++ forms is learnt by descent or is a raw
mean. Counts the choices for which each claim holds by .001 or more, beyond the spread over draws of
noise, and judges it where each method has the constants that are best for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.metrics.accuracy import rmse
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.training import training
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept, by_draw, samples
from tacit_studies.xian.orders import (
    METHODS,
    PEERS,
    Constants,
    Count,
    Method,
    best_constants,
    orders,
    table,
)

SHAPE = (943, 1682)
RNG = 1


class ConstantsCase(NamedTuple):
    """One training run, at an epsilon in nats per value, on that number of synthetic ratings."""

    method: Method
    constants: Constants
    epsilon: str
    ratings: int
    draw: int


@dataclass(frozen=True)
class LostConstants:
    """Every choice out of `ridges`, `rounds` and `factors`, at `epsilons` in nats per value.

    `ratings`: number of synthetic ratings. `draws`: of noise at each choice.
    """

    ratings: int = 100_000
    epsilons: tuple[str, ...] = ("1", "10", "16")
    ridges: tuple[float, ...] = (0.05, 0.3, 1.0, 5.0)
    rounds: tuple[int, ...] = (1, 3, 10)
    factors: tuple[int, ...] = (5, 20)
    draws: int = 3

    name: ClassVar[str] = "constants"
    title: ClassVar[str] = "For which of the lost constants the claims hold"
    covers: ClassVar[tuple[str, ...]] = ("Figure 2",)
    own_data: ClassVar[str] = f"synthetic ratings by {SHAPE[0]} users of {SHAPE[1]:,} items"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Train every method at every choice."""
        del data  # Constants chosen on synthetic ratings cost no epsilon.
        choices = [Constants(*one) for one in product(self.ridges, self.rounds, self.factors)]
        made = synthetic(*SHAPE, self.ratings, rng=RNG)
        held = np.random.default_rng(0).random(len(made)) < 0.1
        measure = partial(measured, made.where(~held), made.where(held))
        cases = [
            ConstantsCase(method, one, epsilon, self.ratings, draw)
            for method, one, epsilon, draw in product(
                METHODS, choices, self.epsilons, range(self.draws)
            )
        ]
        groups = by_draw(
            kept.measured(self.name, cases, measure), lambda c: (c.method, c.constants, c.epsilon)
        )
        errors = {key: samples(draws, "rmse") for key, draws in groups.items()}
        found = {words: order.counts(errors, choices, self.epsilons) for words, order in orders()}
        return StudyResult(
            claims=tuple(claim(words, counts) for words, counts in found.items()),
            tables=(
                table(found, self.epsilons, len(choices)),
                best_constants(errors, choices, self.epsilons),
            ),
            remarks=(
                f"{self.ratings:,} ratings, {len(choices)} choices of ridge, rounds and factors, "
                f"{self.draws} draws of noise at each. A claim holds by .001 or more. It is too "
                "close to tell where it depends on the lost constants.",
            ),
        )


def measured(train: Ratings, test: Ratings, case: ConstantsCase) -> Figures:
    """Return the RMSE of one training run on held-out true ratings."""
    method = case.method
    changes: dict[str, Any] = case.constants._asdict()
    changes |= {key: value for key, value in (("count", method.n), ("y", method.y)) if value}
    published: Any = training(method.name, "strict" if method in PEERS else "faithful")
    fitted = replace(published, **changes).fit(train, epsilon=case.epsilon, rng=case.draw)
    predicted = fitted.predict_codes(test.users, test.items)
    return {"rmse": rmse(test.values, np.clip(predicted, 1, 5))}


def claim(words: str, counts: Mapping[str, Count]) -> PaperClaim:
    """Judge the paper's order of methods, whose constants are lost."""
    ours = "; ".join(
        f"{count.held} of {count.choices} at {epsilon}, at the best of each {count.at_best}"
        for epsilon, count in counts.items()
    )
    verdicts = {epsilon: count.verdict for epsilon, count in counts.items()}
    return PaperClaim.of_cases(words, "at the paper's constants", verdicts, ours)
