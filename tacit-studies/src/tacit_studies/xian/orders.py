"""Claims of Xian et al. about which method is better, judged by errors at many constants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import NamedTuple

from tacit.reporting.table import Table
from tacit_studies.verdict import ClaimVerdict, Difference, weakest

MARGIN = 0.001
"""The least difference of RMSE."""


class Method(NamedTuple):
    """`name`, whose n, and how y is had; "" where it makes no difference."""

    name: str
    n: str = ""
    y: str = ""

    @property
    def words(self) -> str:
        """The method on one line."""
        return " ".join(filter(None, self))


class Constants(NamedTuple):
    """What is lost."""

    ridge: float
    rounds: int
    factors: int


Errors = Mapping[tuple[Method, Constants, str], Sequence[float]]
"""The error of each draw of noise, by method, constants and epsilon."""
ErrorAt = Callable[[Method], Sequence[float]]
"""The errors of a method, at some constants and some epsilon."""
NS, YS = ("all", "own"), ("descent", "mean")
PEERS = (Method("psgd"), Method("pals"))


def three(n: str, y: str = "") -> tuple[Method, Method, Method]:
    """Return gradient, objective and output perturbation, in the ++ forms if `y` is set."""
    plus = "++" if y else ""
    objective = Method("dpsaobj" + plus, n, y)
    return Method("dpss" + plus, "", y), objective, Method("dpsaout" + plus, "", y)


METHODS = tuple(
    dict.fromkeys((*PEERS, *(each for n, y in product(NS, ("", *YS)) for each in three(n, y))))
)


class Count(NamedTuple):
    """Number of `choices` of constants for which an order holds, and for which it is the other way
    round. `at_best`: the verdict where each method has the constants that are best for it."""

    held: int
    failed: int
    choices: int
    at_best: ClaimVerdict

    @property
    def verdict(self) -> ClaimVerdict:
        """Return whether the order holds, whatever the lost constants are.

        It is too close to tell where it holds for some of them only, or for none by enough.
        """
        if self.held == self.choices:
            return ClaimVerdict.HOLDS
        anywhere = self.held or self.at_best == ClaimVerdict.HOLDS
        return ClaimVerdict.CLOSE if anywhere or not self.failed else ClaimVerdict.FAILS


@dataclass(frozen=True)
class ErrorOrder:
    """`better` has an error below that of each of `worse`, by the margin and beyond its spread."""

    better: Method
    worse: tuple[Method, ...]

    def verdict(self, errors: ErrorAt) -> ClaimVerdict:
        """Judge the order at some constants and some epsilon. Draws are paired."""
        below = errors(self.better)
        return weakest(
            Difference.of([b - a for a, b in zip(below, errors(other), strict=True)]).verdict(
                MARGIN
            )
            for other in self.worse
        )

    def counts(
        self, errors: Errors, choices: Sequence[Constants], epsilons: Sequence[str]
    ) -> dict[str, Count]:
        """Count the choices by epsilon."""
        return {epsilon: self._count(errors, choices, epsilon) for epsilon in epsilons}

    def _count(self, errors: Errors, choices: Sequence[Constants], epsilon: str) -> Count:
        verdicts = [self.verdict(lambda m, at=one: errors[m, at, epsilon]) for one in choices]
        return Count(
            verdicts.count(ClaimVerdict.HOLDS),
            verdicts.count(ClaimVerdict.FAILS),
            len(choices),
            self.verdict(lambda m: errors[m, least(errors, m, choices, epsilon), epsilon]),
        )


def least(errors: Errors, method: Method, choices: Sequence[Constants], epsilon: str) -> Constants:
    """Return the constants at which a method's mean error is the least."""
    return min(choices, key=lambda one: fmean(errors[method, one, epsilon]))


def orders() -> Iterator[tuple[str, ErrorOrder]]:
    """Each claim of the paper, by n and by y; those of which neither matters once."""
    known: set[ErrorOrder] = set()
    for words, order in _every():
        if order not in known:
            known.add(order)
            yield words, order


def _every() -> Iterator[tuple[str, ErrorOrder]]:
    for y, n in product(("", *YS), NS):
        gradient, objective, output = three(n, y)
        forms = f"n of {n}{f', y by {y}' if y else ''}"
        yield f"objective is the best of three: {forms}", ErrorOrder(objective, (gradient, output))
        for method in (gradient, objective, output):
            yield f"better than psgd and pals: {method.words}", ErrorOrder(method, PEERS)
    for y, n in product(YS, NS):
        for plain, plus in zip(three(n), three(n, y), strict=True):
            yield f"++ is better than without: {plus.words}", ErrorOrder(plus, (plain,))


def table(found: Mapping[str, Mapping[str, Count]], epsilons: Sequence[str], choices: int) -> Table:
    """Return a line for each claim: its counts at each epsilon, and the verdict at the best."""
    lines = tuple(
        (words, *(f"{at.held}, {at.failed}, {at.at_best}" for at in counts.values()))
        for words, counts in found.items()
    )
    caption = (
        f"For how many of {choices} choices it holds and does not hold, and at the best of each; "
        "epsilon per value"
    )
    return Table(caption, ("claim", *epsilons), lines)


def best_constants(errors: Errors, choices: Sequence[Constants], epsilons: Sequence[str]) -> Table:
    """Return a line for each method: its least error at each epsilon, and its constants there."""

    def cell(method: Method, epsilon: str) -> str:
        at = least(errors, method, choices, epsilon)
        error = fmean(errors[method, at, epsilon])
        return f"{error:.3f} ({at.ridge:g}, {at.rounds}, {at.factors})"

    lines = tuple((m.words, *(cell(m, epsilon) for epsilon in epsilons)) for m in METHODS)
    return Table("Least RMSE, at which (ridge, rounds, factors)", ("method", *epsilons), lines)
