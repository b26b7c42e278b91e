"""Neera et al. (1) and (10) as printed: no ridge, no centre, an end when U stands still."""

import numpy as np
import pytest

from tacit import fit
from tacit.errors import RequestError
from tacit.kernels.als import LEAST_RIDGE, SideProblem, half_step, least_norm_step
from tacit.kernels.layout import by_user
from tacit.models import evidence, fold_in
from tacit.models.least_squares.mf import MF
from tacit.models.least_squares.mog_mf import PRINTED, MoGMF
from tacit.ratings import Ratings
from tacit.readers import synthetic


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=80, n_items=60, n_ratings=1800, rng=3)


def problem(ridge: float, rng: int) -> tuple[np.ndarray, np.ndarray, SideProblem]:
    """Some people with fewer ratings than factors, and one with none."""
    draw = np.random.default_rng(rng)
    rated = draw.random((12, 9)) < np.linspace(0, 1, 12)[:, None]
    users, items = (place.astype(np.int32) for place in np.nonzero(rated))
    n, K = len(users), 5
    return (
        users,
        items,
        SideProblem(
            draw.normal(0, 1, n).astype(np.float32),
            draw.uniform(0.2, 3, n).astype(np.float32),
            draw.normal(0, 1, (9, K)).astype(np.float32),
            draw.normal(0, 0.3, 9).astype(np.float32),
            np.full(K, ridge, np.float32),
        ),
    )


@pytest.mark.parametrize("ridge", [0.0, 1e-6, 1e-4])
def test_a_row_is_that_of_least_norm_by_the_pseudo_inverse(ridge):
    users, items, given = problem(ridge, 4)
    rows = half_step(by_user(users, items, 12, 9)[0], given)
    for person in range(12):
        own = users == person
        y, w = given.design[items[own]].astype(float), given.weight[own].astype(float)
        H = y.T @ (w[:, None] * y) + np.diag(given.ridge.astype(float))
        pulled = y.T @ (w * (given.target[own] - given.offset[items[own]]))
        assert rows[person] == pytest.approx(np.linalg.pinv(H, rcond=1e-12) @ pulled, abs=1e-4)


def test_both_ways_of_solving_agree_where_a_ridge_holds():
    users, items, given = problem(2 * LEAST_RIDGE, 5)
    side = by_user(users, items, 12, 9)[0]
    assert half_step(side, given) == pytest.approx(least_norm_step(side, given), abs=2e-3)


def test_zero_is_zero_and_none_is_chosen(ratings):
    """Without a ridge the residuals of what was fitted are smaller than with any."""
    data = evidence(ratings)
    errors = []
    for ridge in (0.0, 1.0, None):
        found = MF(factors=8, ridge=ridge, biases=False, sweeps=30).fit(data)
        values = found.predict_codes(ratings.users, ratings.items)
        errors.append(float(np.mean((values - ratings.values) ** 2)))
    assert errors[0] < errors[1] < errors[2]


@pytest.mark.parametrize("ridge", [-1.0, float("nan")])
def test_a_ridge_that_holds_nothing_is_refused(ridge, ratings):
    for name in ("mf", "mog-mf", "als-svd"):
        with pytest.raises(RequestError, match="must be a finite number of at least 0"):
            fit(name, ratings, ridge=ridge)


def test_at_home_nobody_has_a_row_without_an_end(ratings):
    few = ratings.where(ratings.users % 3 > 0)
    home = fold_in(fit("mog-mf", few, ridge=0.0, centred=False), few)
    assert np.isfinite(home.people).all()


def test_without_a_centre_a_stranger_is_at_zero(ratings):
    """r = u.v has no level of its own: whoever sent nothing has u = 0."""
    found = MF(ridge=0.0, biases=False, centred=False).fit(evidence(ratings))
    assert found.mu.tolist() == [0.0]
    assert found.predict([-7], [ratings.item_ids.ids[0]]) == [found.levels[0]]


def test_em_ends_when_u_stands_still_and_not_before(ratings):
    data = evidence(ratings)
    by_rounds = {r: MoGMF(ridge=3.0, rounds=r, factors=2).fit(data) for r in (1, 40, 400)}
    ended = MoGMF(ridge=3.0, rounds=400, tolerance=1e-3, factors=2).fit(data)
    last = np.linalg.norm(by_rounds[400].people - ended.people) / np.linalg.norm(ended.people)
    first = np.linalg.norm(by_rounds[1].people - ended.people) / np.linalg.norm(ended.people)
    assert last < 0.1 < first
    assert ended.people.tobytes() != by_rounds[400].people.tobytes()


def test_the_printed_form_starts_at_random_and_learns(ratings):
    """Another seed, another start: of U, of V and of the mixture."""
    data = evidence(ratings)
    one, two = (PRINTED.fit(data, rng=seed) for seed in (0, 1))
    assert one.people.tobytes() != two.people.tobytes()
    values = one.predict_codes(ratings.users, ratings.items)
    assert np.mean((values - ratings.values) ** 2) < 0.5 * np.var(ratings.values)
