"""Score, information, decoding and capacity against their definitions."""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.models import evidence
from tacit.models.channel_mf.likelihood import (
    level_masses,
    score_table,
    starting_level,
    worth,
    worthwhile_directions,
    worthwhile_factors,
)
from tacit.models.evidence.slot_reports import decode
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.scale import RatingScale

SCALE = RatingScale.parse("1:5:1")
CHANNELS = [("randomized-response", "1"), ("bounded-laplace", "0.5"), ("optimal", "2")]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=200, n_items=150, n_ratings=8000, rng=7)


@pytest.mark.parametrize(("name", "epsilon"), CHANNELS)
def test_the_score_is_the_slope_and_the_information_its_variance(name: str, epsilon: str) -> None:
    table = np.array(compile_channel(name, epsilon=epsilon, scale=SCALE).likelihood)
    scores = score_table(table, [slice(0, table.shape[1])], SCALE)
    slope = np.gradient(scores.log_q, scores.theta, axis=1)
    inner = slice(2, -2)
    assert np.allclose(scores.table[:, inner, 0], slope[:, inner], atol=2e-3)
    q = np.exp(scores.log_q)
    assert np.allclose(q.sum(0), 1)
    variance = (q * scores.table[..., 0] ** 2).sum(0)
    on = (scores.theta >= 1) & (scores.theta <= 5)
    assert np.allclose(scores.table[0, on, 1], np.maximum(variance, 1e-9)[on], rtol=1e-3, atol=1e-8)


def test_a_true_rating_pulls_a_taste_back_from_beyond_the_scale_without_overshooting() -> None:
    scores = score_table(np.eye(5), [slice(0, 5)], SCALE)
    target = scores.theta + scores.table[..., 0] / scores.table[..., 1]
    assert target.min() > -3
    assert target.max() < 9
    above = scores.theta > 5.1
    assert (target[3, above] < 5.5).all(), "four stars: back to the scale at once"
    J = (np.exp(scores.log_q) * scores.table[..., 0] ** 2).sum(0)
    assert np.abs(scores.table[3, above, 0] / J[above]).max() > 50, "which J alone would not do"


def test_channels_side_by_side_keep_their_own_information() -> None:
    tables = [
        np.array(compile_channel(n, epsilon=e, scale=SCALE).likelihood) for n, e in CHANNELS[:2]
    ]
    both = score_table(np.hstack(tables), [slice(0, 5), slice(5, 69)], SCALE)
    alone = score_table(tables[1], [slice(0, 64)], SCALE)
    assert np.allclose(both.table[5:], alone.table)


def test_cells_sum_to_one_and_their_slopes_to_nothing() -> None:
    mass, slope = level_masses(np.linspace(-3, 9, 50), SCALE, 0.85)
    assert np.allclose(mass.sum(1), 1)
    assert np.allclose(slope.sum(1), 0)


def test_decoded_reports_are_straight_on_average(ratings: Ratings) -> None:
    channel = compile_channel("bounded-laplace", epsilon="1", scale=SCALE)
    data = evidence(perturb(ratings, Rated(channel)))
    decoded = decode(data)
    by_symbol = np.zeros(len(channel.outputs))
    by_symbol[data.symbols] = 3 + decoded.values
    response = data.likelihood @ by_symbol
    assert np.polyfit(np.arange(1, 6), response, 1) == pytest.approx([1, 0], abs=1e-5)
    variance = data.likelihood @ by_symbol**2 - response**2
    assert decoded.noise == pytest.approx(variance.mean(), rel=1e-5)


def test_capacity_grows_with_what_the_reports_are_worth() -> None:
    ratings = synthetic(n_users=420, n_items=410, n_ratings=20000, rng=7)
    clean = evidence(ratings)
    noisy = evidence(
        perturb(ratings, Rated(compile_channel("optimal", epsilon="0.1", scale=SCALE)))
    )
    found = []
    for data in (clean, noisy):
        scores = score_table(data.likelihood, data.blocks, SCALE)
        level = starting_level(scores, data)
        ratings_worth = worth(scores, data, level)
        factors = worthwhile_factors(ratings_worth, 4, data)
        found.append((ratings_worth, factors, worthwhile_directions(ratings_worth, factors, data)))
    assert found[0][0] > 100 * found[1][0]
    assert found[0][1] > found[1][1] == 5
    many = [worthwhile_factors(found[1][0], directions, clean) for directions in (14, 18, 40)]
    assert many == [7, 9, 9]
    assert worthwhile_factors(found[0][0], 18, clean) == found[0][1]
    assert found[0][2] == 410 // 40 > found[1][2] == 4
