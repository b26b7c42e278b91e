"""The extender: meta-paths through the layers, and X-Sim, the similarity across domains.

    s_p = sum_t S_t s_t / sum_t S_t,   c_p = prod_t F_t   over the edges of a path p    [X-Map, 3.3]
    X-Sim(i, j) = sum_p c_p s_p / sum_p c_p               over the paths from i to j

A path passes through the layers NN-NB-BB-BB-NB-NN, starts and ends in any of them, and has at most
one item of each. Bridge items with a common edge have only that path.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.x_map.baseliner import NN, SimilarityGraph
from tacit.engines.engine import Engine, cut
from tacit.kernels.layout import starts
from tacit.kernels.paths import Found, Graph, Sources, reach
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
    order = np.lexsort((end, start))
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
