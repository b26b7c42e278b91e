"""The optimal table against a naive twin: all columns of two values, gains by the definition."""

import math
import random
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from tacit import optimal_channel
from tacit.channels.information import level_intervals, public_thetas
from tacit.channels.table import Channel
from tacit.optimal_channel import Optimal
from tacit.scale import RatingScale


@dataclass
class Case:
    """The settings of one table, and what a column of it tells by the definition of `Optimal`."""

    mechanism: Optimal

    @property
    def rated(self) -> float:
        return self.mechanism.density if self.mechanism.missing else 1.0

    @property
    def prior(self) -> list[float]:
        given = self.mechanism.prior or (7.0,) * self.mechanism.scale.n_levels
        return [share / math.fsum(given) for share in given]

    def split(self, column) -> tuple[float, list[float]]:
        """How often the symbol is drawn without a rating, and for each level."""
        return (column[0], column[1:]) if self.mechanism.missing else (0.0, column)

    def tells(self, column) -> float:
        silent, levels = self.split(column)
        if self.mechanism.objective == "variance":
            return self.variance(silent, levels)
        thetas = self.mechanism.thetas or public_thetas(self.mechanism.scale.values)
        return sum(self.information(silent, levels, theta) for theta in thetas) / len(thetas)

    def variance(self, silent, levels) -> float:
        values = self.mechanism.scale.values
        middle = (values[0] + values[-1]) / 2
        cells = list(zip(self.prior, levels, values, strict=True))
        distance = self.rated * sum(p * c * (value - middle) for p, c, value in cells)
        share = self.rated * sum(p * c for p, c, _ in cells) + (1 - self.rated) * silent
        return distance**2 / share

    def information(self, silent, levels, theta) -> float:
        shares, slopes = level_intervals(theta, self.mechanism.scale.values)
        slope = self.rated * sum(s * c for s, c in zip(slopes, levels, strict=True))
        share = self.rated * sum(s * c for s, c in zip(shares, levels, strict=True))
        return slope**2 / (share + (1 - self.rated) * silent)

    def most(self) -> float:
        """The most that any table of such columns tells."""
        low, count = math.exp(-float(self.mechanism.epsilon)), self.mechanism.scale.n_levels
        columns = list(product((low, 1.0), repeat=count))
        if self.mechanism.missing:
            columns = [(low, *c) for c in columns if len(set(c)) > 1] + [(1.0, *(low,) * count)]
        found = optimize.linprog(
            [-self.tells(column) for column in columns],
            A_eq=np.array(columns).T,
            b_eq=np.ones(len(columns[0])),
        )
        return -found.fun

    def means(self, table: Channel) -> list[float]:
        """The mean rating given each symbol, among slots that hold one."""
        found = []
        for column in zip(*table.likelihood, strict=True):
            _, levels = self.split(column)
            joint = [p * c for p, c in zip(self.prior, levels, strict=True)]
            values = self.mechanism.scale.values
            found.append(
                sum(j * value for j, value in zip(joint, values, strict=True)) / sum(joint)
            )
        return found


def cases(count: int, scales: tuple[str, ...], most_thetas: int) -> list[Case]:
    chance = random.Random(11)
    return [
        Case(drawn(chance, RatingScale.parse(chance.choice(scales)), most_thetas))
        for _ in range(count)
    ]


def drawn(chance: random.Random, scale: RatingScale, most_thetas: int) -> Optimal:
    low, high = float(scale.low), float(scale.high)
    prior = tuple(3 * chance.random() ** 3 + 0.01 for _ in scale.levels)
    thetas = tuple(chance.uniform(low, high) for _ in range(chance.randint(1, most_thetas)))
    return Optimal(
        epsilon=f"{math.exp(chance.uniform(-2, 1.6)):.3f}",
        scale=scale,
        objective=chance.choice(("variance", "information")),
        prior=chance.choice((None, prior)),
        thetas=chance.choice((None, thetas)),
        missing=chance.random() < 0.5,
        density=chance.choice((0.02, 0.3, 0.9)),
    )


def check(case: Case) -> None:
    table, most = case.mechanism.table(), case.most()
    told = sum(map(case.tells, zip(*table.likelihood, strict=True)))
    # A tie goes to the upper half by one part in 10^4: so much may be given away.
    assert (1 - 1e-4) * most <= told <= (1 + 1e-9) * most, case
    means = case.means(table)[case.mechanism.missing :]
    assert [float(y) for y in table.outputs if y is not None] == pytest.approx(means, abs=2e-6)
    assert np.diff(means).min() > -1e-9


SKEWED = Case(
    Optimal(
        epsilon="2",
        scale=RatingScale.parse("1:4:1"),
        prior=(1.0, 1.0, 20.0, 5.0),
        missing=True,
        density=0.99,
    )
)
"""Were it taken for rare that slots are rated, its best table would tell a tenth less."""

SCALES = ("0:1:1", "1:3:1", "1:4:1", "-2:2:1", "0:2.5:0.5")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", [SKEWED, *cases(40, SCALES, 3)])
def test_no_table_tells_more_and_symbols_stand_for_means(case):
    check(case)


def runs_suffice(case: Case) -> bool:
    """Where `ALL_PATTERNS` says that runs lose nothing; no case of these has two thetas."""
    public_thetas = case.mechanism.objective == "information" and not case.mechanism.thetas
    return public_thetas or not case.mechanism.missing


RUNS = [case for case in cases(30, SCALES[2:], 1) if runs_suffice(case)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", RUNS)
def test_single_runs_of_levels_tell_as_much_as_every_pattern(case, monkeypatch):
    monkeypatch.setattr(optimal_channel, "ALL_PATTERNS", 3)
    check(case)
