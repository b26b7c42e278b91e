"""Claims of Xian et al. about which method is better, asked of errors at many constants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from tacit.reporting.table import Table

MARGIN = 0.001


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


Errors = dict[tuple[Method, Constants, str], float]
"""By method, constants and epsilon."""
ErrorAt = Callable[[Method], float]
"""The error of a method, at some constants and some epsilon."""
NS, YS = ("all", "own"), ("descent", "mean")
PEERS = (Method("psgd"), Method("pals"))


def three(n: str, y: str = "") -> tuple[Method, Method, Method]:
    """Gradient, objective and output; the ++ forms where `y` says how y is had."""
    plus = "++" if y else ""
    objective = Method("dpsaobj" + plus, n, y)
    return Method("dpss" + plus, "", y), objective, Method("dpsaout" + plus, "", y)


METHODS = tuple(
    dict.fromkeys((*PEERS, *(each for n, y in product(NS, ("", *YS)) for each in three(n, y))))
)


class Count(NamedTuple):
    """For how many of so many choices an order holds, and whether it does where each method has the
    constants that are best for it."""

    held: int
    choices: int
    at_best: bool


@dataclass(frozen=True)
class ErrorOrder:
    """`better` has an error below the least of `worse`, by the margin."""

    better: Method
    worse: tuple[Method, ...]

    def holds(self, error: ErrorAt) -> bool:
        """At some constants and some epsilon."""
        return error(self.better) + MARGIN <= min(map(error, self.worse))

    def counts(
        self, errors: Errors, choices: Sequence[Constants], epsilons: Sequence[str]
    ) -> dict[str, Count]:
        """By epsilon."""
        return {epsilon: self._count(errors, choices, epsilon) for epsilon in epsilons}

    def _count(self, errors: Errors, choices: Sequence[Constants], epsilon: str) -> Count:
        held = sum(self.holds(lambda m, at=one: errors[m, at, epsilon]) for one in choices)
        best = self.holds(lambda m: min(errors[m, one, epsilon] for one in choices))
        return Count(held, len(choices), best)


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
        told = f"n of {n}{f', y by {y}' if y else ''}"
        yield f"objective is the best of three: {told}", ErrorOrder(objective, (gradient, output))
        for method in (gradient, objective, output):
            yield f"better than psgd and pals: {method.words}", ErrorOrder(method, PEERS)
    for y, n in product(YS, NS):
        for plain, plus in zip(three(n), three(n, y), strict=True):
            yield f"++ is better than without: {plus.words}", ErrorOrder(plus, (plain,))


def table(found: Mapping[str, Mapping[str, Count]], epsilons: Sequence[str], choices: int) -> Table:
    """A line a claim: for how many constants it holds at each epsilon, and with the best ones."""
    lines = tuple(
        (words, *(f"{at.held} {'yes' if at.at_best else 'no'}" for at in counts.values()))
        for words, counts in found.items()
    )
    caption = f"For how many of {choices} choices, and whether at the best of each; epsilon a value"
    return Table(caption, ("claim", *epsilons), lines)


def best_constants(errors: Errors, choices: Sequence[Constants], epsilons: Sequence[str]) -> Table:
    """A line a method: its least error at each epsilon, and the constants that gave it."""

    def cell(method: Method, epsilon: str) -> str:
        error, at = min((errors[method, one, epsilon], one) for one in choices)
        return f"{error:.3f} ({at.ridge:g}, {at.rounds}, {at.factors})"

    lines = tuple((m.words, *(cell(m, epsilon) for epsilon in epsilons)) for m in METHODS)
    return Table("Least RMSE, at which (ridge, rounds, factors)", ("method", *epsilons), lines)
