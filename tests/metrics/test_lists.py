"""Lists against a twin written from the definitions, and against trec_eval."""

import math
from itertools import count

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, Qrel, R, ScoredDoc, Success, nDCG

from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.kernels.ranking.topk import best_lists
from tacit.metrics import lists as metric
from tacit.metrics.lists import ListFigures, list_figures


@st.composite
def worlds(draw):
    """Scores of few values, so that most tie, and for each pair: in training, in test, neither."""
    people, items = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (people, items)).astype(np.float32)
    part = rng.choice(3, (people, items), p=draw(st.permutations([0.2, 0.3, 0.5])))
    part[rng.random(people) < 0.2] = rng.integers(0, 3)  # somebody with nothing, or everything
    return scores, part == 0, part == 1


def listed(scores, train, k):
    users, items = (codes.astype(np.int32) for codes in np.nonzero(train))
    seen = by_user(users, items, *scores.shape)[0]
    return best_lists(lambda some: scores[some], seen, scores.shape[1], k)


def figures(scores, train, test, k, length):
    users, items = (codes.astype(np.int32) for codes in np.nonzero(test))
    return list_figures(listed(scores, train, k), users, items, train.sum(0), length=length)


def naive(scores, train, test, k, length):
    """One person at a time, with Python's own sort."""
    recalls, ndcgs, rrs, hits, shown, left_out = [], [], [], [], [], 0
    people, n = scores.shape
    for u in range(people):
        free = [i for i in range(n) if not train[u, i]]
        whole = sorted(free, key=lambda i: (-scores[u, i], i))[:k]
        best = whole[:length]
        shown += best
        wanted = {i for i in range(n) if test[u, i]}
        if not wanted:
            left_out += 1
            continue
        gain = sum(1 / math.log2(r + 1) for r, i in enumerate(best, 1) if i in wanted)
        ideal = sum(1 / math.log2(r + 1) for r in range(1, min(length, len(wanted)) + 1))
        found = [r for r, i in enumerate(whole, 1) if i in wanted]
        recalls.append(len(wanted & set(best)) / len(wanted))
        ndcgs.append(gain / ideal)
        rrs.append(1 / found[0] if found else 0)
        hits.append(bool(wanted & set(best)))
    shares = train.sum(0) / people
    mean = lambda values: float(np.mean(values)) if values else math.nan  # noqa: E731
    return ListFigures(
        mean(recalls), mean(ndcgs), mean(rrs), mean(hits), len(set(shown)) / n,
        mean([shares[i] for i in shown]), people - left_out, left_out,
    )  # fmt: skip


@given(worlds(), st.integers(1, 12), st.integers(1, 12), st.integers(1, 30))
def test_figures_are_those_of_their_twin(world, k, length, block):
    """Lists shorter and longer than the catalogue and than what is looked at, in any blocks."""
    before = metric.BLOCK
    metric.BLOCK = block
    try:
        found = figures(*world, k, length)
    finally:
        metric.BLOCK = before
    assert vars(found) == pytest.approx(vars(naive(*world, k, length)), nan_ok=True)


@given(worlds(), st.integers(1, 12), st.integers(1, 12))
def test_figures_are_those_of_trec_eval(world, k, length):
    scores, train, test = world
    found = figures(*world, k, length)
    rows = zip(*np.nonzero(test), strict=True)
    wanted = [Qrel(str(u), str(i), 1) for u, i in rows]
    run = [
        ScoredDoc(str(u), str(i), -float(rank))
        for u, codes in enumerate(listed(scores, train, k).tolist())
        for i, rank in zip(codes, count(), strict=False)
        if i >= 0
    ]
    if not wanted or not run:
        return
    asked = [R @ length, nDCG @ length, RR, Success @ length]
    said = ir_measures.calc_aggregate(asked, wanted, run)
    assert [said[measure] for measure in asked] == pytest.approx(
        [found.recall, found.ndcg, found.mrr, found.hit_rate]
    )


def test_nobody_to_ask_and_nothing_to_recommend_are_no_numbers():
    none = np.empty(0, np.int32)
    found = list_figures(np.full((2, 3), -1, np.int32), none, none, np.zeros(4, np.int64))
    assert all(map(math.isnan, (found.recall, found.ndcg, found.mrr, found.hit_rate)))
    assert math.isnan(found.popularity)
    assert (found.coverage, found.people, found.left_out) == (0, 0, 2)
    one = np.zeros(1, np.int32)
    assert list_figures(np.empty((1, 0), np.int32), one, one, np.ones(1)).recall == 0


def test_popularity_is_among_those_who_were_counted():
    lists, one = np.array([[0, 1]], np.int32), np.zeros(1, np.int32)
    counts = np.array([3, 1, 9])
    assert list_figures(lists, one, one, counts, counted=8).popularity == 2 / 8
    assert list_figures(lists, one, one, counts).popularity == 2
    assert list_figures(lists, one, one, counts * 0, counted=0).popularity == 0


def test_a_request_that_makes_no_list_is_refused():
    one, lists = np.ones(1, np.int32), np.zeros((1, 1), np.int32)
    with pytest.raises(RequestError, match="length must be an integer of at least 1, got 0"):
        list_figures(lists, one - 1, one, np.ones(2), length=0)
    with pytest.raises(RequestError, match="user 1 has test rows, got 1 lists"):
        list_figures(lists, one, one, np.ones(2))
