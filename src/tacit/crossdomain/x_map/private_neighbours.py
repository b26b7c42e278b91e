"""Neighbours as published under a claim that fails: drawn, and their similarities noised.

PNSA draws k neighbours of i one after another, without putting back,                  [X-Map, 4.2]

    P(j) proportional to exp(epsilon' Sim^(i, j) / (4 k SS(i, j))),
    Sim^ = max(Sim(i, j), Sim_k(i) - w),  w = min(Sim_k(i), 4 k SS / epsilon' ln(k (v - k) / rho))

and PNCF adds Laplace noise of scale 2 SS / epsilon' to each. Sim_k is the k-th largest similarity,
v the most ratings of an item. SS is a local quantity, larger or smaller with the ratings, and so no
exponential mechanism with it keeps any epsilon; nor do Sim_k and w, which are read off the ratings.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.neighbours.adjusted_cosine import Adjusted
from tacit.crossdomain.x_map.draws import Draws, Octets, uniform
from tacit.engines.engine import Engine, cut
from tacit.kernels.sensitive import Pairs, pairs
from tacit.kernels.similar import Near, Things, stacked
from tacit.ratings import Codes

Doubles = NDArray[np.float64]
RHO = 0.1
"""The chance that truncation is allowed to fail, in w."""
AT_ONCE = 256  # rows whose pairs are held at once
STAGE = "neighbours"
NOISE = "similarities"


class Selection(NamedTuple):
    """What every block needs: the columns, the key, k, epsilon' and v."""

    columns: Things
    key: Octets
    k: int
    epsilon: float
    longest: int


def drawn(
    alike: Adjusted, rows: Codes, columns: Codes, k: int, epsilon: str, draws: Draws, engine: Engine
) -> Near:
    """k neighbours of each row, drawn, with noisy similarities; `epsilon`: epsilon', nats a row."""
    longest = int(alike.things.counts.max(initial=0))
    shared = Selection(alike.columns(columns), draws.octets, k, float(epsilon), longest)
    blocks = [alike.rows(rows[run]) for run in cut(len(rows), engine.blocks)]
    return stacked(engine.over(select, blocks, shared))


def select(rows: Things, shared: Selection) -> Near:
    """Draw for each row of a block."""
    near = Near(
        np.full((len(rows.code), shared.k), -1, np.int32), np.zeros((len(rows.code), shared.k)),
        np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32),
    )  # fmt: skip
    for a in range(0, len(rows.code), AT_ONCE):
        some = part(rows, a, min(a + AT_ONCE, len(rows.code)))
        found = pairs(some, shared.columns)
        for row, item in enumerate(some.code.tolist()):
            _select(a + row, item, Pairs(found.s[row], found.moved[row]), shared, near)
    return near


def part(rows: Things, a: int, b: int) -> Things:
    """Rows a to b of a block."""
    cells = slice(rows.start[a], rows.start[b])
    return Things(
        rows.code[a:b], rows.root[a:b], rows.start[a : b + 1] - rows.start[a],
        rows.other[cells], rows.value[cells], rows.like[cells],
    )  # fmt: skip


def _select(row: int, item: int, of: Pairs, shared: Selection, near: Near) -> None:
    """One row: secret are both who is drawn and what is added."""
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
    """`count` drawn one after another, without putting back, each by e^exponent among those left:
    which is to take the largest sums of exponent and Gumbel noise. `coins`: uniform, as many."""
    return np.argsort(np.log(-np.log(coins)) - exponent, kind="stable")[:count]


def truncated(s: Doubles, moved: Doubles, shared: Selection) -> Doubles:
    """Sim^ of the candidates of a row. `s` and `moved`: shape (candidates,)."""
    kth, w = truncation(s, moved, shared.k, shared.epsilon, shared.longest)
    return np.maximum(s, kth - w)


def truncation(
    s: Doubles, moved: Doubles, k: int, epsilon: float, longest: int
) -> tuple[float, Doubles]:
    """Sim_k of a row of candidates, and the w of each.

    `s` and `moved`: shape (candidates,), as is w; `epsilon`: nats a draw, as claimed.
    """
    few = min(k, len(s))
    kth = float(np.partition(s, len(s) - few)[len(s) - few])
    spread = math.log(max(k * (longest - k) / RHO, 1.0))
    return kth, np.minimum(kth, 4 * k * moved / epsilon * spread)
