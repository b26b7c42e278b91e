"""Linear equations in rationals, solved exactly or refused."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.optimal_channel import solve

ONE, TWO = Fraction(1), Fraction(2)


def equations(chance, unknowns: int, rows: int, least: int = 1):
    """Columns of small fractions, zeros among them, of full rank; and their solution.

    Each row is divided by what it comes to at the solution, so that it comes to 1.
    """
    while True:
        answer = [Fraction(chance.randint(least, 9), chance.randint(1, 9)) for _ in range(unknowns)]
        table = [
            [Fraction(chance.choice((0, 0, -1, 1, 2, 5)), 3) for _ in answer] for _ in range(rows)
        ]
        totals = [sum(t * c for t, c in zip(answer, row, strict=True)) for row in table]
        if all(totals) and np.linalg.matrix_rank(np.array(table, float)) == unknowns:
            scaled = [[c / total for c in row] for row, total in zip(table, totals, strict=True)]
            return [list(column) for column in zip(*scaled, strict=True)], answer


@pytest.mark.sampled(4)
@pytest.mark.parametrize("unknowns", [1, 2, 3, 5])
@pytest.mark.parametrize("spare", [0, 1, 3])
def test_the_solution_is_found_exactly(unknowns, spare):
    chance = random.Random(unknowns)
    for _ in range(20):
        columns, answer = equations(chance, unknowns, unknowns + spare)
        assert solve(columns) == answer


@pytest.mark.parametrize("broken", range(4))
def test_one_row_too_many_that_does_not_add_up_is_refused_wherever_it_is(broken):
    columns, _ = equations(random.Random(3), 3, 4)
    columns[0][broken] += Fraction(1, 10**30)
    with pytest.raises(RequestError, match="has sum 1 in every row"):
        solve(columns)


def test_a_negative_solution_is_refused():
    chance = random.Random(5)
    for _ in range(20):
        columns, answer = equations(chance, 3, 3, least=-9)
        if min(answer) > 0:
            assert solve(columns) == answer
            continue
        with pytest.raises(RequestError, match="has sum 1 in every row"):
            solve(columns)


def test_dependent_columns_are_refused():
    third = Fraction(1, 3)
    for columns in ([[third, third]] * 2, [[ONE, TWO, ONE]] * 2, [[ONE]] * 2, [[0 * ONE, 0 * ONE]]):
        with pytest.raises(RequestError, match="linearly dependent"):
            solve(columns)


def test_a_column_of_no_weight_is_refused():
    with pytest.raises(RequestError, match="has sum 1 in every row"):
        solve([[ONE, ONE], [ONE, TWO]])
