"""Noisy releases: noise as large as declared, everything spent written down, and its audit."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.replay import Recorder, Replayer, distance, replay
from tacit.errors import RequestError
from tacit.readers import synthetic
from tacit.training.mechanism.noisy_releases import (
    SecretReleases,
    gaussian_deviation,
    laplace_scale,
)

ZEROS = np.zeros(100_000, np.int64)


def test_noise_is_as_large_as_declared():
    releases = SecretReleases()
    laplace = releases.laplace("a", ZEROS, sensitivity=300, epsilon="0.5")
    assert abs(np.abs(laplace).mean() - 600) < 5 * 600 / np.sqrt(len(ZEROS))
    rows = releases.vectors("b", ZEROS.reshape(-1, 4), sensitivity=1000, epsilon="2")
    assert abs(np.sqrt((rows**2).sum(1)).mean() - 2000) < 5 * 1000 / np.sqrt(len(ZEROS) / 4)
    normal = releases.gaussian("c", ZEROS + 5, sensitivity=50, multiplier="2.5")
    assert abs(normal.std() - 125) < 5 * 125 / np.sqrt(2 * len(ZEROS))
    assert abs(normal.mean() - 5) < 5 * 125 / np.sqrt(len(ZEROS))
    assert releases.public("d", 7) == 7
    assert [(spend.name, spend.kind, spend.price) for spend in releases.spent] == [
        ("a", "laplace", "0.5"),
        ("b", "vectors", "2"),
        ("c", "gaussian", "2.5"),
        ("d", "public", "0"),
    ]


def test_noise_is_rounded_up_and_never_away():
    assert laplace_scale(10, "3") == 4
    assert gaussian_deviation(10, "0.33") == 4
    for wrong in (lambda: laplace_scale(0, "1"), lambda: gaussian_deviation(1, "0")):
        with pytest.raises(RequestError, match="must have a sensitivity"):
            wrong()


def test_each_draw_is_fresh():
    releases = SecretReleases()
    first, second = (releases.laplace("a", ZEROS, sensitivity=10**6, epsilon="1") for _ in range(2))
    assert (first != second).mean() > 0.99


def levels_sum(ratings, releases, declared=4, name="total"):
    total = np.array([int(ratings.levels.sum(dtype=np.int64))])
    return [releases.laplace(name, total, sensitivity=declared, epsilon="1")]


def neighbours():
    ratings = synthetic(n_users=30, n_items=60, n_ratings=700)
    levels = ratings.levels.copy()
    levels[3] = 4 - levels[3] if levels[3] != 2 else 0
    return ratings, replace(ratings, levels=levels)


def test_an_honest_training_passes():
    assert replay(levels_sum, *neighbours(), SecretReleases()) == []


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        (lambda r, releases: levels_sum(r, releases, declared=1), "declares 1"),
        (
            lambda r, releases: [releases.public("mean", np.array([r.values.mean()]))],
            "declared public",
        ),
        (
            lambda r, releases: [*levels_sum(r, releases), r.levels.sum()],
            "they depend directly on the ratings",
        ),
        (lambda r, releases: levels_sum(r, releases, name=f"{r.levels[3]}"), "in one run and"),
        (
            lambda r, releases: [levels_sum(r, releases) for _ in range(1 + r.levels[3])],
            "Look|stopped",
        ),
    ],
)
def test_planted_faults_are_found(training, sentence):
    ratings, other = neighbours()
    found = replay(training, ratings, other, SecretReleases())
    back = replay(training, other, ratings, SecretReleases())
    assert found
    assert back
    assert any(part in " ".join(found + back) for part in sentence.split("|"))


def test_distances_are_the_norms_that_noise_covers():
    one, other = np.array([[3, 4], [0, 0]]), np.array([[0, 0], [5, 12]])
    assert distance("laplace", one, other) == 24
    assert distance("vectors", one, other) == 5 + 13
    assert distance("gaussian", one, other) == np.sqrt(25 + 169)
    assert distance("public", one, one.copy()) == 0
    assert distance("public", one, other) == np.inf


def test_the_recorder_keeps_what_went_in_before_it_is_changed():
    recorder = Recorder(SecretReleases())
    totals = np.array([1, 2])
    recorder.laplace("a", totals, sensitivity=1, epsilon="1")
    totals += 5
    assert recorder.looks[0].given.tolist() == [1, 2]
    replayer = Replayer(recorder.looks)
    again = replayer.laplace("a", np.array([1, 3]), sensitivity=1, epsilon="1")
    assert (again == recorder.looks[0].returned).all()
    assert replayer.findings == []
