"""The chain's item side in one draw: what it has to keep of the draws, and what it may lose."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ortho_group

from tacit import Rated, Ratings, compile_channel, fit, fold_in, perturb, synthetic
from tacit.models import Evidence, Fitted, evidence
from tacit.models.channel_mf.likelihood import information_fraction, score_table, starting_level
from tacit.models.channel_mf.model import ChannelMF, taught
from tacit.models.distillation import MOST_COLUMNS, CondensedItems, condensed

D, ITEMS, K, FEATURES, SIGMA = 6, 45, 3, 4, 0.85
GRAM = np.cov(np.random.default_rng(5).normal(size=(FEATURES, 9))) / 8
HALF = 4e-3  # what rounding factors to halves may move a covariance by


def chain(rng: np.random.Generator) -> list[np.ndarray]:
    """mu, items, precision and weights of a chain, out of thin air."""
    items = rng.normal(size=(D, ITEMS, 1 + K)).astype(np.float32)
    precision = rng.uniform(1, 4, (D, 1 + K)).astype(np.float32)
    weights = rng.normal(size=(D, FEATURES, 1 + K)).astype(np.float32)
    return [rng.normal(3, 0.1, D), items, precision, weights]


def covariance(items: np.ndarray, precision: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of the tastes of somebody with features of covariance GRAM, about what is expected of them,
    from all draws."""
    said = np.stack([w[:, 1:] @ q[:, 1:].T for w, q in zip(weights, items, strict=True)])
    own = [q[:, 1:] / p[1:] @ q[:, 1:].T for q, p in zip(items, precision, strict=True)]
    shared = [(g - said.mean(0)).T @ GRAM @ (g - said.mean(0)) for g in said]
    return np.mean(own, 0) + np.mean(shared, 0)


def test_tastes_covary_and_are_expected_as_on_average_over_draws() -> None:
    mu, items, precision, weights = chain(np.random.default_rng(0))
    found = condensed(mu, items, precision, weights, GRAM, SIGMA, information_fraction=0.5)
    cov = covariance(items, precision, weights)
    expected = np.mean([w[:, 1:] @ q[:, 1:].T for w, q in zip(weights, items, strict=True)], 0)
    A, W = found.items[:, 1:], found.prior_weights[:, 1:]
    # Eighteen directions are all there are of six draws with three factors each.
    assert np.allclose(A @ A.T, cov, atol=HALF)
    assert np.allclose(W @ A.T, expected, atol=HALF)
    assert np.array_equal(A, A.astype(np.float16))
    assert np.allclose(found.items[:, 0], items[:, :, 0].mean(0), atol=1e-6)
    levels = weights[:, :, 0] - weights[:, :, 0].mean(0)
    variance = np.mean(1 / precision[:, 0]) + np.trace(GRAM @ levels.T @ levels) / D
    assert found.precision[0] == pytest.approx(1 / variance, rel=1e-6)
    assert np.allclose(found.shrinkage, 0, atol=1e-5)


def test_what_low_rank_leaves_of_an_item_shrinks_those_whose_reports_told_of_it() -> None:
    rng = np.random.default_rng(1)
    chains = [chain(rng) for _ in range(8)]
    mu, items, precision, weights = (np.concatenate(part) for part in zip(*chains, strict=True))
    half = condensed(mu, items, precision, weights, GRAM, SIGMA, information_fraction=0.5)
    rest = np.diag(covariance(items, precision, weights)) - (half.items[:, 1:] ** 2).sum(1)
    assert half.items.shape == (ITEMS, 1 + MOST_COLUMNS)
    assert rest.min() > 0.005
    assert np.allclose(half.shrinkage, 0.5 * rest / K / SIGMA**2, atol=HALF)
    assert not condensed(
        mu, items, precision, weights, GRAM, SIGMA, information_fraction=0.0
    ).shrinkage.any()


def test_draws_may_be_turned_and_mirrored_each_for_itself() -> None:
    mu, items, precision, weights = chain(np.random.default_rng(2))
    precision[:, 1:] = 2.0
    turns = ortho_group.rvs(K, size=D, random_state=3)
    turned, heavier = items.copy(), weights.copy()
    for d, turn in enumerate(turns):
        turned[d, :, 1:], heavier[d, :, 1:] = items[d, :, 1:] @ turn, weights[d, :, 1:] @ turn
    one = condensed(mu, items, precision, weights, GRAM, SIGMA, information_fraction=1.0)
    other = condensed(mu, turned, precision, heavier, GRAM, SIGMA, information_fraction=1.0)
    assert np.allclose(one.items @ one.items.T, other.items @ other.items.T, atol=2 * HALF)
    products = [c.prior_weights[:, 1:] @ c.items[:, 1:].T for c in (one, other)]
    assert np.allclose(*products, atol=2 * HALF)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=200, n_items=150, n_ratings=11_000, rng=4)


@pytest.fixture(scope="module")
def fitted(ratings: Ratings) -> Fitted:
    return ChannelMF(draws=16, burn_in=20).fit(evidence(ratings))


def test_one_draw_predicts_at_home_as_all_of_them(ratings: Ratings, fitted: Fitted) -> None:
    """Reports that are the ratings: without the shrinkage own ratings count twice."""
    assert fitted.condensed is not None
    loose = replace(fitted.condensed, shrinkage=np.zeros_like(fitted.condensed.shrinkage))
    pairs = np.meshgrid(np.arange(200, dtype=np.int32), np.arange(150, dtype=np.int32))
    users, items = (side.ravel() for side in pairs)
    drawn, one, twice = (
        fold_in(model, ratings).predict_codes(users, items)
        for model in (
            replace(fitted, condensed=None), fitted, replace(fitted, condensed=loose),
        )
    )  # fmt: skip
    far = np.sqrt(np.mean((one - drawn) ** 2))
    assert far < 0.05
    assert np.sqrt(np.mean((twice - drawn) ** 2)) > 1.1 * far


def test_a_saved_model_keeps_it(
    ratings: Ratings, fitted: Fitted, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("models") / "model"
    fitted.save(path)
    kept, were = Fitted.load(path).condensed, fitted.condensed
    assert isinstance(kept, CondensedItems)
    assert were is not None
    for name, array in were.to_arrays().items():
        assert np.array_equal(kept.to_arrays()[name], array)
    assert fit("bias", ratings).condensed is None


@pytest.mark.parametrize(
    ("epsilon", "low", "high"), [(None, 0.98, 1.0), ("3", 0.4, 0.8), ("1", 0.1, 0.25)]
)
def test_how_much_reports_told(
    ratings: Ratings, epsilon: str | None, low: float, high: float
) -> None:
    reports = ratings
    if epsilon:
        channel = compile_channel("optimal", epsilon=epsilon, scale=ratings.scale)
        reports = perturb(ratings, Rated(channel))
    data = evidence(reports)
    scores = score_table(data.likelihood, data.blocks, data.scale)
    assert low <= information_fraction(scores, data, starting_level(scores, data)) <= high


def test_items_learn_from_some_people_what_draws_would_give_others_at_home() -> None:
    ratings = synthetic(n_users=400, n_items=150, n_ratings=16_000, rng=4)
    others = ratings.users < 150
    plain = ChannelMF(factors=9, draws=8, burn_in=20).fit(evidence(ratings))
    untold = replace(plain, condensed=of_draws(plain, evidence(ratings)))
    teachers = replace(untold, condensed=taught(untold, evidence(ratings.where(~others))))
    pairs = np.meshgrid(np.arange(150, dtype=np.int32), np.arange(150, dtype=np.int32))
    users, items = (side.ravel() for side in pairs)
    drawn, before, after = (
        fold_in(model, ratings).predict_codes(users, items)
        for model in (replace(plain, condensed=None), untold, teachers)
    )
    assert np.sqrt(np.mean((after - drawn) ** 2)) < 0.8 * np.sqrt(np.mean((before - drawn) ** 2))
    assert np.mean(after - drawn) == pytest.approx(0, abs=0.01)


def test_a_fit_condenses_its_draws_for_the_people_it_has(ratings: Ratings, fitted: Fitted) -> None:
    expected = of_draws(fitted, evidence(ratings))
    assert fitted.condensed is not None
    for part in ("precision", "prior_weights", "shrinkage"):
        found = getattr(fitted.condensed, part)
        assert np.allclose(found, getattr(expected, part), rtol=0.02, atol=1e-4), part


@pytest.mark.parametrize("case", ["reports", "few people"])
def test_nothing_is_taught_by_reports_nor_by_a_handful(ratings: Ratings, case: str) -> None:
    """A report is no rating, and thirty people settle no thirty coefficients."""
    fitted = ChannelMF(draws=16, burn_in=20).fit(evidence(ratings))
    data = evidence(ratings.where(ratings.users < 30))
    if case == "reports":
        channel = compile_channel("randomized-response", epsilon="9", scale=ratings.scale)
        data = evidence(perturb(ratings, Rated(channel)))
    assert taught(fitted, data) is fitted.condensed


def of_draws(fitted: Fitted, data: Evidence) -> CondensedItems:
    """The draws in one, as nobody taught it, for people who did what `data` says."""
    assert fitted.prior_weights is not None
    assert fitted.presence is not None
    sides = fitted.items, fitted.precision, fitted.prior_weights
    done = fitted.presence.people(data.layout.users)
    return condensed(
        fitted.mu, *sides, done.T @ done / len(done), fitted.sigma, information_fraction=1.0
    )
