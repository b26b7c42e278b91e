"""Private neighbours as published, under a claim that fails: random, with noisy similarities.

PNSA draws k neighbours of i sequentially without replacement,                         [X-Map, 4.2]

    P(j) proportional to exp(epsilon' Sim^(i, j) / (4 k SS(i, j))),
    Sim^ = max(Sim(i, j), Sim_k(i) - w),  w = min(Sim_k(i), 4 k SS / epsilon' ln(k (v - k) / rho))

and PNCF adds Laplace noise of scale 2 SS / epsilon' to each. Sim_k is the k-th largest similarity,
v the maximum number of ratings of an item. SS depends on the ratings, so an exponential mechanism
with it satisfies no epsilon. Neither do Sim_k and w, which are computed from the ratings.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours import Adjusted
from tacit.crossdomain.x_map.replacement import Draws, Octets, uniform
from tacit.engines.engine import Engine, cut
from tacit.kernels.neighbourhood.search_results import Near, stacked
from tacit.kernels.neighbourhood.sensitivity import Pairs, pairs
from tacit.kernels.neighbourhood.similar import Things
from tacit.ratings import Codes

Doubles = NDArray[np.float64]
RHO = 0.1
"""Failure probability of the truncation, in w."""
AT_ONCE = 256  # rows per batch of pairs
STAGE = "neighbours"
NOISE = "similarities"


class Selection(NamedTuple):
    """Shared inputs of all blocks: the columns, the key, k, epsilon' and v."""

    columns: Things
    key: Octets
    k: int
    epsilon: float
    longest: int


def drawn(
    alike: Adjusted, rows: Codes, columns: Codes, k: int, epsilon: str, draws: Draws, engine: Engine
) -> Near:
    """Draw k neighbours of each row, with noisy similarities. `epsilon`: epsilon', nats per row."""
    longest = int(alike.things.counts.max(initial=0))
    shared = Selection(alike.columns(columns), draws.octets, k, float(epsilon), longest)
    blocks = [alike.rows(rows[run]) for run in cut(len(rows), engine.blocks)]
    return stacked(engine.over(select, blocks, shared))


def select(rows: Things, shared: Selection) -> Near:
    """Draw the neighbours of each row of a block."""
    near = Near(
        np.full((len(rows.code), shared.k), -1, np.int32), np.zeros((len(rows.code), shared.k)),
        np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32),
    )  # fmt: skip
    for a in range(0, len(rows.code), AT_ONCE):
        some = part(rows, a, min(a + AT_ONCE, len(rows.code)))
        block = pairs(some, shared.columns)
        for row, item in enumerate(some.code.tolist()):
            _select(a + row, item, Pairs(block.s[row], block.moved[row]), shared, near)
    return near


def part(rows: Things, a: int, b: int) -> Things:
    """Return rows a to b of a block, b exclusive."""
    cells = slice(rows.start[a], rows.start[b])
    return Things(
        rows.code[a:b], rows.root[a:b], rows.start[a : b + 1] - rows.start[a],
        rows.other[cells], rows.value[cells], rows.like[cells],
    )  # fmt: skip


def _select(row: int, item: int, of: Pairs, shared: Selection, near: Near) -> None:
    """Draw the neighbours of one row. Both the selection and the noise are secret."""
    places = np.flatnonzero(of.moved > 0)
    s, moved = of.s[places], of.moved[places]
    count = min(shared.k, len(places))
    if count == 0:
        return
    draws = Draws.of(shared.key)
    exponent = shared.epsilon * truncated(s, moved, shared) / (4 * shared.k * moved)
    coins = uniform(draws.words(STAGE, item, len(shared.columns.code))[places])
    chosen = in_turn(exponent, coins, count)
    coins = uniform(draws.words(NOISE, item, len(shared.columns.code))[places[chosen]]) - 0.5
    noise = -np.sign(coins) * np.log1p(-2 * np.abs(coins)) * 2 * moved[chosen] / shared.epsilon
    near.code[row, :count] = shared.columns.code[places[chosen]]
    near.s[row, :count] = s[chosen] + noise


def in_turn(exponent: Doubles, coins: Doubles, count: int) -> NDArray[np.intp]:
    """Draw `count` candidates sequentially without replacement, each in proportion to e^exponent.

    Equivalent to the largest sums of exponent and Gumbel noise. `coins`: uniform, one per
    candidate.
    """
    return np.argsort(np.log(-np.log(coins)) - exponent, kind="stable")[:count]


def truncated(s: Doubles, moved: Doubles, shared: Selection) -> Doubles:
    """Return Sim^ of the candidates of a row. `s` and `moved`: shape (candidates,)."""
    kth, w = truncation(s, moved, shared.k, shared.epsilon, shared.longest)
    return np.maximum(s, kth - w)


def truncation(
    s: Doubles, moved: Doubles, k: int, epsilon: float, longest: int
) -> tuple[float, Doubles]:
    """Return Sim_k of a row of candidates, and w of each.

    `s`, `moved` and w: shape (candidates,). `epsilon`: nats per draw, as claimed.
    """
    few = min(k, len(s))
    kth = float(np.partition(s, len(s) - few)[len(s) - few])
    spread = math.log(max(k * (longest - k) / RHO, 1.0))
    return kth, np.minimum(kth, 4 * k * moved / epsilon * spread)
