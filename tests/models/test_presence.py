"""What presence alone tells, and that nothing else slips in."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.kernels.layout import Layout, by_user, layout
from tacit.models import evidence, fold_in, model
from tacit.models.evidence.presence_features import Presence, presence
from tacit.models.evidence.presence_matrix import PresenceMatrix, cells, public
from tacit.models.evidence.presence_spectrum import Spectrum, shrunk, spectrum
from tacit.readers.synthetic import synthetic

QUICK = {"burn_in": 2, "draws": 4, "every": 1}


def known_presence(known: Layout, items: int, directions: int) -> Presence:
    matrix = public(cells(known.users, items))
    return presence(matrix, spectrum(matrix, directions))


def test_a_device_computes_the_features_the_provider_computed() -> None:
    ratings = synthetic(n_users=120, n_items=90, n_ratings=4000, rng=2)
    rated, _ = layout(ratings.users, ratings.items, 120, 90)
    known = known_presence(rated, 90, 6)
    provider = known.people(rated.users)
    for person in (0, 50, 119):
        mine = ratings.items[ratings.users == person]
        alone = known.people(by_user(np.zeros(len(mine), np.int32), mine, 1, 90)[0])
        assert np.allclose(alone[0], provider[person], atol=1e-12)
    assert np.allclose(provider.mean(0), 0, atol=1e-5)
    # Vectors are halves, spread before they are rounded.
    assert np.allclose(provider.std(0), 1, atol=1e-3)


def test_an_item_that_nobody_rated_is_taken_for_an_average_one() -> None:
    """Its popularity would be the most extreme of all, and says nothing: it may be new."""
    ratings = synthetic(n_users=120, n_items=90, n_ratings=4000, rng=2)
    ratings = ratings.where(ratings.items >= 7)
    rated, _ = layout(ratings.users, ratings.items, 120, 90)
    features = known_presence(rated, 90, 6).item_features
    assert not features[:7].any()
    assert np.allclose(features[7:].mean(0), 0)
    assert np.allclose(features[7:].std(0), 1)
    popularity = np.bincount(ratings.items, minlength=90)[7:]
    assert np.corrcoef(np.log1p(popularity), features[7:, 0])[0, 1] > 0.999999


def test_ratings_play_no_part_in_the_features() -> None:
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2000, rng=5)
    turned = replace(ratings, levels=ratings.levels[::-1].copy())
    one, two = (model("channel-mf", **QUICK).fit(evidence(r)) for r in (ratings, turned))
    assert one.people.tobytes() != two.people.tobytes()
    assert one.presence is not None
    assert two.presence is not None
    for name, values in one.presence.to_arrays().items():
        assert values.tobytes() == two.presence.to_arrays()[name].tobytes()


def who_rated(chance: np.random.Generator) -> NDArray[np.bool_]:
    """300 people of five groups, each with its own 24 of 120 items; shape (people, items)."""
    truth = np.kron(np.eye(5), np.full((60, 24), 0.5)) + 0.03
    return chance.random(truth.shape) < truth


def reports_of(
    rated: NDArray[np.bool_], right: float, chance: np.random.Generator
) -> NDArray[np.bool_]:
    """Each slot as it is with probability `right`, turned round otherwise."""
    return chance.random(rated.shape) < np.where(rated, right, 1 - right)


def matrix_of(reported: NDArray[np.bool_], right: float) -> PresenceMatrix:
    people = len(reported)
    return PresenceMatrix(
        csr_array(reported.astype(float)), np.full(people, right), np.full(people, 1 - right)
    )


def test_features_behind_noise_are_what_is_to_be_expected_of_the_true_ones() -> None:
    """Regressed on them, the truth has slope 1; on features that were not shrunk, one half."""
    chance = np.random.default_rng(3)
    supposed, true = [], []
    for _ in range(5):
        rated = who_rated(chance)
        matrix = matrix_of(reports_of(rated, 0.7, chance), 0.7)
        known = presence(matrix, spectrum(public(cells(layout_of(rated).users, 120)), 3))
        # The first direction is popularity, by which these people hardly differ.
        supposed.append(known.supposed(matrix)[:, 2:])
        true.append(known.people(layout_of(rated).users)[:, 2:])
    x, y = np.concatenate(supposed), np.concatenate(true)
    slopes = ((x - x.mean(0)) * (y - y.mean(0))).sum(0) / ((x - x.mean(0)) ** 2).sum(0)
    assert slopes == pytest.approx(np.ones(2), abs=0.15)


def layout_of(rated: NDArray[np.bool_]) -> Layout:
    users, items = (codes.astype(np.int32) for codes in np.nonzero(rated))
    return layout(users, items, *rated.shape)[0]


@pytest.mark.long
def test_a_slots_own_report_plays_no_part_in_its_probability() -> None:
    """Beside the same slot in a matrix in which it was not reported, solved anew."""
    chance = np.random.default_rng(1)
    reported = reports_of(who_rated(chance), 0.85, chance)
    matrix = matrix_of(reported, 0.85)
    slots = chance.permutation(np.argwhere(reported))[:60]
    users, items = slots.astype(np.int32).T
    found = spectrum(matrix, 8).probabilities(matrix, users, items)
    other = np.zeros(len(slots))
    for n, (user, item) in enumerate(slots):
        without = reported.copy()
        without[user, item] = False
        rest = matrix_of(without, 0.85)
        other[n] = unreported(rest, spectrum(rest, 8), slots[n : n + 1].astype(np.int32))[0]
    inside = (found > 0.05) & (found < 0.9)
    assert inside.sum() > 30
    # A report left in would add a tenth and more to each.
    assert np.abs(found - other)[inside].mean() < 0.02


def unreported(
    matrix: PresenceMatrix, known: Spectrum, slots: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The same estimate at slots that were not reported, laid out entry by entry."""
    users, items = slots.T
    strength = shrunk(known.values, matrix)
    people, popular = (np.sqrt(degree) for degree in matrix.degrees)
    whole = people[:, None] * (known.people * strength) @ known.items.T * popular
    kept = strength / known.values
    a, b = (known.people**2 @ kept)[users], (known.items**2 @ kept)[items]
    held = a + b - a * b
    plain = matrix.expected(users, items)
    own = -matrix.unrated[users] * matrix.gain[users]
    return plain + (whole[users, items] - held * (own - plain)) / (1 - held)


def test_a_model_may_do_without() -> None:
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2000, rng=5)
    fitted = model("channel-mf", **QUICK, directions=0).fit(evidence(ratings))
    assert fitted.presence is None
    assert np.isfinite(fold_in(fitted, ratings).people).all()


def test_directions_that_chance_makes_too_are_left_out() -> None:
    """Five groups of people with items of their own are five directions, popularity the first."""
    chance = np.random.default_rng(4)
    groups = public(cells(layout_of(who_rated(chance)).users, 120))
    assert len(spectrum(groups, 20).values) == 5
    counts = []
    for seed in range(5):
        ratings = synthetic(n_users=300, n_items=300, n_ratings=1500, fewest=2, rng=seed)
        alone = cells(by_user(ratings.users, ratings.items, 300, 300)[0], 300)
        counts.append(len(spectrum(public(alone), 20).values))
    assert max(counts) <= 4
    assert sum(counts) <= 10


def test_popularity_alone_is_a_direction_or_none_and_either_will_do() -> None:
    ratings = synthetic(n_users=30, n_items=25, n_ratings=80, fewest=1, rng=1)
    fitted = model("channel-mf", **QUICK).fit(evidence(ratings))
    assert fitted.presence is not None
    assert fitted.presence.item_features.shape[1] <= 3
    assert np.isfinite(fold_in(fitted, ratings).people).all()


def spectrum_of(rated: NDArray[np.bool_]) -> Spectrum:
    users, items = (part.astype(np.int32) for part in np.nonzero(rated))
    return spectrum(public(cells(layout(users, items, *rated.shape)[0].users, rated.shape[1])), 5)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (2, 5), (5, 2), (4, 5)])
def test_small_or_empty_tables_have_a_spectrum(shape: tuple[int, int]) -> None:
    for rated in (np.zeros(shape, bool), np.ones(shape, bool)):
        small = spectrum_of(rated)
        assert small.people.shape == (shape[0], len(small.values))
        assert small.items.shape == (shape[1], len(small.values))
        assert len(small.values) <= rated.any() * (min(shape) > 1)


def test_features_that_all_users_share_are_finite() -> None:
    """Everybody rated everything, so that signal and noise are both 0."""
    rated = layout(*np.indices((6, 6), np.int32).reshape(2, -1), 6, 6)[0]
    matrix = public(cells(rated.users, 6))
    features = presence(matrix, spectrum(matrix, 5)).supposed(matrix)
    assert features.shape[1] > 1
    assert np.isfinite(features).all()
