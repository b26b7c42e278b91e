"""Private replacement selection: a random target item replaces a source item.          [X-Map, 4.1]

    P(j) = exp(epsilon X-Sim(i, j) / (2 GS)) / sum over l in I(i) of the same,   GS = 2

X-Sims are rounded to steps of 2^-10. Each step has an integer weight, so that draws are exact: one
uniform integer below the sum of the weights of all candidates. No weight exceeds e^(epsilon / 2)
times another, verified in integers, so changing all X-Sims changes no probability by more than a
factor of e^epsilon.

No more of the published claim holds. I(i) itself depends on the ratings, and the draws of all
source items are separate releases.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.channels.certificate import exp_lower
from tacit.crossdomain.x_map.draws import Draws, Octets
from tacit.crossdomain.x_map.extender import Extension
from tacit.crossdomain.x_map.generator import NOTHING
from tacit.engines.engine import Engine, cut
from tacit.errors import RequestError
from tacit.kernels.paths import Found
from tacit.ratings import Codes

STEPS = 1 << 10
TOTAL_BITS = 42  # bits of the largest weight: the sum of a million candidates has at most 62
MOST_EPSILON = 40
STAGE = "replacement"


class Candidates(NamedTuple):
    """A block of source items, and their reachable target items."""

    code: Codes
    found: Found


class Lottery(NamedTuple):
    """Shared inputs of all blocks: the key, and the weight of each step from -1 to 1."""

    key: Octets
    weights: NDArray[np.int64]


class Replacements(NamedTuple):
    """The replacement of each item of a block, -1 without candidates."""

    target: Codes


def weights(epsilon: str) -> NDArray[np.int64]:
    """Return the weight of each X-Sim from -1 to 1 in steps of 2^-10, shape (2049,).

    `epsilon`: nats. The lowest weight is a power of two, b. The others are at most
    b e^(epsilon (1 + X-Sim) / 4), because Taylor sums are lower bounds. Raises `RequestError` above
    40 nats.
    """
    nats = Fraction(epsilon)
    if not 0 < nats <= MOST_EPSILON:
        raise RequestError(
            f"The epsilon of replacements must be above 0 and at most {MOST_EPSILON}, got "
            f"{epsilon}."
        )
    lowest = 1 << TOTAL_BITS - math.ceil(float(nats) / 2 / math.log(2))
    ladder = (exp_lower(nats * step / (4 * STEPS)) for step in range(2 * STEPS + 1))
    return np.array([int(lowest * rung) for rung in ladder], np.int64)


def drawn(extension: Extension, n_items: int, epsilon: str, draws: Draws, engine: Engine) -> Codes:
    """Draw a replacement of each item at `epsilon` nats each, shape (items,), -1 for target items
    and those without candidates. All users share one map, because another draw would cost again."""
    codes, (start, other, s) = extension.sources, extension.found
    blocks = [
        Candidates(codes[run], Found(
            start[run.start : run.stop + 1] - start[run.start],
            other[start[run.start] : start[run.stop]], s[start[run.start] : start[run.stop]],
        ))
        for run in cut(len(codes), engine.blocks)
    ]  # fmt: skip
    parts = engine.over(draw, blocks, Lottery(draws.octets, weights(epsilon)))
    chosen = np.full(n_items, NOTHING, np.int32)
    chosen[codes] = np.concatenate([part.target for part in parts])
    return chosen


def draw(candidates: Candidates, lottery: Lottery) -> Replacements:
    """Draw a replacement for each item of a block. The drawn integers are secret."""
    reached, draws = candidates.found, Draws.of(lottery.key)
    chosen = np.full(len(candidates.code), NOTHING, np.int32)
    step = np.rint(reached.s * STEPS).astype(np.int64) + STEPS
    heavy = lottery.weights[np.clip(step, 0, 2 * STEPS)]
    for row, item in enumerate(candidates.code.tolist()):
        mine = slice(reached.start[row], reached.start[row + 1])
        ends = np.cumsum(heavy[mine])
        if len(ends):
            number = draws.below(STAGE, item, int(ends[-1]))
            chosen[row] = reached.other[mine][np.searchsorted(ends, number, side="right")]
    return Replacements(chosen)
