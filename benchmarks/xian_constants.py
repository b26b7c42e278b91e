"""For which constants do the claims of Xian et al. hold? Ridge, rounds and factors are lost.

    python benchmarks/xian_constants.py [--rows OUT.jsonl] [--ratings 100000] [--epsilons 1,10,16]
           [--ridges .05,.3,1,5] [--rounds 1,3,10] [--factors 5,20]

Every method as published, at every choice of constants, on made-up ratings of MovieLens 100K's
shape, a tenth held out: constants chosen here have seen no ratings of anybody. Algorithm 2's n is
that of all ratings, as printed, or a row's own; y of the ++ forms is learnt by descent or is a raw
mean. Says for how many choices each claim holds by .001 or more, and whether it holds where each
method has the constants that are best for it. Rows that are in OUT already are not measured again.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from followed import followed
from tacit.metrics.accuracy import rmse
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.training import training

MARGIN = 0.001
SHAPE = (943, 1682)


class Method(NamedTuple):
    """`name`, whose n, and how y is had; "" where it makes no difference."""

    name: str
    n: str = ""
    y: str = ""


class Constants(NamedTuple):
    """What is lost."""

    ridge: float
    rounds: int
    factors: int


Case = tuple[Method, Constants, str]
Errors = dict[Case, float]
NS, YS = ("all", "own"), ("descent", "mean")
PEERS = (Method("psgd"), Method("pals"))


def three(n: str, y: str = "") -> tuple[Method, Method, Method]:
    """Gradient, objective and output; the ++ forms where `y` says how y is had."""
    plus = "++" if y else ""
    objective = Method("dpsaobj" + plus, n, y)
    return Method("dpss" + plus, "", y), objective, Method("dpsaout" + plus, "", y)


METHODS = dict.fromkeys(
    (*PEERS, *(method for n, y in product(NS, ("", *YS)) for method in three(n, y)))
)


def measured(cases: Iterable[Case], train: Ratings, test: Ratings, rows: Path) -> Errors:
    """The error of each case, from the file where it has it."""
    known: Errors = {}
    for line in rows.read_text().splitlines() if rows.exists() else ():
        *case, error = json.loads(line)
        known[Method(*case[0]), Constants(*case[1]), case[2]] = error
    every = list(cases)
    for case in followed("constants", [case for case in every if case not in known]):
        known[case] = error_of(case, train, test)
        with rows.open("a") as file:
            file.write(json.dumps([*case, known[case]]) + "\n")
    return {case: known[case] for case in every}


def error_of(case: Case, train: Ratings, test: Ratings) -> float:
    """RMSE on held-out true ratings of one training."""
    method, constants, epsilon = case
    changes: dict[str, Any] = constants._asdict()
    changes |= {key: value for key, value in (("count", method.n), ("y", method.y)) if value}
    published: Any = training(method.name, "strict" if method in PEERS else "faithful")
    fitted = replace(published, **changes).fit(train, epsilon=epsilon)
    predicted = fitted.predict_codes(test.users, test.items)
    return rmse(test.values, np.clip(predicted, 1, 5))


ErrorAt = Callable[[Method], float]
"""The error of a method, at some constants and some epsilon."""


def claims() -> dict[str, Callable[[ErrorAt], bool]]:
    """Each claim of the paper, by n and by y, as a question about errors."""
    asked: dict[str, Callable[[ErrorAt], bool]] = {}
    for y, n in product(("", *YS), NS):
        methods = three(n, y)
        told = f"n of {n}{f', y by {y}' if y else ''}"
        asked[f"objective is the best of three: {told}"] = lambda at, methods=methods: (
            at(methods[1]) + MARGIN <= min(at(methods[0]), at(methods[2]))
        )
        for method in methods:
            if method.n in ("", n):
                name = " ".join(filter(None, method))
                asked[f"better than psgd and pals: {name}"] = lambda at, method=method: (
                    at(method) + MARGIN <= min(map(at, PEERS))
                )
    for y, n in product(YS, NS):
        for plain, plus in zip(three(n), three(n, y), strict=True):
            name = " ".join(filter(None, plus))
            asked[f"++ is better than without: {name}"] = lambda at, pair=(plain, plus): (
                at(pair[1]) + MARGIN <= at(pair[0])
            )
    return asked


def verdicts(errors: Errors, choices: list[Constants], epsilons: list[str]) -> str:
    """A line a claim: for how many constants it holds at each epsilon, and with the best ones."""
    best = {
        (method, epsilon): min(errors[method, each, epsilon] for each in choices)
        for method, epsilon in product(METHODS, epsilons)
    }
    lines = [f"{'':58s}" + "".join(f"{epsilon:>12s}" for epsilon in epsilons)]
    for words, claim in claims().items():
        cells = ""
        for epsilon in epsilons:
            holds = sum(
                claim(lambda method, c=each, e=epsilon: errors[method, c, e]) for each in choices
            )
            own = claim(lambda method, e=epsilon: best[method, e])
            cells += f"{f'{holds}/{len(choices)} ' + ('yes' if own else 'no'):>12s}"
        lines.append(f"{words:58s}{cells}")
    return "\n".join(lines)


def best_constants(errors: Errors, choices: list[Constants], epsilons: list[str]) -> str:
    """A line a method: its best error at each epsilon, and the constants that gave it."""
    lines: list[str] = []
    for method in METHODS:
        cells = ""
        for epsilon in epsilons:
            error, at = min((errors[method, each, epsilon], each) for each in choices)
            cells += f"  {error:.3f} ({at.ridge:g}, {at.rounds}, {at.factors})".ljust(22)
        lines.append(f"{' '.join(filter(None, method)):22s}{cells}")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=Path("xian-constants.jsonl"))
    parser.add_argument("--ratings", type=int, default=100_000)
    parser.add_argument("--epsilons", default="1,10,16")
    parser.add_argument("--ridges", default=".05,.3,1,5")
    parser.add_argument("--rounds", default="1,3,10")
    parser.add_argument("--factors", default="5,20")
    asked = parser.parse_args()
    epsilons = asked.epsilons.split(",")
    grid = product(asked.ridges.split(","), asked.rounds.split(","), asked.factors.split(","))
    choices = [Constants(float(ridge), int(k), int(K)) for ridge, k, K in grid]
    data = synthetic(*SHAPE, asked.ratings, rng=1)
    held = np.random.default_rng(0).random(len(data)) < 0.1
    cases = [(m, c, e) for m in METHODS for c in choices for e in epsilons]
    errors = measured(cases, data.where(~held), data.where(held), asked.rows)
    print("Least RMSE of each method by epsilon, and at which (ridge, rounds, factors).\n")
    print(best_constants(errors, choices, epsilons))
    print("\nFor how many choices of constants a claim holds, and whether where each is best.\n")
    print(verdicts(errors, choices, epsilons))


if __name__ == "__main__":
    main()
