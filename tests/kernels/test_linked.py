"""Lists by links and factors beside scores laid out whole and sorted."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.kernels.ranking.linked_lists import LinkedScores, linked_lists


def world(people, items, K):
    """Small integers, so that scores are exact, and many of them tie."""
    chance = np.random.default_rng(people + items + K)
    own = chance.random((people, items)) < 0.1
    own[1] = True  # somebody has everything, and somebody nothing
    own[2] = False
    level, tastes, factors = (
        chance.integers(-2, 3, shape).astype(np.float32)
        for shape in (items, (people, K), (items, K))
    )
    factors *= 2 ** chance.integers(0, 8, (items, 1)).astype(np.float32)  # panels to leave out
    links = random_array((items, items), density=0.2, rng=chance).tocsr()
    links.data = chance.integers(-3, 4, links.nnz).astype(np.float32)
    links.sort_indices()
    users, codes = np.nonzero(own)
    side = by_user(users.astype(np.int32), codes.astype(np.int32), people, items)[0]
    return own, side, LinkedScores(level, tastes, factors, csr_array(links))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(3, 5, 0), (70, 1100, 3), (130, 2048, 1), (64, 1025, 0)])
def test_lists_are_a_stable_sort_of_the_sums_without_what_people_have(shape):
    own, side, by = world(*shape)
    scores = by.level + by.tastes @ by.items.T + own.astype(np.float32) @ by.links.toarray()
    found = linked_lists(side, by, 30)
    for u, row in enumerate(np.where(own, -np.inf, scores)):
        best = np.argsort(-row, kind="stable")[: min(30, int((~own[u]).sum()))]
        assert found[u].tolist() == best.tolist() + [-1] * (30 - len(best))


def test_a_panel_is_judged_by_its_longest_item():
    """Of 64 items one has a factor, and it is the best: no panel is left because others are 0."""
    _, side, by = world(3, 64, 1)
    by = LinkedScores(by.level * 0, by.tastes * 0 + 1, by.items * 0, by.links * 0)
    by.level[0], by.items[63] = 5, 10
    assert linked_lists(side, by, 1)[2] == [63]  # of whoever has nothing


def test_a_score_that_is_not_finite_and_an_empty_list_are_refused():
    _, side, by = world(70, 1100, 3)
    for bad, item in ((np.nan, 0), (np.inf, 1099)):
        by.level[:] = 0
        by.level[item] = bad
        with pytest.raises(RequestError, match="non-finite"):
            linked_lists(side, by, 4)
    by.level[:] = 0
    for bad in (by.tastes, by.items, by.links.data):
        kept = bad.copy()
        bad.flat[0] = np.nan
        with pytest.raises(RequestError, match="non-finite"):
            linked_lists(side, by, 4)
        bad[:] = kept
    by.tastes[0], by.items[:] = 1e30, 1e30  # each is finite, and their product is not
    with pytest.raises(RequestError, match="non-finite"):
        linked_lists(side, by, 4)
    with pytest.raises(RequestError, match="k must be an integer of at least 1, got 0"):
        linked_lists(side, by, 0)
