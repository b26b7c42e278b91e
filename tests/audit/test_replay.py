"""Replay: a trainer that writes into its arrays is judged by what it was given and returns."""

import numpy as np
import pytest

from tacit.audit.replay import replay
from tacit.readers import synthetic
from tacit.training.mechanism.noisy_releases import SecretReleases

RATINGS = synthetic(60, 60, 1500, rng=1)
OTHER = RATINGS.where(np.arange(len(RATINGS)) > 0)


def counts(ratings):
    return np.bincount(ratings.items, minlength=ratings.n_items).astype(np.int64)


def released(ratings, releases):
    return releases.laplace("counts", counts(ratings), sensitivity=1, epsilon="1")


def raw_counts_in_place(ratings, releases):
    out = released(ratings, releases)
    out[:] = counts(ratings)
    return (out,)


def public_counts_in_place(ratings, releases):
    out = releases.public("zeros", np.zeros(ratings.n_items, np.int64))
    out += counts(ratings)
    return (out,)


def honest_in_place(ratings, releases):
    out = released(ratings, releases)
    np.maximum(out, 0, out=out)
    out *= 2
    return (out,)


def honest_that_reuses_its_input(ratings, releases):
    public = np.zeros(ratings.n_items, np.int64)
    zeros = releases.public("zeros", public)
    public += released(ratings, releases)
    return zeros, public


@pytest.mark.parametrize("training", [raw_counts_in_place, public_counts_in_place])
def test_a_leak_written_into_a_released_array_is_reported(training):
    (found,) = replay(training, RATINGS, OTHER, SecretReleases())
    assert "final outputs differ" in found


@pytest.mark.parametrize("training", [honest_in_place, honest_that_reuses_its_input])
def test_a_trainer_that_writes_only_released_values_is_not_reported(training):
    assert replay(training, RATINGS, OTHER, SecretReleases()) == []


def test_a_result_in_an_array_of_the_trainer_is_compared_as_it_was_returned():
    shared = np.zeros(RATINGS.n_items, np.int64)

    def training(ratings, releases):
        released(ratings, releases)
        shared[:] = counts(ratings)
        return (shared,)

    assert replay(training, RATINGS, OTHER, SecretReleases())
