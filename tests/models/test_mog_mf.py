"""The mixture model's EM against what EM must do."""

import numpy as np
import pytest

from tacit.models.least_squares.mog_mf import Mixture


def log_likelihood(noise: Mixture, residual: np.ndarray) -> float:
    density = noise.share / noise.sigma * np.exp(-((residual[:, None] / noise.sigma) ** 2) / 2)
    return float(np.log(density.sum(1)).sum())


def two_scales(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(4000) < 0.3, rng.normal(0, 3, 4000), rng.normal(0, 0.5, 4000))


def test_every_step_raises_the_likelihood_until_it_finds_the_mixture() -> None:
    residual = two_scales(np.random.default_rng(0))
    noise, likelihoods = Mixture.start(2, float(residual.std())), []
    for _ in range(60):
        noise.step(residual)
        likelihoods.append(log_likelihood(noise, residual))
    assert np.all(np.diff(likelihoods) > -1e-6)
    assert sorted(noise.sigma) == pytest.approx([0.5, 3], rel=0.08)
    assert noise.share[np.argmax(noise.sigma)] == pytest.approx(0.3, abs=0.04)


def test_weights_without_the_root_bound_the_likelihood_from_below() -> None:
    """sum w (r^2 - r0^2) never promises more than the likelihood loses: that makes M2 an EM step.

    The printed weights, their square roots, break the promise on the same residuals.
    """
    residual = two_scales(np.random.default_rng(1))
    noise = Mixture.start(2, float(residual.std()))
    for _ in range(30):
        weight = noise.step(residual)
    gamma = noise.responsibilities(residual)
    weight = (gamma / (2 * noise.sigma[:, None] ** 2)).sum(0)
    before, broken = log_likelihood(noise, residual), 0
    for share in np.linspace(0.05, 3, 60):
        moved = residual * np.where(np.abs(residual) > 1.5, share, 1 / share)
        gained = log_likelihood(noise, moved) - before
        assert gained >= -float(weight @ (moved**2 - residual**2)) - 1e-6
        broken += gained < -float(np.sqrt(weight) @ (moved**2 - residual**2)) - 1e-6
    assert broken > 0


def test_components_do_not_collapse_onto_single_reports() -> None:
    residual = np.r_[np.zeros(50), np.random.default_rng(2).normal(0, 1, 50)]
    noise = Mixture.start(3, 1.0)
    for _ in range(200):
        weight = noise.step(residual)
    assert noise.sigma.min() >= 1e-3
    assert np.all(np.isfinite(weight))
