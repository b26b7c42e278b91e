"""The extender in stages, beside all meta-paths and beside dictionaries."""

import numpy as np
import pytest

from tacit.crossdomain import XMap
from tacit.crossdomain.x_map.baseliner import (
    BB,
    NB,
    NN,
    Edges,
    SimilarityGraph,
    baseline,
    compare_items,
)
from tacit.crossdomain.x_map.extender import extend, extend_by_stages
from tacit.crossdomain.x_map.replacement import Draws
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.search_results import Wanted

WIDTH = 5  # items of each of six layers
ITEMS = 6 * WIDTH
LAYERS = np.repeat(np.array([NN, NB, BB, BB, NB, NN], np.int8), WIDTH)
IN_TARGET = np.arange(ITEMS) >= ITEMS // 2


def graph(seed, *, same=None):
    """Edges between items of layers next to each other, about two of three."""
    chance = np.random.default_rng(seed)
    i, j = np.divmod(np.arange(ITEMS * ITEMS), ITEMS)
    near = (j // WIDTH == i // WIDTH + 1) & (chance.random(len(i)) < 2 / 3)
    n = int(near.sum())
    counts = np.full(n, same) if same else chance.integers(1, 9, n)
    edges = Edges(
        i[near].astype(np.int32), j[near].astype(np.int32), chance.uniform(-1, 1, n),
        counts.astype(np.int32), chance.uniform(0.1, 1, n),
    )  # fmt: skip
    return SimilarityGraph(LAYERS, edges)


def sims(extension):
    start, other, s = extension.found
    rows = np.repeat(extension.sources, np.diff(start)).tolist()
    return dict(zip(zip(rows, other.tolist(), strict=True), s.tolist(), strict=True))


@pytest.mark.parametrize("blocks", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_with_every_link_and_one_s_it_is_all_meta_paths(seed, blocks):
    base = graph(seed, same=3)
    whole = sims(extend(base, IN_TARGET, Local()))
    assert sims(extend_by_stages(base, IN_TARGET, ITEMS, Local(blocks))) == pytest.approx(whole)
    assert len(whole) > ITEMS


def merged(links):
    """{ends: (s, S, F)} of {ends: [(s, S, F), ..]}."""
    means = {}
    for ends, side_by_side in links.items():
        s, same, share = np.array(side_by_side).T
        means[ends] = (share @ s / share.sum(), share @ same / share.sum(), share.sum())
    return means


def joined(left, right):
    links = {}
    for (i, b), (s, same, share) in left.items():
        for (c, j), (t, also, part) in right.items():
            if b == c:
                mean = (same * s + also * t) / (same + also)
                links.setdefault((i, j), []).append((mean, same + also, share * part))
    return merged(links)


def cut_down(links, k):
    kept = {}
    for i in {i for i, _ in links}:
        ends = sorted((-abs(of[0]), j) for (a, j), of in links.items() if a == i)
        kept |= {(i, j): links[i, j] for _, j in ends[:k]}
    return kept


def turned(links):
    return {(j, i): of for (i, j), of in links.items()}


@pytest.mark.parametrize("seed", range(4))
def test_each_stage_keeps_the_strongest(seed):
    base, k = graph(seed), 3
    columns = (base.edges.s, base.edges.same, base.edges.share)
    ends = zip(base.edges.first.tolist(), base.edges.second.tolist(), strict=True)
    edges = dict(zip(ends, zip(*columns, strict=True), strict=True))
    out, near, across, back, far = (
        {(i, j): of for (i, j), of in edges.items() if i // WIDTH == floor} for floor in range(5)
    )
    source = near | cut_down(joined(out, near), k)
    target = turned(back) | cut_down(joined(turned(far), turned(back)), k)
    reached = across | cut_down(joined(source, across), k)
    expected = {ends: of[0] for ends, of in (reached | joined(reached, turned(target))).items()}
    found = sims(extend_by_stages(base, IN_TARGET, k, Local(2)))
    assert found == pytest.approx(expected)
    assert len(found) < len(sims(extend(base, IN_TARGET, Local())))


def test_a_graph_without_an_edge_has_no_x_sim():
    nothing = np.zeros(0, np.int32)
    base = SimilarityGraph(LAYERS, Edges(nothing, nothing, np.zeros(0), nothing, np.zeros(0)))
    extension = extend_by_stages(base, IN_TARGET, 3, Local())
    assert sims(extension) == {}
    assert extension.found.start.tolist() == [0] * (ITEMS // 2 + 1)


@pytest.mark.parametrize("stages", [False, True])
def test_x_map_extends_as_it_is_told(trial, stages):
    k, engine, in_target = 2, Local(), trial.domains.of_item == trial.target
    base = baseline(compare_items(trial.domains.ratings), in_target, engine, Wanted(k))
    either = (extend(base, in_target, engine), extend_by_stages(base, in_target, k, engine))
    found = XMap(k=k, stages=stages).map(trial, engine, None, Draws.secret()).extension
    assert sims(found) == sims(either[stages])
    assert sims(found) != sims(either[not stages])
