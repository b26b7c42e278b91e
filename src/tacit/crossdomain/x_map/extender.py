"""The extender: meta-paths through the layers, and X-Sim, the similarity across domains.

    s_p = sum_t S_t s_t / sum_t S_t,   c_p = prod_t F_t   over the edges of a path p    [X-Map, 3.3]
    X-Sim(i, j) = sum_p c_p s_p / sum_p c_p               over the paths from i to j

A path passes through the layers NN-NB-BB-BB-NB-NN, starts and ends in any of them, and has at most
one item of each. Bridge items with a common edge have only that path.

The staged extender: X-Sims from the k strongest links of each stage, not from all paths.

Within a domain, an item of NN gets links to BB through NB, and keeps the k strongest. All links to
the source's BB are continued to the target's BB, k again, and from there to the items with links
to it. An item has O(k) links at each stage, O(k m) in total for m items, while all meta-paths take
up to O(k^5 m) steps.

The paper does not define s, S and F of a link. Here two consecutive links are combined into one
with

    S = S_1 + S_2,  s = (S_1 s_1 + S_2 s_2) / S,  F = F_1 F_2

in accordance with a path's s_p and c_p. Parallel links are combined into one with F = sum F, and s
and S their means weighted by F. Without truncation and with equal S this is X-Sim, otherwise an
approximation.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.x_map.baseliner import BB, NB, NN, SimilarityGraph
from tacit.engines.engine import Engine, cut
from tacit.kernels.layout import by_user, starts
from tacit.kernels.neighbourhood.paths import Found, Graph, Sources, reach
from tacit.ratings import Codes, Mask


@dataclass(frozen=True, eq=False)
class Path:
    """A meta-path: its items, and the s, S and F of each edge."""

    items: tuple[int, ...]
    s: tuple[float, ...]
    same: tuple[float, ...]
    share: tuple[float, ...]

    @property
    def end(self) -> int:
        """The last item."""
        *_, last = self.items
        return last

    @property
    def similarity(self) -> float:
        """s_p."""
        weighed = sum(S * s for S, s in zip(self.same, self.s, strict=True))
        return weighed / sum(self.same)

    @property
    def certainty(self) -> float:
        """c_p."""
        return float(np.prod(self.share))


@dataclass(frozen=True, eq=False)
class Extension:
    """X-Sims from all source items. `sources`: ascending. `found`: in their order."""

    graph: Graph
    sources: Codes
    found: Found

    def x_sim(self, i: int, j: int) -> float:
        """Return X-Sim(i, j), 0 without a path from source item i to target item j."""
        row = int(np.searchsorted(self.sources, i))
        mine = slice(self.found.start[row], self.found.start[row + 1])
        at = np.flatnonzero(self.found.other[mine] == j)
        return float(self.found.s[mine][at[0]]) if len(at) else 0.0

    def paths(self, i: int, j: int) -> Iterator[Path]:
        """Yield all meta-paths from source item i to target item j."""
        return (path for path in _paths(self.graph, Path((i,), (), (), ())) if path.end == j)


def extend(base: SimilarityGraph, in_target: Mask, engine: Engine) -> Extension:
    """Follow all meta-paths of the graph from its source items. `in_target`: shape (items,)."""
    graph = towards(base, in_target)
    sources = np.flatnonzero(~in_target).astype(np.int32)
    blocks = [Sources(sources[run]) for run in cut(len(sources), engine.blocks)]
    return Extension(graph, sources, joined(engine.over(reach, blocks, graph)))


def towards(base: SimilarityGraph, in_target: Mask) -> Graph:
    """Direct the edges from the source's outermost layer to that of the target.

    `in_target`: shape (items,).
    """
    depth = np.where(in_target, NN + 1 + base.layer, NN - base.layer)
    edges = base.edges
    onward = depth[edges.second] > depth[edges.first]
    start = np.where(onward, edges.first, edges.second)
    end = np.where(onward, edges.second, edges.first)
    _, order = by_user(start, end, len(in_target), len(in_target))
    counts = np.bincount(start, minlength=len(in_target))
    index = np.where(in_target, np.cumsum(in_target) - 1, -1)
    return Graph(
        starts(counts), end[order].astype(np.int32),
        edges.s[order], edges.same[order].astype(np.float64), edges.share[order],
        index.astype(np.int32),
    )  # fmt: skip


def joined(parts: list[Found]) -> Found:
    """Concatenate the results of blocks."""
    counts = np.concatenate([np.diff(part.start) for part in parts])
    start = starts(counts)
    return Found(
        start,
        np.concatenate([part.other for part in parts]),
        np.concatenate([part.s for part in parts]),
    )


def _paths(graph: Graph, path: Path) -> Iterator[Path]:
    last = path.end
    if len(path.items) > 1:
        yield path
    for e in range(graph.start[last], graph.start[last + 1]):
        yield from _paths(graph, Path(
            (*path.items, int(graph.other[e])), (*path.s, float(graph.s[e])),
            (*path.same, float(graph.same[e])), (*path.share, float(graph.share[e])),
        ))  # fmt: skip


Doubles = NDArray[np.float64]


class Links(NamedTuple):
    """Links from `first` to `second`, sorted by both. `s`, `same`, `share`: as for an edge."""

    first: Codes
    second: Codes
    s: Doubles
    same: Doubles
    share: Doubles

    def at(self, which: Any) -> Self:
        """Return the links at an index into the arrays."""
        return self._make(column[which] for column in self)


class Onward(NamedTuple):
    """Continuations of links: those of item i are at `start[i]` to `start[i + 1]`, exclusive."""

    start: NDArray[np.int64]
    links: Links


def extend_by_stages(base: SimilarityGraph, in_target: Mask, k: int, engine: Engine) -> Extension:
    """Compute X-Sims in stages. `in_target`: shape (items,). `k`: links per item and stage."""
    edges, layer = _onward(base, in_target), base.layer

    def between(side: bool, inner: int, outer: int) -> Links:
        """Return the links of one domain from the outer layer to the inner one."""
        links = _turned(edges) if side else edges
        ends = (layer[links.first] == outer) & (layer[links.second] == inner)
        return links.at(ends & (in_target[links.first] == side))

    def bridged(side: bool) -> Links:
        """Return the links from the other items of a domain to its BB."""
        near, far = between(side, BB, NB), between(side, NB, NN)
        return together(near, strongest(composed(far, near, engine), k))

    across = edges.at(in_target[edges.second] & ~in_target[edges.first])
    reached = together(across, strongest(composed(bridged(False), across, engine), k))
    ends = together(reached, composed(reached, _turned(bridged(True)), engine))
    sources = np.flatnonzero(~in_target).astype(np.int32)
    counts = np.bincount(ends.first, minlength=len(in_target))[sources]
    return Extension(towards(base, in_target), sources, Found(starts(counts), ends.second, ends.s))


def composed(left: Links, right: Links, engine: Engine) -> Links:
    """Continue the links of `left` by those of `right`. One link per pair of ends."""
    items = 1 + int(np.max(np.append(left.second, right.first), initial=-1))
    onward = Onward(starts(np.bincount(right.first, minlength=items)), right)
    bounds = np.flatnonzero(np.diff(left.first, prepend=-1))
    ends = np.append(bounds, len(left.first))
    runs = (slice(ends[part.start], ends[part.stop]) for part in cut(len(bounds), engine.blocks))
    blocks = [left.at(run) for run in runs]
    return together(*engine.over(continued, blocks, onward))


def continued(left: Links, onward: Onward) -> Links:
    """Compute a block of `composed`, with all links of its items."""
    counts = np.diff(onward.start)[left.second]
    row = np.repeat(np.arange(len(counts)), counts)
    run = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    before, after = left.at(row), onward.links.at(onward.start[left.second][row] + run)
    same = before.same + after.same
    s = (before.same * before.s + after.same * after.s) / same
    return _merged(Links(before.first, after.second, s, same, before.share * after.share))


def strongest(links: Links, k: int) -> Links:
    """Return the k strongest links of each item by |s|, ties by the smaller index."""
    order = np.lexsort((links.second, -abs(links.s), links.first))
    counts = np.bincount(links.first)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return links.at(np.sort(order[rank < k]))


def together(*parts: Links) -> Links:
    """Concatenate links without common pairs of ends, sorted by their ends."""
    every = Links._make(map(np.concatenate, zip(*parts, strict=True)))
    return every.at(np.lexsort((every.second, every.first)))


def _merged(links: Links) -> Links:
    """Combine the links of each pair of ends: F is summed, and weights s and S."""
    links = together(links)
    news = (np.diff(links.first, prepend=-1) != 0) | (np.diff(links.second, prepend=-1) != 0)
    at = np.flatnonzero(news)
    share = np.add.reduceat(links.share, at) if len(at) else links.share

    def mean(of: Doubles) -> Doubles:
        return np.add.reduceat(links.share * of, at) / share if len(at) else of

    return Links(links.first[at], links.second[at], mean(links.s), mean(links.same), share)


def _onward(base: SimilarityGraph, in_target: Mask) -> Links:
    graph = towards(base, in_target)
    first = np.repeat(np.arange(len(in_target), dtype=np.int32), np.diff(graph.start))
    return Links(first, graph.other, graph.s, graph.same, graph.share)


def _turned(links: Links) -> Links:
    return together(links._replace(first=links.second, second=links.first))
