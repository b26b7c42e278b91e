"""Adjusted cosine, layers and meta-paths, beside the formulas written out."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tacit.crossdomain.neighbours import POINT_BITS, Adjusted, centred
from tacit.crossdomain.x_map.baseliner import ALONE, BB, NB, NN, Edges, SimilarityGraph, baseline
from tacit.crossdomain.x_map.extender import extend
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.kernels.neighbourhood.search_results import Wanted

PEOPLE, ITEMS = 40, 24
IN_TARGET = np.arange(ITEMS) >= ITEMS // 2


def table(seed: int, share: float = 0.25):
    """A random table of ratings, NaN where there is none; few people rate on both sides."""
    chance = np.random.default_rng(seed)
    ratings = chance.integers(0, 5, (PEOPLE, ITEMS)).astype(float)
    ratings[chance.random(ratings.shape) > share] = np.nan
    ratings[: PEOPLE // 2, IN_TARGET] = np.nan
    ratings[PEOPLE // 2 + 2 :, ~IN_TARGET] = np.nan
    return ratings


def adjusted(ratings):
    """The same ratings as the stages see them, in a random order of rows."""
    users, items = np.nonzero(~np.isnan(ratings))
    mixed = np.random.default_rng(0).permutation(len(users))
    users, items = users[mixed].astype(np.int32), items[mixed].astype(np.int32)
    points = ratings[users, items].astype(np.int64) << POINT_BITS
    return Adjusted.of(items, users, points, ratings.shape[1], ratings.shape[0])


def naive(ratings):
    """s, S and F of every two items, as they are defined."""
    around = ratings - np.nanmean(ratings, axis=1, keepdims=True)
    norms = np.sqrt(np.nansum(around**2, axis=0))
    s, same, share = (np.zeros((ITEMS, ITEMS)) for _ in range(3))
    for i, j in itertools.permutations(range(ITEMS), 2):
        both = ~np.isnan(ratings[:, i]) & ~np.isnan(ratings[:, j])
        liked = [ratings[both, a] >= np.nanmean(ratings[:, a]) for a in (i, j)]
        either = (~np.isnan(ratings[:, i]) | ~np.isnan(ratings[:, j])).sum()
        if norms[i] * norms[j]:
            s[i, j] = np.sum(around[both, i] * around[both, j]) / (norms[i] * norms[j])
        same[i, j] = np.sum(liked[0] == liked[1])
        share[i, j] = same[i, j] / max(either, 1)
    s[(abs(s) < 1e-9) | (same == 0)] = 0
    return s, same, share


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_are_the_nearest_of_the_formula(seed, engine):
    ratings = table(seed)
    s, same, _ = naive(ratings)
    everything = np.arange(ITEMS, dtype=np.int32)
    near = adjusted(ratings).nearest(everything, everything, Wanted(5), engine)
    for i in range(ITEMS):
        found = near.code[i][near.code[i] >= 0]
        assert len(found) == min(5, np.count_nonzero(s[i]))
        assert np.allclose(near.s[i, : len(found)], s[i, found], atol=1e-5)
        assert (near.same[i, : len(found)] == same[i, found]).all()
        left = np.setdiff1d(np.flatnonzero(s[i]), found)
        assert (abs(s[i, left]) <= abs(near.s[i, : len(found)]).min(initial=2) + 1e-5).all()


def test_damping_counts_few_witnesses_for_less():
    ratings = table(1, share=0.6)
    everything = np.arange(ITEMS, dtype=np.int32)
    alike = adjusted(ratings)
    plain = alike.nearest(everything, everything, Wanted(ITEMS), Local())
    damped = alike.nearest(everything, everything, Wanted(ITEMS, damping=8), Local())
    for i in range(ITEMS):
        wholly = dict(zip(plain.code[i], plain.s[i], strict=True))
        for j, s, n in zip(damped.code[i], damped.s[i], damped.both[i], strict=True):
            assert j < 0 or s == pytest.approx(wholly[j] * min(n, 8) / 8, abs=1e-12)


def test_centring_is_exact():
    chance = np.random.default_rng(2)
    owner = np.sort(chance.integers(0, 7, 60))
    points = chance.integers(0, 5, 60) << POINT_BITS
    counts = np.bincount(owner, minlength=7)
    means = [Fraction(int(points[owner == u].sum()), int(counts[u])) for u in range(7)]
    told = centred(points, owner, counts)
    for x, u, value in zip(points.tolist(), owner.tolist(), told.tolist(), strict=True):
        assert abs((x - means[u]) * (1 << 12) - value) <= Fraction(1, 2)


def test_a_scale_too_fine_for_the_grid_is_refused():
    zero = np.zeros(2, np.int32)
    with pytest.raises(RequestError, match="fewer levels"):
        Adjusted.of(np.array([0, 1], np.int32), zero, np.array([0, 1 << 19]), 2, 1)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("seed", range(6))
def test_layers_and_x_sims_are_those_of_every_path(seed, engine):
    ratings = table(seed)
    base = baseline(adjusted(ratings), IN_TARGET, engine, Wanted(ITEMS))
    edges = {}
    for first, second, s, same, share in zip(
        base.edges.first, base.edges.second, base.edges.s, base.edges.same, base.edges.share,
        strict=True,
    ):  # fmt: skip
        edges[first, second] = edges[second, first] = (s, same, share)
    s, same, share = naive(ratings)
    assert (base.layer == naive_layers(s != 0)).all()
    for (i, j), of in edges.items():
        assert of == pytest.approx((s[i, j], same[i, j], share[i, j]), abs=1e-5)
    expected = naive_x_sims(base.layer, edges)
    extension = extend(base, IN_TARGET, engine)
    start, other, x_sim = extension.found
    rows = np.repeat(extension.sources, np.diff(start))
    told = {(i, j): x for i, j, x in zip(rows.tolist(), other.tolist(), x_sim, strict=True)}
    assert told == pytest.approx(expected, abs=1e-12)
    assert len(expected) > 10
    for (i, j), x in list(told.items())[:20]:
        paths = list(extension.paths(i, j))
        certainty = sum(path.certainty for path in paths)
        weighed = sum(path.certainty * path.similarity for path in paths)
        assert weighed / certainty == pytest.approx(x)


def naive_layers(joined):
    layer = np.full(ITEMS, ALONE)
    across = joined & (IN_TARGET[:, None] != IN_TARGET)
    within = joined & (IN_TARGET[:, None] == IN_TARGET)
    layer[across.any(1)] = BB
    layer[(layer == ALONE) & (within & (layer == BB)).any(1)] = NB
    layer[(layer == ALONE) & (within & (layer == NB)).any(1)] = NN
    return layer


def naive_x_sims(layer, edges):
    """Every sequence of items that goes up the six layers, each with an edge to the next."""
    floor = np.where(IN_TARGET, 3 + layer, 2 - layer)
    tops, bottoms = {}, {}
    todo = [((int(i),), 0.0, 0.0, 1.0) for i in np.flatnonzero(~IN_TARGET & (layer != ALONE))]
    while todo:
        path, top, bottom, certainty = todo.pop()
        for j in np.flatnonzero(floor == floor[path[-1]] + 1).tolist():
            if (path[-1], j) in edges and layer[j] != ALONE:
                s, same, share = edges[path[-1], j]
                longer = ((*path, j), top + same * s, bottom + same, certainty * share)
                todo.append(longer)
                if IN_TARGET[j]:
                    key = (path[0], j)
                    tops[key] = tops.get(key, 0) + longer[3] * longer[1] / longer[2]
                    bottoms[key] = bottoms.get(key, 0) + longer[3]
    return {key: tops[key] / bottoms[key] for key in tops}


def test_one_chain_of_four_items():
    edges = Edges(
        np.array([0, 1, 2], np.int32), np.array([1, 2, 3], np.int32),
        np.array([0.8, 0.5, -0.1]), np.array([3, 2, 1], np.int32), np.array([0.5, 0.4, 0.2]),
    )  # fmt: skip
    base = SimilarityGraph(np.array([NB, BB, BB, NB], np.int8), edges)
    extension = extend(base, np.array([False, False, True, True]), Local())
    (path,) = extension.paths(0, 3)
    assert path.items == (0, 1, 2, 3)
    assert path.similarity == pytest.approx(0.55)
    assert path.certainty == pytest.approx(0.04)
    start, other, s = extension.found
    whole = dict(zip(other[: start[1]].tolist(), s[: start[1]].tolist(), strict=True))
    assert whole[3] == pytest.approx(0.55)
