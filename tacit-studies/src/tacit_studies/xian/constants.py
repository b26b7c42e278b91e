"""For which constants do the claims of Xian et al. hold? Ridge, rounds and factors are lost.

Every method as published, at every choice of constants, on made-up ratings of MovieLens 100K's
shape, a tenth held out: constants chosen here have seen no ratings of anybody. Algorithm 2's n is
that of all ratings, as printed, or a row's own; y of the ++ forms is learnt by descent or is a raw
mean. Says for how many choices each claim holds by .001 or more, and whether it holds where each
method has the constants that are best for it.
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
from tacit_studies.claim import ClaimVerdict, PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept
from tacit_studies.xian.orders import (
    METHODS,
    PEERS,
    Constants,
    Count,
    Errors,
    Method,
    best_constants,
    orders,
    table,
)

SHAPE = (943, 1682)
RNG = 1


class ConstantsCase(NamedTuple):
    """One training, at an epsilon in nats per value, on so many made-up ratings."""

    method: Method
    constants: Constants
    epsilon: str
    ratings: int


@dataclass(frozen=True)
class LostConstants:
    """Every choice out of `ridges`, `rounds` and `factors`, at `epsilons` in nats per value, on so
    many made-up `ratings`."""

    ratings: int = 100_000
    epsilons: tuple[str, ...] = ("1", "10", "16")
    ridges: tuple[float, ...] = (0.05, 0.3, 1.0, 5.0)
    rounds: tuple[int, ...] = (1, 3, 10)
    factors: tuple[int, ...] = (5, 20)

    name: ClassVar[str] = "constants"
    title: ClassVar[str] = "For which of the lost constants the claims hold"

    def find(self, data: Any, kept: Kept) -> StudyResult:
        """Every method at every choice; no ratings of anybody are looked at."""
        del data
        choices = [Constants(*one) for one in product(self.ridges, self.rounds, self.factors)]
        made = synthetic(*SHAPE, self.ratings, rng=RNG)
        held = np.random.default_rng(0).random(len(made)) < 0.1
        measure = partial(measured, made.where(~held), made.where(held))
        cases = [
            ConstantsCase(method, one, epsilon, self.ratings)
            for method, one, epsilon in product(METHODS, choices, self.epsilons)
        ]
        errors = errors_of(kept.measured(self.name, cases, measure))
        found = {words: order.counts(errors, choices, self.epsilons) for words, order in orders()}
        return StudyResult(
            claims=tuple(claim(words, counts) for words, counts in found.items()),
            tables=(
                table(found, self.epsilons, len(choices)),
                best_constants(errors, choices, self.epsilons),
            ),
            remarks=(
                f"{len(choices)} choices of ridge, rounds and factors; a claim holds by .001 or "
                "more. Made-up ratings, so that whoever takes the best constants has looked at "
                "nobody's.",
            ),
        )


def measured(train: Ratings, test: Ratings, case: ConstantsCase) -> Figures:
    """RMSE on held-out true ratings of one training."""
    method = case.method
    changes: dict[str, Any] = case.constants._asdict()
    changes |= {key: value for key, value in (("count", method.n), ("y", method.y)) if value}
    published: Any = training(method.name, "strict" if method in PEERS else "faithful")
    fitted = replace(published, **changes).fit(train, epsilon=case.epsilon)
    predicted = fitted.predict_codes(test.users, test.items)
    return {"rmse": rmse(test.values, np.clip(predicted, 1, 5))}


def errors_of(found: Mapping[ConstantsCase, Figures]) -> Errors:
    """RMSE by method, constants and epsilon."""
    return {(c.method, c.constants, c.epsilon): at["rmse"] for c, at in found.items()}


def claim(words: str, counts: Mapping[str, Count]) -> PaperClaim:
    """The paper's order of methods, which it gives for constants that are lost."""
    said = "; ".join(
        f"{count.held} of {count.choices} at {epsilon}, {'' if count.at_best else 'not '}at the "
        "best of each"
        for epsilon, count in counts.items()
    )
    everywhere = all(count.held == count.choices for count in counts.values())
    anywhere = any(count.held for count in counts.values())
    held = ClaimVerdict.PARTLY if anywhere else ClaimVerdict.FAILS
    return PaperClaim(
        words, "at the paper's constants", said, ClaimVerdict.HOLDS if everywhere else held
    )
