"""Theorem 3's bounds: the figures by hand, and against draws of both mechanisms."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.errors import RequestError
from tacit.scale import RatingScale
from tacit_studies.zheng.bounds import Slots, laplace_bound, response_bound

USERS, ITEMS, DRAWS, GAMMA = 60, 50, 200, 0.1
SCALE = RatingScale.parse("1:5:1")
Draw = Callable[[np.ndarray, np.ndarray, float, np.random.Generator], np.ndarray]


def modified_laplace(
    ratings: np.ndarray, rated: np.ndarray, epsilon: float, draw: np.random.Generator
) -> np.ndarray:
    """Zheng's first mechanism in floats, seeded: good for expectations, not for secrets."""
    kept = draw.random(ratings.shape) < 1 / (1 + math.exp(-epsilon / 2))
    noise = draw.laplace(scale=2 / epsilon, size=ratings.shape)
    return np.where(kept == rated, np.where(rated, ratings, 0) + noise, np.nan)


def randomized(
    ratings: np.ndarray, rated: np.ndarray, epsilon: float, draw: np.random.Generator
) -> np.ndarray:
    """Every slot through the certified table; NaN where "missing" is sent."""
    channel = compile_channel(
        "randomized-response", epsilon=str(epsilon), scale=SCALE, missing=True
    )
    ends = np.cumsum(channel.likelihood, 1)[np.where(rated, ratings, 0).astype(int), :-1]
    sent = (draw.random(ratings.shape)[:, :, None] >= ends).sum(2)
    return np.array([math.nan, *SCALE.values])[sent]


def measured(draw_one: Draw, theta: np.ndarray, stars: np.ndarray, epsilon: float) -> np.ndarray:
    """rho of each of the draws; `theta` and `stars` in the mechanism's units, NaN not rated."""
    draw, rated = np.random.default_rng(0), np.isfinite(stars)
    reports = (draw_one(np.nan_to_num(stars), rated, epsilon, draw) for _ in range(DRAWS))
    return np.array([np.sqrt(np.nansum((theta - Z) ** 2)) for Z in reports])


@pytest.fixture(scope="module")
def truth() -> tuple[np.ndarray, np.ndarray]:
    """Rank two in 1 to 5, and the nearest stars where a tenth is rated."""
    draw = np.random.default_rng(1)
    shares = draw.dirichlet(np.ones(2), USERS), 1 + 4 * draw.random((2, ITEMS))
    theta = shares[0] @ shares[1]
    return theta, np.where(draw.random(theta.shape) < 0.1, np.rint(theta), math.nan)


def slots(theta: np.ndarray, stars: np.ndarray) -> Slots:
    rated = int(np.isfinite(stars).sum())
    misfit = math.sqrt(np.nansum((theta - stars) ** 2) / rated)
    return Slots(users=USERS, items=ITEMS, rated=rated, misfit=misfit)


def test_figures_by_hand() -> None:
    """100 x 50 slots, 400 rated, rho_0 = .3, gamma = .25.

    Laplace at epsilon 2 ln 3: .3 * 20 + 2 / ln 3 * 40 + sqrt(2 * 5000 / 4 * 4 * (1 + 2 / ln^2 3)).
    Response at ln 5: 6 + 2 * 4 * sqrt(2 * 5000 * 5 / 10 * 4).
    """
    some = Slots(users=100, items=50, rated=400, misfit=0.3)
    laplace = 6 + 72.81914 + math.sqrt(10_000 * 2.6570709)
    assert laplace_bound(some, 2 * math.log(3), 0.25) == pytest.approx(laplace, rel=1e-6)
    response = 6 + 8 * 141.4213562
    assert response_bound(some, math.log(5), 0.25, 5) == pytest.approx(response, rel=1e-8)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_bounds_hold_as_often_as_they_promise(
    epsilon: float, truth: tuple[np.ndarray, np.ndarray]
) -> None:
    """And an eighth of the bound at gamma .9 does not."""
    theta, stars = truth
    unit, units = (theta - 3) / 2, (stars - 3) / 2
    sides = slots(unit, units), slots(theta, stars)
    rhos = (
        measured(modified_laplace, unit, units, epsilon),
        measured(randomized, theta, stars, epsilon),
    )
    for gamma in (GAMMA, 0.9):
        bounds = (
            laplace_bound(sides[0], epsilon, gamma),
            response_bound(sides[1], epsilon, gamma, 5),
        )
        for rho, bound in zip(rhos, bounds, strict=True):
            assert np.mean(rho <= bound) >= 1 - gamma
            assert gamma == GAMMA or np.mean(rho <= bound / 8) < 1 - gamma


@pytest.mark.parametrize(
    ("epsilon", "gamma", "said"),
    [
        (0.0, 0.1, "epsilon must be above 0 nats per slot"),
        (1.0, 1.0, "gamma must be a failure probability"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(epsilon: float, gamma: float, said: str) -> None:
    some = Slots(users=2, items=2, rated=1, misfit=0.0)
    for bound in (laplace_bound, lambda *rest: response_bound(*rest, 5)):
        with pytest.raises(RequestError, match=said):
            bound(some, epsilon, gamma)
    with pytest.raises(RequestError, match="got 5 ratings for 2 x 2"):
        Slots(users=2, items=2, rated=5, misfit=0.0)
