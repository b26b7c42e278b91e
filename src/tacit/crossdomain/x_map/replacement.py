"""Private replacement selection: a target item drawn in the place of a source item.    [X-Map, 4.1]

    P(j) = exp(epsilon X-Sim(i, j) / (2 GS)) / sum over l in I(i) of the same,   GS = 2

X-Sims are rounded to steps of 2^-10. Each step has a whole weight, so that a draw is exact: one
fair integer below the sum of the weights of all candidates. No weight is more than e^(epsilon / 2)
times another, which is checked in integers, and so changing all X-Sims at once changes no
probability by more than e^epsilon.

That is all that holds of the published claim. I(i) itself depends on the ratings, and every source
item's draw is a release of its own.
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
TOTAL_BITS = 42  # of the largest weight; a million candidates then add up in 62
MOST_EPSILON = 40
STAGE = "replacement"


class Candidates(NamedTuple):
    """A block of source items, and what each of them reaches."""

    code: Codes
    found: Found


class Lottery(NamedTuple):
    """What every block needs: the key, and the weight of each step from -1 to 1."""

    key: Octets
    weights: NDArray[np.int64]


class Replacements(NamedTuple):
    """The replacement of each item of a block; -1 for one that reaches nothing."""

    target: Codes


def weights(epsilon: str) -> NDArray[np.int64]:
    """The weight of each X-Sim from -1 to 1 in steps of 2^-10, shape (2049,); `epsilon`: nats.

    The lowest is a power of two, b; the others are at most b e^(epsilon (1 + X-Sim) / 4), since a
    Taylor sum never is above what it tends to. Raises `RequestError` above 40 nats.
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
    """A replacement of each item, shape (items,), drawn at `epsilon` nats each; -1 for target items
    and those that reach nothing. One map serves everybody: to draw again would be to pay again."""
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
    """Draw for each item of a block. Secret: the place below the sum of its candidates' weights."""
    found, draws = candidates.found, Draws.of(lottery.key)
    chosen = np.full(len(candidates.code), NOTHING, np.int32)
    step = np.rint(found.s * STEPS).astype(np.int64) + STEPS
    heavy = lottery.weights[np.clip(step, 0, 2 * STEPS)]
    for row, item in enumerate(candidates.code.tolist()):
        mine = slice(found.start[row], found.start[row + 1])
        ends = np.cumsum(heavy[mine])
        if len(ends):
            place = draws.below(STAGE, item, int(ends[-1]))
            chosen[row] = found.other[mine][np.searchsorted(ends, place, side="right")]
    return Replacements(chosen)
