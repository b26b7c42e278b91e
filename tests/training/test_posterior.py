"""Rows behind noisy sums: the prior is found, noise is left out, and nothing else is done."""

import numpy as np

from tacit.training.person.item_rows import item_rows, pooled, semidefinite

CHANCE = np.random.default_rng(8)


def noisy_sums(n, K, deviation, spread):
    rows = CHANCE.standard_normal((n, K)) * spread
    roots = CHANCE.standard_normal((n, K, K)) + 3 * np.eye(K)
    gram = roots @ roots.swapaxes(1, 2)
    pull = np.einsum("jkl,jl->jk", gram, rows) + deviation * CHANCE.standard_normal((n, K))
    return rows, gram, pull, np.broadcast_to(deviation**2 * np.eye(K), (n, K, K))


def test_rows_are_the_posterior_mean_under_the_prior_they_came_from():
    spread = np.array([2.0, 0.5])
    rows, gram, pull, noise = noisy_sums(4000, 2, 6.0, spread)
    found = item_rows(gram, pull, noise, 1.0)
    exact = [
        np.linalg.solve(A @ A / 36 + np.diag(spread**-2), A @ h / 36)
        for A, h in zip(gram, pull, strict=True)
    ]
    # The prior's axes come largest first; their signs are nobody's.
    error = np.abs(np.abs(found) - np.abs(exact)).mean()
    assert error < 0.03
    assert ((found**2).mean(0) < (rows**2).mean(0)).all()


def test_pure_noise_becomes_nothing():
    _, gram, pull, noise = noisy_sums(2000, 3, 50.0, 0.0)
    naive = np.linalg.solve(gram, pull[:, :, None])
    assert np.mean(item_rows(gram, pull, noise, 1.0) ** 2) < 0.01 * np.mean(naive**2)


def test_without_noise_the_equations_are_solved():
    rows, gram = CHANCE.standard_normal((50, 1)), CHANCE.uniform(1, 9, (50, 1, 1))
    found = item_rows(gram, gram[:, :, 0] * rows, np.zeros_like(gram), 1.0)
    assert np.allclose(np.abs(found), np.abs(rows), atol=1e-6)


def test_the_projection_is_the_nearest_semidefinite_matrix():
    matrices = CHANCE.standard_normal((30, 4, 4))
    matrices += matrices.swapaxes(1, 2)
    near = semidefinite(matrices)
    assert np.linalg.eigvalsh(near).min() > -1e-12
    # What is taken away is semidefinite too, and at a right angle: so nothing is nearer.
    assert np.linalg.eigvalsh(near - matrices).min() > -1e-12
    assert np.abs(np.einsum("jkl,jkl->j", near, near - matrices)).max() < 1e-9


def test_what_noise_explains_is_drawn_to_the_mean_of_all():
    weights = np.linspace(1, 9, 400)
    mean, noise = np.array([0.6, 0.1, 0.4]), 0.8
    vectors = weights[:, None] * mean + noise * CHANCE.standard_normal((400, 3))
    near, pool = pooled(vectors, weights, noise)
    exact = weights[:, None] * mean
    assert np.abs(pool - mean).max() < 5 * noise / weights.sum() * 20
    assert ((near - exact) ** 2).sum() < 0.6 * ((vectors - exact) ** 2).sum()
    assert np.allclose(pooled(vectors, weights, 0.0)[0], vectors)
