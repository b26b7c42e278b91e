"""The extender in stages: X-Sims from the k strongest links of each stage, not from all paths.

Within a domain, an item of NN gets links to BB through NB, of which it keeps the k strongest. All
links to the source's BB are carried across to the target's, k again, and from there to the items
that have links to it. An item holds O(k) links at each stage, so that m items hold O(k m); the
walk of all meta-paths takes up to O(k^5 m) steps.

The paper does not say what s, S and F of a link are. Here two links in a row are one with

    S = S_1 + S_2,  s = (S_1 s_1 + S_2 s_2) / S,  F = F_1 F_2

which a path's s_p and c_p are made of, and links side by side are one with F = sum F, and s and S
their means weighed by F. That is X-Sim itself where nothing is cut away and S is equal throughout;
otherwise it is near it.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.x_map.baseliner import BB, NB, NN, SimilarityGraph
from tacit.crossdomain.x_map.extender import Extension, towards
from tacit.engines.engine import Engine, cut
from tacit.kernels.layout import starts
from tacit.kernels.paths import Found
from tacit.ratings import Codes, Mask

Doubles = NDArray[np.float64]


class Links(NamedTuple):
    """From item `first` to item `second`, by both; `s`, `same`, `share`: as of an edge."""

    first: Codes
    second: Codes
    s: Doubles
    same: Doubles
    share: Doubles

    def at(self, which: Any) -> Self:
        """Those at an index of the arrays."""
        return self._make(column[which] for column in self)


class Onward(NamedTuple):
    """What the links of a stage are continued by: item i's are `start[i]` to `start[i + 1]`."""

    start: NDArray[np.int64]
    links: Links


def extend_by_stages(base: SimilarityGraph, in_target: Mask, k: int, engine: Engine) -> Extension:
    """As `extend`, by stages. `in_target`: shape (items,). `k`: links an item keeps of a stage."""
    edges, layer = _onward(base, in_target), base.layer

    def between(side: bool, inner: int, outer: int) -> Links:
        """Of one domain, from the outer layer to the inner."""
        links = _turned(edges) if side else edges
        ends = (layer[links.first] == outer) & (layer[links.second] == inner)
        return links.at(ends & (in_target[links.first] == side))

    def bridged(side: bool) -> Links:
        """From all items of a domain to its BB: those outside it."""
        near, far = between(side, BB, NB), between(side, NB, NN)
        return together(near, strongest(composed(far, near, engine), k))

    across = edges.at(in_target[edges.second] & ~in_target[edges.first])
    reached = together(across, strongest(composed(bridged(False), across, engine), k))
    ends = together(reached, composed(reached, _turned(bridged(True)), engine))
    sources = np.flatnonzero(~in_target).astype(np.int32)
    counts = np.bincount(ends.first, minlength=len(in_target))[sources]
    return Extension(towards(base, in_target), sources, Found(starts(counts), ends.second, ends.s))


def composed(left: Links, right: Links, engine: Engine) -> Links:
    """Links of `left` continued by those of `right`; one for each pair of ends."""
    items = 1 + int(np.max(np.append(left.second, right.first), initial=-1))
    onward = Onward(starts(np.bincount(right.first, minlength=items)), right)
    bounds = np.flatnonzero(np.diff(left.first, prepend=-1))
    ends = np.append(bounds, len(left.first))
    runs = (slice(ends[part.start], ends[part.stop]) for part in cut(len(bounds), engine.blocks))
    blocks = [left.at(run) for run in runs]
    return together(*engine.over(continued, blocks, onward))


def continued(left: Links, onward: Onward) -> Links:
    """A block of `composed`: links of whole items."""
    counts = np.diff(onward.start)[left.second]
    row = np.repeat(np.arange(len(counts)), counts)
    run = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    before, after = left.at(row), onward.links.at(onward.start[left.second][row] + run)
    same = before.same + after.same
    s = (before.same * before.s + after.same * after.s) / same
    return _merged(Links(before.first, after.second, s, same, before.share * after.share))


def strongest(links: Links, k: int) -> Links:
    """The k strongest of each item by |s|; of equal ones those with the smallest codes."""
    order = np.lexsort((links.second, -abs(links.s), links.first))
    counts = np.bincount(links.first)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return links.at(np.sort(order[rank < k]))


def together(*parts: Links) -> Links:
    """Several links' in one, by their ends; no pair of ends twice."""
    every = Links._make(map(np.concatenate, zip(*parts, strict=True)))
    return every.at(np.lexsort((every.second, every.first)))


def _merged(links: Links) -> Links:
    """One for each pair of ends: F adds up, and weighs s and S."""
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
