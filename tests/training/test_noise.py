"""Noise of a curator: the laws it says, on integers, from words that repeat in tests only."""

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.training.mechanism.noisy_releases import MOST_DEVIATION, IntegerNoise

COUNT = 200_000


def chi_square(draws, shares):
    """Of the values whose expected count is at least 20, the rest in one."""
    values, counts = np.unique(draws, return_counts=True)
    seen = dict(zip(values.tolist(), counts.tolist(), strict=True))
    common = [value for value, share in shares.items() if share * len(draws) >= 20]
    expected = np.array([shares[value] * len(draws) for value in common])
    found = np.array([seen.get(value, 0) for value in common])
    rest = max(len(draws) - expected.sum(), 1.0)
    extra = (len(draws) - found.sum() - rest) ** 2 / rest
    return float(((found - expected) ** 2 / expected).sum() + extra), len(common)


def laplace_shares(scale):
    q = np.exp(-1 / scale)
    return {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-40 * scale, 40 * scale + 1)}


def gaussian_shares(deviation):
    places = np.arange(-10 * deviation, 10 * deviation + 1)
    shares = np.exp(-(places**2) / (2 * deviation**2))
    return dict(zip(places.tolist(), (shares / shares.sum()).tolist(), strict=True))


def fits(draws, shares):
    chi, free = chi_square(draws, shares)
    # Six deviations of chi-square: a false alarm in 10^8 or so runs.
    return chi < free + 6 * np.sqrt(2 * free) + 20


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", [1, 2, 7, 30])
def test_laplace_is_discrete_laplace(scale):
    assert fits(IntegerNoise().laplace(COUNT, scale), laplace_shares(scale))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("deviation", [1, 3, 20])
def test_gaussian_is_discrete_gaussian(deviation):
    assert fits(IntegerNoise().gaussian(COUNT, deviation), gaussian_shares(deviation))


def test_planted_faults_are_seen():
    noise, chance = IntegerNoise(), np.random.default_rng(4)
    assert not fits(noise.laplace(COUNT, 7), laplace_shares(8))
    assert not fits(np.rint(chance.laplace(0, 2, COUNT)).astype(int), laplace_shares(2))
    assert not fits(np.rint(chance.normal(0, 1, COUNT)).astype(int), gaussian_shares(1))
    twice_zero = noise.laplace(COUNT, 2)
    twice_zero[:20_000] = 0
    assert not fits(twice_zero, laplace_shares(2))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", [10**6, 2**40])
def test_wide_laplace_has_its_deviation(scale):
    draws = IntegerNoise().laplace(COUNT, scale) / scale
    assert abs(draws.mean()) < 5 * np.sqrt(2 / COUNT)
    # Var |n| / scale = 1, Var n^2 / scale^4 = 20.
    assert abs(np.abs(draws).mean() - 1) < 5 / np.sqrt(COUNT)
    assert abs((draws**2).mean() - 2) < 5 * np.sqrt(20 / COUNT)


def test_wide_gaussian_has_its_deviation():
    draws = IntegerNoise().gaussian(COUNT, MOST_DEVIATION) / MOST_DEVIATION
    assert abs(draws.mean()) < 5 / np.sqrt(COUNT)
    assert abs((draws**2).mean() - 1) < 5 * np.sqrt(2 / COUNT)
    assert abs((draws**4).mean() - 3) < 5 * np.sqrt(96 / COUNT)
    for wrong in (0, MOST_DEVIATION + 1):
        with pytest.raises(RequestError, match="use another grid"):
            IntegerNoise().gaussian(1, wrong)


def test_vectors_have_a_gamma_norm_and_no_direction():
    """Mean norm d / beta: 8.571 at d = 6, beta = .7."""
    draws = IntegerNoise().vectors(COUNT, 6, 1e6 / 0.7) / 1e6
    norms = np.sqrt((draws**2).sum(1))
    assert abs(norms.mean() - 8.571) < 5 * np.sqrt(6) / 0.7 / np.sqrt(COUNT)
    assert abs(norms.var() - 6 / 0.49) < 0.4
    directions = draws / norms[:, None]
    assert np.abs(directions.mean(0)).max() < 5 / np.sqrt(6 * COUNT)
    assert np.abs(directions.T @ directions / COUNT - np.eye(6) / 6).max() < 0.003


def test_nothing_is_drawn_for_nobody():
    assert IntegerNoise().laplace(0, 5).shape == (0,)
    assert IntegerNoise().gaussian(0, 5).shape == (0,)


class OneWordForTestsOnly:
    """The same word again and again, which no release may use."""

    def __init__(self, word):
        self.word = word

    def fill(self, words):
        words[:] = self.word


def test_a_coin_that_is_never_kept_is_told_from_one_that_is():
    """Words of zero: every uniform is 0, every small coin with a chance at all comes up."""
    noise = IntegerNoise(OneWordForTestsOnly(0))
    assert not noise._exp_coin(np.zeros(3, np.int64), 5).sum() < 3
    assert (noise._below(np.array([7, 1, 2**40])) == 0).all()


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_the_words_at_either_end_give_noise_of_an_ordinary_size(word):
    """A uniform of exactly 0 or 1 would stand for infinity: the least integer, not a large one."""

    class OneWordForTestsOnly:
        def fill(self, words):
            words[:] = word

    drawn = IntegerNoise(OneWordForTestsOnly()).vectors(1, 3, 1000.0)
    assert np.abs(drawn).max() < 60_000
