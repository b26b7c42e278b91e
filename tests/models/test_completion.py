"""The nuclear-norm solver against a general convex solver, and against what a least norm must be.

`cvxpy` lays everything out and knows nothing of factors, sweeps or certificates.
"""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import polars as pl
import pytest

from tacit import fit
from tacit.errors import RequestError
from tacit.models import evidence, fold_in, model
from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.completion import within
from tacit.models.least_squares.nuclear_norm import SoftImpute
from tacit.ratings import Ratings
from tacit.readers import from_frame, synthetic

GAP = 1e-6


@dataclass(frozen=True)
class Case:
    """Z with the cells that are reported, dense, and the same as a model sees it."""

    Z: np.ndarray
    mask: np.ndarray
    data: Evidence

    def start(self, *, biases: bool = False) -> SoftImpute:
        target = self.Z[self.mask].astype(np.float32)
        return SoftImpute.start(self.data, target, rank=min(self.Z.shape), biases=biases)

    def left(self, M: Any) -> Any:
        return cp.multiply(self.mask, self.Z - M)


def made(seed: int, m: int = 12, n: int = 9) -> Case:
    """Rank two and noise, 60 % reported, every row and column at least once."""
    draw = np.random.default_rng(seed)
    Z = draw.normal(size=(m, 2)) @ draw.normal(size=(2, n)) + 0.3 * draw.normal(size=(m, n))
    mask = draw.random((m, n)) < 0.6
    mask[np.arange(m), np.arange(m) % n] = True
    users, items = np.nonzero(mask)
    frame = pl.DataFrame({"user": users, "item": items, "rating": np.ones(len(users))})
    return Case(Z, mask, evidence(from_frame(frame, scale="1:5:1")))


def laid_out(problem: SoftImpute) -> np.ndarray:
    U, V = problem.balanced
    return U @ V.T


def unmet(problem: SoftImpute, shrinkage: float) -> float:
    """How far the conditions of a least Lagrangian are from met, as a share of lambda.

    R = P(Z - M) is lambda A B' + W, M = A D B': A'RB = lambda I, W has no singular value beyond.
    A direction of M that is all but gone counts as W's.
    """
    R = np.zeros((len(problem.data.user_ids), len(problem.data.item_ids)))
    R[problem.data.user_of, problem.data.item_of] = problem.residual
    there = problem.values > 0.01 * shrinkage
    A, B = ((columns / np.sqrt(problem.values))[:, there] for columns in problem.balanced)
    W = R - A @ (A.T @ R) - (R @ B) @ B.T + A @ (A.T @ R @ B) @ B.T
    along = np.abs(A.T @ R @ B / shrinkage - np.eye(A.shape[1])).max()
    return max(along, np.linalg.norm(W, 2) / shrinkage - 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("seed", "shrinkage"), [(0, 0.5), (1, 2.0), (2, 0.5)])
def test_the_lagrangian_is_what_a_convex_solver_says(seed: int, shrinkage: float) -> None:
    case, M = made(seed), cp.Variable((12, 9))
    known = cp.Problem(cp.Minimize(cp.sum_squares(case.left(M)) / 2 + shrinkage * cp.normNuc(M)))
    known.solve(solver="SCS", eps=1e-7)
    problem = case.start()
    problem.solve(shrinkage, GAP)
    assert problem.objective == pytest.approx(known.value, rel=1e-4)
    assert np.allclose(laid_out(problem), M.value, rtol=0, atol=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("seed", "rho"), [(0, 1.0), (1, 3.0), (2, 3.0)])
def test_equation_four_is_what_a_convex_solver_says(seed: int, rho: float) -> None:
    case, M = made(seed), cp.Variable((12, 9))
    known = cp.Problem(cp.Minimize(cp.normNuc(M)), [cp.norm(case.left(M), "fro") <= rho])
    known.solve(solver="SCS", eps=1e-7)
    problem = case.start()
    within(problem, rho, GAP)
    assert problem.distance == pytest.approx(rho, rel=1e-4)
    assert problem.values.sum() == pytest.approx(known.value, rel=1e-4)
    assert np.allclose(
        laid_out(problem), M.value, rtol=0, atol=1e-2
    )  # of 45 pairs the worst is .0022


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shrinkage", [0.5, 2.0])
def test_biases_are_held_as_is_said(shrinkage: float) -> None:
    case, M, a, b = made(3), cp.Variable((12, 9)), cp.Variable((12, 1)), cp.Variable((1, 9))
    mu = float(case.Z[case.mask].mean())
    levels = mu + a @ np.ones((1, 9)) + np.ones((12, 1)) @ b
    held = cp.normNuc(M) + (cp.sum_squares(a) + cp.sum_squares(b)) / 4
    known = cp.Problem(cp.Minimize(cp.sum_squares(case.left(M + levels)) / 2 + shrinkage * held))
    known.solve(solver="SCS", eps=1e-7)
    problem = case.start(biases=True)
    problem.solve(shrinkage, GAP)
    assert problem.objective == pytest.approx(known.value, rel=1e-4)
    assert np.allclose(laid_out(problem), M.value, rtol=0, atol=2e-3)
    problem.solve(shrinkage, 0.1)  # the dual must hold away from the solution, too
    assert problem.objective - problem.slack <= known.value * (1 + 1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("biases", [False, True])
def test_the_dual_never_promises_too_much(biases: bool) -> None:
    """An unfinished fit's bound lies below what a finished one reaches, and not far below."""
    case = made(4, 60, 45)
    done, begun = case.start(biases=biases), case.start(biases=biases)
    done.solve(3.0, GAP)
    begun.solve(3.0, 0.2)
    assert begun.objective > done.objective * (1 + 1e-5)
    assert begun.objective - begun.slack <= done.objective * (1 + 1e-6)
    assert 0 <= done.slack <= GAP * done.objective


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "shape", [(12, 9), (50, 40), pytest.param((90, 70), marks=pytest.mark.long)]
)
def test_the_conditions_of_a_least_norm_are_met_and_those_of_another_lambda_are_not(
    shape: tuple[int, int],
) -> None:
    problem, shrinkage = made(5, *shape).start(), 1.5
    problem.solve(shrinkage, GAP)
    assert len(problem.values) > 1
    assert unmet(problem, shrinkage) < 2e-3
    for wrong in (0.95, 1.05):
        assert unmet(problem, wrong * shrinkage) > 0.02


def test_a_rho_that_nothing_exceeds_leaves_nothing() -> None:
    case = made(6)
    length = float(np.linalg.norm(case.Z[case.mask]))
    for share, rank in ((1.001, 0), (0.98, 1)):
        problem = case.start()
        within(problem, share * length, GAP)
        assert len(problem.values) == rank
        assert np.abs(problem.factors.people[:, 0]).max() < 1e-6


def test_a_warm_start_and_a_cold_one_end_at_the_same_matrix() -> None:
    case = made(7, 20, 15)
    cold, warm = case.start(), case.start()
    for shrinkage in (8.0, 0.2, 1.0):
        warm.solve(shrinkage, GAP)
    cold.solve(1.0, GAP)
    assert np.allclose(laid_out(warm), laid_out(cold), rtol=0, atol=3e-3)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=80, n_items=60, n_ratings=2000, rng=2)


def test_a_fit_leaves_the_rho_it_was_given(ratings: Ratings) -> None:
    for biases in (True, False):
        fitted = fit("completion", ratings, rho=30.0, biases=biases)
        theta = fitted.mu[0] + np.einsum(
            "nk,nk->n", fitted.people[0][ratings.users, 1:], fitted.items[0][ratings.items, 1:]
        )
        theta += fitted.people[0][ratings.users, 0] + fitted.items[0][ratings.items, 0]
        assert np.linalg.norm(theta - ratings.values) == pytest.approx(30, rel=1e-4)
        assert (fitted.mu[0] == 0) == (not biases)
        assert fitted.precision.shape == (1, fitted.items.shape[2])
        assert np.all(fitted.precision > 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("setting", [{"rho": 8.0}, {"shrinkage": 1.5}])
def test_the_centre_of_the_scale_is_the_zero_of_ratings_brought_to_one(
    setting: dict[str, float], ratings: Ratings
) -> None:
    """Definition 2 by hand: z = (r - 3) / 2, completed, and brought back."""
    frame = ratings.to_polars().with_columns(((pl.col("rating") - 3) / 2).alias("rating"))
    by_hand = fit("completion", from_frame(frame, scale="-1:1:0.5"), biases=False, **setting)
    found = fit("completion", ratings, biases=False, centre="scale", **setting)
    pairs = ratings.users, ratings.items
    theta = by_hand.people[0, :, 1:] @ by_hand.items[0, :, 1:].T
    mine = found.people[0, :, 1:] @ found.items[0, :, 1:].T
    assert found.mu.tolist() == [3.0]
    assert mine[pairs] == pytest.approx(2 * theta[pairs], abs=2e-3)


def test_a_device_can_place_anybody_where_nothing_is_left_to_fit(ratings: Ratings) -> None:
    fitted = fit("completion", ratings, rho=1e6)
    home = fold_in(fitted, ratings.where(ratings.users > 0))
    assert fitted.precision.shape == (1, 1)
    assert np.allclose(home.people, 0, atol=1e-4)


def test_lambda_is_chosen_where_held_out_reports_are_met_best(ratings: Ratings) -> None:
    """On truth that no model saw it beats too little and too much by more than chance."""
    held = np.random.default_rng(1).random(len(ratings)) < 0.2
    train, test = ratings.where(~held), ratings.where(held)

    def error(**settings: Any) -> float:
        fitted = model("completion", **settings).fit(evidence(train))
        return float(
            np.sqrt(np.mean((fitted.predict_codes(test.users, test.items) - test.values) ** 2))
        )

    chosen = error()
    assert chosen < error(shrinkage=0.5) - 0.01
    assert chosen < error(shrinkage=200.0) - 0.01


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rho": 0.0}, "rho must be above 0, got 0.0"),
        ({"shrinkage": 0.0}, "shrinkage must be above 0, got 0.0"),
        ({"rank": 0}, "rank must be above 0, got 0"),
        ({"rho": 3.0, "shrinkage": 2.0}, "got rho 3.0 and shrinkage 2.0"),
        ({"rho": 3.0, "rank": 2}, "No matrix of rank 2 is within rho 3.0"),
        ({"centre": "scale"}, "requires biases=False"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    settings: dict[str, Any], said: str, ratings: Ratings
) -> None:
    with pytest.raises(RequestError, match=said):
        fit("completion", ratings, **settings)


def test_equation_five_fails_for_a_single_entry_that_is_not_reported():
    """Theta is 0 but at (0, 0), and all other entries are reported without noise. The least norm
    within any rho is 0, so the error is that entry, and no C p^-1/2 rho bounds it as rho falls."""
    users, items = (each.ravel()[1:] for each in np.indices((6, 5)))
    frame = pl.DataFrame({"user": users, "item": items, "rating": np.zeros(len(users))})
    ratings = from_frame(frame, scale="-1:1:1")
    for rho in (0.1, 0.001):
        fitted = fit("completion", ratings, rho=rho, biases=False)
        codes = np.zeros(1, np.int32)
        assert fitted.predict_codes(codes, codes) == pytest.approx([0], abs=1e-6)
