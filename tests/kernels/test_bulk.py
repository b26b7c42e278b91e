"""Top-k and bulk prediction against their one-line twins."""

import itertools
import math

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.kernels.predict import REACH, STEPS, looked_up, predict, tabled
from tacit.kernels.ranking import topk
from tacit.kernels.ranking.topk import Floats, best_lists, top_k


def test_top_k_is_a_sort_without_the_seen_items() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(size=(1100, 8)).astype(np.float32)
    items = rng.normal(size=(333, 8)).astype(np.float32)
    cells = rng.permutation(1100 * 333)[:20000]
    users, rated = (cells // 333).astype(np.int32), (cells % 333).astype(np.int32)
    codes, scores = top_k(people, items, by_user(users, rated, 1100, 333)[0], 10)
    full = people @ items.T
    full[users, rated] = -np.inf
    twin = np.argsort(-full, axis=1, kind="stable")[:, :10]
    assert np.array_equal(codes, twin)
    assert np.allclose(scores, np.take_along_axis(full, twin, 1), atol=1e-5)


def test_a_person_who_has_seen_all_but_one_gets_one() -> None:
    users, items = np.zeros(4, np.int32), np.array([0, 1, 2, 4], np.int32)
    ones = np.ones((5, 2), np.float32)
    codes, scores = top_k(ones[:1], ones, by_user(users, items, 1, 5)[0], 3)
    assert codes.tolist() == [[3, -1, -1]]
    assert scores[0, 1] == -np.inf


@pytest.mark.parametrize("sigma", [0.0, 0.85])
def test_prediction_is_the_mean_of_the_link_over_draws(sigma: float) -> None:
    rng = np.random.default_rng(3)
    mu, levels = rng.normal(3, 0.1, 4), np.arange(1.0, 6.0)
    X, Y = (rng.normal(0, 0.5, (4, n, 3)).astype(np.float32) for n in (6, 7))
    users, items = (
        rng.integers(-1, 6, 50).astype(np.int32),
        rng.integers(-1, 7, 50).astype(np.int32),
    )
    for u, i, ours in zip(
        users, items, predict(users, items, mu, X, Y, levels, sigma), strict=True
    ):
        theta = [
            mu[d]
            + (X[d, u, 0] if u >= 0 else 0)
            + (Y[d, i, 0] if i >= 0 else 0)
            + (X[d, u, 1:] @ Y[d, i, 1:] if min(u, i) >= 0 else 0)
            for d in range(4)
        ]
        link = [t if sigma == 0 else by_hand(float(t), levels, sigma) for t in theta]
        assert ours == pytest.approx(min(max(np.mean(link), 1), 5), abs=1e-5)


def by_hand(theta: float, levels: np.ndarray, sigma: float) -> float:
    """Levels times the masses of their cells."""

    def below(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2))

    cuts = [-math.inf, *((levels[1:] + levels[:-1]) / 2), math.inf]
    cells = [
        below((b - theta) / sigma) - below((a - theta) / sigma) for a, b in itertools.pairwise(cuts)
    ]
    return sum(level * mass for level, mass in zip(levels, cells, strict=True))


LINKS = [(np.arange(1.0, 6.0), 0.85), (np.array([0.5, 1.0, 3.0]), 0.02), (np.array([0.0, 1]), 4.0)]


@pytest.mark.parametrize(("levels", "sigma"), LINKS)
def test_the_expected_rating_sums_levels_times_cells(levels, sigma) -> None:
    """To the last digit at each place of the table, and as near as is said between them."""
    table = tabled(levels, sigma)
    first = (levels[0] + levels[1]) / 2 - REACH * sigma
    for place in range(0, len(table), 97):
        theta = first + place / STEPS * sigma
        assert table[place] == pytest.approx(by_hand(theta, levels, sigma), abs=1e-12)
    widest = max(np.diff(levels).max(), sigma)
    for theta in np.linspace(levels[0] - 9 * sigma, levels[-1] + 9 * sigma, 997):
        found = looked_up(theta, table, first, STEPS / sigma)
        assert found == pytest.approx(by_hand(theta, levels, sigma), abs=2e-7 * widest)


def test_best_lists_are_a_stable_sort_of_the_scores_in_any_blocks(monkeypatch) -> None:
    """Few values, so that most tie, whole rows seen, and a scorer whose own rows must stay."""
    rng = np.random.default_rng(4)
    scores = rng.integers(-3, 4, (150, 333)).astype(np.float32)
    scores[7], scores[8] = np.finfo(np.float32).min, np.finfo(np.float32).max
    cells = rng.permutation(150 * 333)[:9000]
    cells = np.union1d(cells, np.arange(5 * 333, 6 * 333 - 2))
    users, seen = (cells // 333).astype(np.int32), (cells % 333).astype(np.int32)
    side = by_user(users, seen, 150, 333)[0]
    kept, asked = scores.copy(), []

    def score(some: slice) -> Floats:
        asked.append(len(range(150)[some]))
        return scores[some]

    full = scores.copy()
    full[users, seen] = -np.inf
    twin = np.argsort(-full, axis=1, kind="stable")[:, :400]
    twin[np.take_along_axis(full, twin, 1) == -np.inf] = -1
    for rows, k in ((150, 10), (7, 10), (1, 1), (150, 400)):
        monkeypatch.setattr(topk, "BLOCK_BYTES", 4 * 333 * rows + 5)
        found = best_lists(score, side, 333, k)
        assert np.array_equal(found[:, :333], twin[:, :k])
        assert found.shape == (150, k)
        assert (found[:, 333:] == -1).all()
        assert max(asked) == rows
        asked.clear()
    assert np.array_equal(scores, kept)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_refused(odd: float) -> None:
    scores = np.ones((3, 70), np.float32)
    scores[2, 69] = odd
    one = np.full(1, 2, np.int32)
    for item in (5, 69):  # unseen, and seen
        side = by_user(one, np.full(1, item, np.int32), 3, 70)[0]
        with pytest.raises(RequestError, match="non-finite"):
            best_lists(lambda some: scores[some], side, 70, 4)
    with pytest.raises(RequestError, match="k must be an integer of at least 1, got 0"):
        best_lists(lambda some: scores[some], side, 70, 0)
