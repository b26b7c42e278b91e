"""The baseliner: which items are alike, within a domain and across, as the edges of a graph.

    F_ij = S_ij / |Y_i u Y_j|, how much of what is known of i and j agrees       [X-Map, 3.1]

An edge is kept where s, S and F are not 0, and where it is among the k strongest, by |s|, of one
of its ends towards the layer of the other. In each domain the layers are BB, items with an edge
across; NB, others with an edge to a BB item; NN, others with one to an NB item.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours.adjusted_cosine import POINT_BITS, Adjusted
from tacit.engines.engine import Engine
from tacit.kernels.similar import Near, Wanted, stacked, taken
from tacit.ratings import Codes, Mask, Ratings

BB, NB, NN, ALONE = 0, 1, 2, 3
"""Layers by their distance from the bridge; the last is that of no path."""
LAYERS = ("BB", "NB", "NN", "alone")
Layers = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Edges:
    """Undirected edges, each once, `first` < `second`; sorted by both.

    `s`: adjusted cosine, `same`: S, `share`: F. All of shape (edges,).
    """

    first: Codes
    second: Codes
    s: NDArray[np.float64]
    same: NDArray[np.int32]
    share: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """The graph of a source and a target: `layer` of each item, and the `edges` between layers."""

    layer: Layers
    edges: Edges


def compare_items(ratings: Ratings) -> Adjusted:
    """Items by the people who rated them."""
    points = ratings.levels.astype(np.int64) << POINT_BITS
    return Adjusted.of(ratings.items, ratings.users, points, ratings.n_items, ratings.n_users)


def baseline(alike: Adjusted, in_target: Mask, engine: Engine, wanted: Wanted) -> SimilarityGraph:
    """Layers and edges, from the items' ratings; `in_target`: which items are, shape (items,).

    Three passes over disjoint pairs: across domains; of others with BB; of the rest with NB.
    """
    layer = np.full(len(in_target), ALONE, np.int8)
    sides = [np.flatnonzero(side).astype(np.int32) for side in (~in_target, in_target)]
    found = [(rows, alike.nearest(rows, other, wanted, engine))
             for rows, other in zip(sides, sides[::-1], strict=True)]  # fmt: skip
    for rows, near in found:
        layer[rows[near.code[:, 0] >= 0]] = BB
    for outer in (NB, NN):
        for side in sides:
            inner, rest = side[layer[side] == outer - 1], side[layer[side] == ALONE]
            near = alike.nearest(rest, inner, wanted, engine)
            joined = near.code[:, 0] >= 0
            layer[rest[joined]] = outer
            found += [(rest, near), (inner, alike.nearest(inner, rest[joined], wanted, engine))]
    return SimilarityGraph(layer, edges(found, alike.things.counts))


def edges(found: list[tuple[Codes, Near]], raters: NDArray[np.int64]) -> Edges:
    """What either end keeps, each edge once; `raters`: |Y_i| of every item."""
    ends = [np.broadcast_to(rows[:, None], near.code.shape)[near.code >= 0] for rows, near in found]
    near = stacked([taken(near, near.code >= 0) for _, near in found])
    rows = np.concatenate(ends)
    low, high = np.minimum(rows, near.code), np.maximum(rows, near.code)
    _, once = np.unique(low * np.int64(len(raters)) + high, return_index=True)
    first, second, near = low[once], high[once], taken(near, once)
    share = near.same / (raters[first] + raters[second] - near.both)
    return Edges(first, second, near.s, near.same, share)
