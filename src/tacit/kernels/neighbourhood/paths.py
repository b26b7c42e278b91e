"""Meta-paths of a layered graph: weighted sums over all paths to items of the other domain."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import equal_pieces, over_pieces
from tacit.kernels.layout import starts

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
DEEPEST = 5  # most edges of a path, through all six layers


class Graph(NamedTuple):
    """Edges to the next layer alone: those of item i are `start[i]` to `start[i + 1]`.

    `other`: target of each edge, ascending. `s`, `same`, `share`: as in the baseliner's edges.
    `place`: index of each target item among them, -1 for source items, shape (items,).
    """

    start: Longs
    other: Ints
    s: Doubles
    same: Doubles
    share: Doubles
    place: Ints


class Sources(NamedTuple):
    """A block of source items."""

    code: Ints


class Found(NamedTuple):
    """Target items reached from each source item of a block.

    Source item r reaches `other[start[r] : start[r + 1]]`, ascending, with the X-Sim in `s`.
    """

    start: Longs
    other: Ints
    s: Doubles


def reach(sources: Sources, graph: Graph) -> Found:
    """Return X-Sim(i, j) = sum over paths of c s / sum of c.

    c: the product of F over a path. s: the mean weighted by S.
    """
    counts = np.zeros(len(sources.code), np.int64)
    none = np.zeros(0, np.int64)
    pieces = equal_pieces(len(sources.code), len(graph.place))
    over_pieces(
        _reach, pieces, sources.code, graph, none, counts, np.zeros(0, np.int32), np.zeros(0)
    )
    start = starts(counts)
    other, s = np.empty(start[-1], np.int32), np.empty(start[-1])
    over_pieces(_reach, pieces, sources.code, graph, start, counts, other, s)
    return Found(start, other, s)


@njit(nogil=True, cache=True)
def _reach(
    piece: int,
    pieces: Longs,
    code: Ints,
    graph: Graph,
    start: Longs,
    counts: Longs,
    other: Ints,
    s: Doubles,
) -> None:
    """Count the items reached from each item, or, if `start` is set, write them."""
    for row in range(pieces[piece], pieces[piece + 1]):
        at = start[row] if len(start) else 0
        counts[row] = _reach_from(code[row], graph, at, other, s)


@njit(cache=True)
def _reach_from(item: int, graph: Graph, at: int, other: Ints, s: Doubles) -> int:
    """Return how many targets an item reaches, and write them from `at` on if `other` is set."""
    weighed, certain = _walk(item, graph)
    reached = 0
    for j in range(len(graph.place)):
        index = graph.place[j]
        if index >= 0 and certain[index] > 0:
            if len(other):
                other[at + reached], s[at + reached] = j, weighed[index] / certain[index]
            reached += 1
    return reached


@njit(cache=True)
def _walk(item: int, graph: Graph) -> tuple[Doubles, Doubles]:
    """Return sums of c s and of c over all paths from an item, per target item; depth first."""
    targets = graph.place.max() + 1
    weighed, certain = np.zeros(targets), np.zeros(targets)
    edge, end = np.zeros(DEEPEST + 1, np.int64), np.zeros(DEEPEST + 1, np.int64)
    top, bottom, c = np.zeros(DEEPEST + 1), np.zeros(DEEPEST + 1), np.ones(DEEPEST + 1)
    depth, edge[0], end[0] = 0, graph.start[item], graph.start[item + 1]
    while depth >= 0:
        if edge[depth] == end[depth]:
            depth -= 1
            continue
        e = edge[depth]
        edge[depth] += 1
        top[depth + 1] = top[depth] + graph.same[e] * graph.s[e]
        bottom[depth + 1] = bottom[depth] + graph.same[e]
        c[depth + 1] = c[depth] * graph.share[e]
        reached = graph.other[e]
        depth += 1
        edge[depth], end[depth] = graph.start[reached], graph.start[reached + 1]
        if graph.place[reached] >= 0:
            weighed[graph.place[reached]] += c[depth] * top[depth] / bottom[depth]
            certain[graph.place[reached]] += c[depth]
    return weighed, certain
