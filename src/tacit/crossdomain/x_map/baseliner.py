"""The baseliner: a similarity graph of items within and across domains.

    F_ij = S_ij / |Y_i u Y_j|, the share of raters of i or j who agree on both   [X-Map, 3.1]

An edge requires nonzero s, S and F, and a rank among the k strongest, by |s|, of one of its ends
towards the layer of the other. The layers in each domain are BB, items with an edge across domains;
NB, others with an edge to a BB item; NN, others with an edge to an NB item.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours import POINT_BITS, Adjusted
from tacit.crossdomain.x_map.refit import Remembered
from tacit.engines.engine import Engine
from tacit.kernels.neighbourhood.search_results import Near, Wanted, stacked, taken
from tacit.ratings import Codes, Mask, Ratings

BB, NB, NN, ALONE = 0, 1, 2, 3
"""Layers by their distance from the bridge. The last one has no path."""
LAYERS = ("BB", "NB", "NN", "alone")
Layers = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Edges:
    """Distinct undirected edges, `first` < `second`, sorted by both.

    `s`: adjusted cosine, `same`: S, `share`: F. All of shape (edges,).
    """

    first: Codes
    second: Codes
    s: NDArray[np.float64]
    same: NDArray[np.int32]
    share: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Graph of sources and target: the `layer` of each item, and the `edges` between layers."""

    layer: Layers
    edges: Edges


def compare_items(ratings: Ratings) -> Adjusted:
    """Compare items by their raters."""
    points = ratings.levels.astype(np.int64) << POINT_BITS
    return Adjusted.of(ratings.items, ratings.users, points, ratings.n_items, ratings.n_users)


def baseline(
    alike: Adjusted | Remembered, in_target: Mask, engine: Engine, wanted: Wanted
) -> SimilarityGraph:
    """Compute layers and edges. `in_target`: mask of target items, shape (items,).

    Three passes over disjoint pairs: across domains, of other items with BB, of the rest with NB.
    """
    layer = np.full(len(in_target), ALONE, np.int8)
    sides = [np.flatnonzero(side).astype(np.int32) for side in (~in_target, in_target)]
    candidates = [(rows, alike.nearest(rows, other, wanted, engine))
             for rows, other in zip(sides, sides[::-1], strict=True)]  # fmt: skip
    for rows, near in candidates:
        layer[rows[near.code[:, 0] >= 0]] = BB
    for outer in (NB, NN):
        for side in sides:
            inner, rest = side[layer[side] == outer - 1], side[layer[side] == ALONE]
            near = alike.nearest(rest, inner, wanted, engine)
            joined = near.code[:, 0] >= 0
            layer[rest[joined]] = outer
            candidates += [
                (rest, near),
                (inner, alike.nearest(inner, rest[joined], wanted, engine)),
            ]
    return SimilarityGraph(layer, edges(candidates, alike.things.counts))


def edges(candidates: list[tuple[Codes, Near]], raters: NDArray[np.int64]) -> Edges:
    """Return the distinct edges that either end keeps. `raters`: |Y_i| of every item."""
    ends = [
        np.broadcast_to(rows[:, None], near.code.shape)[near.code >= 0] for rows, near in candidates
    ]
    near = stacked([taken(near, near.code >= 0) for _, near in candidates])
    rows = np.concatenate(ends)
    low, high = np.minimum(rows, near.code), np.maximum(rows, near.code)
    _, once = np.unique(low * np.int64(len(raters)) + high, return_index=True)
    first, second, near = low[once], high[once], taken(near, once)
    share = near.same / (raters[first] + raters[second] - near.both)
    return Edges(first, second, near.s, near.same, share)
