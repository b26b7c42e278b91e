"""Zheng's two mechanisms as Theorem 3 has them: matrices of slots in, matrices of reports out.

A slot is NaN where nothing was rated, or "missing" reported.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channels import compile_channel
from tacit.collection.sampler import secret_words
from tacit.kernels.draw import draw_symbols, stacked
from tacit.scale import RatingScale
from tacit_studies.zheng.bounds import Slots, laplace_bound, response_bound

STARS = RatingScale.parse("1:5:1")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SlotMechanism:
    """`send`: ratings and epsilon (nats per slot) to reports, in its own units: `unit` of them to a
    star, from `middle`. `bound`: rho at most, with probability 1 - gamma."""

    name: str
    middle: float
    unit: float
    send: Callable[[Matrix, str], Matrix]
    bound: Callable[[Slots, float, float], float]

    def own(self, stars: Matrix) -> Matrix:
        """Stars in the mechanism's units."""
        return (stars - self.middle) * self.unit


def modified_laplace(ratings: Matrix, epsilon: str) -> Matrix:
    """Definition 2 in floats, and so for figures only: a rating with noise or nothing, nothing or
    noise."""
    draw, e = np.random.default_rng(), float(epsilon)
    rated = np.isfinite(ratings)
    kept = draw.random(ratings.shape) < 1 / (1 + math.exp(-e / 2))
    noise = draw.laplace(scale=2 / e, size=ratings.shape)
    return np.where(kept == rated, np.where(rated, ratings, 0) + noise, np.nan)


def randomized_response(ratings: Matrix, epsilon: str) -> Matrix:
    """Definition 3 through the certified table, one secret word a slot."""
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=STARS, missing=True)
    rows = np.nan_to_num(ratings).astype(np.uint8).ravel()  # row 0 is "missing", row k is k stars
    words, symbols = np.empty(rows.size, np.uint64), np.empty(rows.size, np.uint8)
    secret_words().fill(words)
    table = stacked(channel.bounds, [channel.word_bits] * len(channel.bounds))
    draw_symbols(words, rows, table, symbols)
    return np.array([math.nan, *STARS.values])[symbols].reshape(ratings.shape)


def _response_bound(slots: Slots, epsilon: float, gamma: float) -> float:
    return response_bound(slots, epsilon, gamma, STARS.n_levels)


SLOT_MECHANISMS = (
    SlotMechanism("modified Laplace", 3.0, 0.5, modified_laplace, laplace_bound),
    SlotMechanism("randomized response", 0.0, 1.0, randomized_response, _response_bound),
)
