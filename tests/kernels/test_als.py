"""The weighted-ALS half-step against the textbook normal equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.kernels.als import SideProblem, half_step
from tacit.kernels.dense import add_gram, factor, padded, solve_lower, solve_transposed
from tacit.kernels.layout import layout


def problem(rng: np.random.Generator, n: int, columns: int, K: int) -> SideProblem:
    return SideProblem(
        target=rng.normal(size=n).astype(np.float32),
        weight=rng.uniform(0.1, 3, n).astype(np.float32),
        design=rng.normal(size=(columns, K)).astype(np.float32),
        offset=rng.normal(size=columns).astype(np.float32),
        ridge=rng.uniform(0.5, 2, K).astype(np.float32),
    )


def naive(users: np.ndarray, items: np.ndarray, given: SideProblem, rows: int) -> np.ndarray:
    out = np.zeros((rows, given.design.shape[1]))
    for r in range(rows):
        mine = users == r
        if mine.any():
            y, w = given.design[items[mine]].astype(float), given.weight[mine].astype(float)
            residual = given.target[mine] - given.offset[items[mine]]
            H = (y * w[:, None]).T @ y + np.diag(given.ridge)
            out[r] = np.linalg.solve(H, y.T @ (w * residual))
    return out


@pytest.mark.parametrize("K", [1, 2, 7, 16, 33, 50, 64])
def test_half_step_is_the_normal_equations(K: int) -> None:
    rng = np.random.default_rng(K)
    cells = rng.permutation(40 * 30)[:500]
    users, items = (cells // 30).astype(np.int32), (cells % 30).astype(np.int32)
    users[users == 5] = 6  # one row has no cells at all
    grouped, order = layout(users, items, 40, 30)
    given = problem(rng, len(users), 30, K)
    sorted_ = given._replace(target=given.target[order], weight=given.weight[order])
    ours = half_step(grouped.users, sorted_)
    assert np.allclose(ours, naive(users, items, given, 40), atol=2e-3)
    assert not ours[5].any()
    other = sorted_._replace(design=np.resize(given.design, (40, K)), offset=np.zeros(40, "f4"))
    theirs = half_step(grouped.items, other)
    swapped = given._replace(design=other.design, offset=other.offset)
    assert np.allclose(theirs, naive(items, users, swapped, 30), atol=2e-3)


def test_the_order_in_which_rows_arrive_changes_no_digit() -> None:
    rng = np.random.default_rng(0)
    cells = rng.permutation(50 * 20)[:600]
    users, items = (cells // 20).astype(np.int32), (cells % 20).astype(np.int32)
    given = problem(rng, 600, 20, 5)
    answers = []
    for shuffle in (np.arange(600), rng.permutation(600)):
        grouped, order = layout(users[shuffle], items[shuffle], 50, 20)
        mine = given._replace(
            target=given.target[shuffle][order], weight=given.weight[shuffle][order]
        )
        answers.append(half_step(grouped.users, mine).tobytes())
    assert answers[0] == answers[1]


@settings(max_examples=40)
@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_factor_and_solves_invert_a_positive_definite_matrix(K: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(K, K))
    H = A @ A.T + K * np.eye(K)
    L, x = np.full((padded(K), padded(K)), 9e9), rng.normal(size=K)
    L[:K, :K] = H
    b = x.copy()
    factor(L, K)
    lower = np.tril(L[:K, :K])
    assert np.allclose(lower.T @ lower, H)
    solve_transposed(L, x)
    solve_lower(L, x)
    assert np.allclose(H @ x, b)


@settings(max_examples=40)
@given(st.integers(1, 70), st.integers(0, 100), st.integers(0, 2**32 - 1))
def test_the_gram_matrix_is_the_sum_of_outer_products(K: int, n: int, seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=(n, padded(K)))
    H = np.ones((padded(K), padded(K)))
    add_gram(H, K, -1.0, y, n)
    assert np.allclose(np.tril(H[:K, :K]), np.tril(1 - y[:, :K].T @ y[:, :K]))
