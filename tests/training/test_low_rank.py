"""Rows behind a covariance: found where they stand out, drawn to nothing where they do not."""

import numpy as np

from tacit.training.person.covariance import low_rank_rows

CHANCE = np.random.default_rng(4)


def covariance(scale, rows, deviation):
    outer = (scale[:, None] * rows) @ (scale[:, None] * rows).T
    drawn = np.triu(deviation * CHANCE.standard_normal(outer.shape), 1)
    matrix = outer + drawn + drawn.T
    np.fill_diagonal(matrix, 0)
    return matrix


def alike(found, rows):
    """The correlation of all products of two rows, which no rotation changes."""
    return np.corrcoef((found @ found.T).ravel(), (rows @ rows.T).ravel())[0, 1]


def test_rows_are_found_at_their_size_without_the_diagonal():
    rows, scale = CHANCE.standard_normal((150, 2)) * [0.6, 0.3], np.full(150, 10.0)
    found = low_rank_rows(covariance(scale, rows, 3.0), scale, 3.0, 2, 0.5)
    assert alike(found, rows) > 0.98
    assert np.allclose((found**2).sum(), (rows**2).sum(), rtol=0.1)
    sizes = (found**2).sum(0)
    assert sizes[0] > 2 * sizes[1]  # the largest comes first


def test_factors_to_spare_change_little():
    rows, scale = CHANCE.standard_normal((150, 2)) * 0.5, np.full(150, 10.0)
    matrix = covariance(scale, rows, 5.0)
    few, many = (low_rank_rows(matrix, scale, 5.0, K, 0.5) for K in (2, 6))
    assert alike(many, rows) > alike(few, rows) - 0.02
    assert ((many[:, 2:]) ** 2).sum() < 0.05 * (many**2).sum()


def test_a_row_that_weighs_little_is_drawn_to_nothing_and_one_that_weighs_much_is_not():
    rows = CHANCE.standard_normal((400, 1))
    scale = np.where(np.arange(400) % 2, 10.0, 0.02)
    found = low_rank_rows(covariance(scale, rows, 30.0), scale, 30.0, 1, 1.0)
    sizes = np.abs(found[:, 0])
    assert sizes[1::2].mean() > 5 * sizes[::2].mean()
    assert np.corrcoef(sizes[1::2], np.abs(rows[1::2, 0]))[0, 1] > 0.9


def test_a_row_tells_nothing_of_itself():
    rows, scale = np.array([[1.0], [2.0], [-1.0], [1.5]]), np.ones(4)
    found = low_rank_rows(covariance(scale, rows, 0.0), scale, 0.05, 1, 1.0)
    assert np.abs(found @ found.T - rows @ rows.T).max() < 0.05


def test_noise_alone_is_drawn_to_little():
    scale = np.full(300, 2.0)
    found = low_rank_rows(covariance(scale, np.zeros((300, 1)), 3.0), scale, 3.0, 1, 1.0)
    assert (found**2).mean() < 0.05
