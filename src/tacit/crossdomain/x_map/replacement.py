"""Private replacement selection: a random target item replaces a source item.          [X-Map, 4.1]

    P(j) = exp(epsilon X-Sim(i, j) / (2 GS)) / sum over l in I(i) of the same,   GS = 2

X-Sims are rounded to steps of 2^-10. Each step has an integer weight, so that draws are exact: one
uniform integer below the sum of the weights of all candidates. No weight exceeds e^(epsilon / 2)
times another, verified in integers, so changing all X-Sims changes no probability by more than a
factor of e^epsilon.

No more of the published claim holds. I(i) itself depends on the ratings, and the draws of all
source items are separate releases.

Secret draws that do not depend on the engine: words per stage and item, derived from one key.

The words of item i at a stage are SHAKE-256(key | stage | i), with a key of 32 bytes from the
operating system, fresh in every run. Without the key they are indistinguishable from fair coins.
With it, an item gets the same words in any block and on any machine.

The generator: maps a source profile to an AlterEgo in the target, item by item.

    j*(i) = argmax over j in I(i) of X-Sim(i, j),  I(i): target items with a path to i   [NX-Map, 4]
    AlterEgo(u) = {(j*(i), r_ui): i a source item that u rated}, and u's own target ratings

Ratings with the same replacement are averaged. A user's own rating of a target item takes
precedence over mapped ones.
"""

import hashlib
import math
import os
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channels.certificate import exp_lower
from tacit.crossdomain.neighbours import TargetProfiles, own, profile_of
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.extender import Extension
from tacit.engines.engine import Engine, cut
from tacit.errors import RequestError
from tacit.kernels.neighbourhood.paths import Found
from tacit.ratings import Codes, Mask

NOTHING = -1


def best(extension: Extension, n_items: int) -> Codes:
    """Return the replacement of each item, shape (items,), -1 for target items and those without
    one."""
    start, other, s = extension.found
    counts = np.diff(start)
    some = np.flatnonzero(counts)
    most = np.repeat(np.maximum.reduceat(s, start[some]), counts[some]) if len(some) else s
    first = np.minimum.reduceat(np.where(s == most, other, n_items), start[some])
    chosen = np.full(n_items, NOTHING, np.int32)
    chosen[extension.sources[some]] = first
    return chosen


def alteregos(trial: Trial, replacement: Codes, users: Mask) -> TargetProfiles:
    """Return all target ratings, and the mapped ratings of `users`, a mask of shape (people,)."""
    ratings = trial.domains.ratings
    to = replacement[ratings.items]
    mapped = ~trial.in_target & users[ratings.users] & (to != NOTHING)
    return united(own(trial), averaged(profile_of(trial, mapped, to)), ratings.n_items)


def averaged(profile: TargetProfiles) -> TargetProfiles:
    """Average the points of each user and item, rounded half up. One row each."""
    if len(profile.users) == 0:
        return profile
    fresh = (np.diff(profile.users, prepend=-1) != 0) | (np.diff(profile.items, prepend=-1) != 0)
    at = np.flatnonzero(fresh)
    count = np.diff(np.append(at, len(fresh)))
    total = np.add.reduceat(profile.points, at)
    latest = np.maximum.reduceat(profile.times, at)
    points = (2 * total + count) // (2 * count)
    return TargetProfiles(profile.users[at], profile.items[at], points, latest)


def united(first: TargetProfiles, second: TargetProfiles, n_items: int) -> TargetProfiles:
    """Merge two profiles. `first` has precedence for the same user and item."""
    if not len(second.users):
        return first
    keys = [part.users.astype(np.int64) * n_items + part.items for part in (first, second)]
    fresh = ~np.isin(keys[1], keys[0])
    order = np.argsort(np.concatenate([keys[0], keys[1][fresh]]), kind="stable")
    return TargetProfiles(
        np.concatenate([first.users, second.users[fresh]])[order],
        np.concatenate([first.items, second.items[fresh]])[order],
        np.concatenate([first.points, second.points[fresh]])[order],
        np.concatenate([first.times, second.times[fresh]])[order],
    )


Words = NDArray[np.uint64]
Octets = NDArray[np.uint8]
KEY_BYTES = 32


class Draws(NamedTuple):
    """`key`: secret, 32 bytes. A known key is for tests only."""

    key: bytes

    @classmethod
    def secret(cls) -> Self:
        """Draw a key from the operating system."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def of(cls, octets: Octets) -> Self:
        """Return draws from a key as an array, as sent to workers. Shape (32,)."""
        return cls(octets.tobytes())

    @property
    def octets(self) -> Octets:
        """The key as an array, for workers. Shape (32,)."""
        return np.frombuffer(self.key, np.uint8)

    def words(self, stage: str, item: int, count: int) -> Words:
        """Return `count` uniform 64-bit words, a prefix of any longer request. Shape (count,)."""
        message = self.key + stage.encode() + b"|" + item.to_bytes(8, "little")
        return np.frombuffer(hashlib.shake_256(message).digest(8 * count), "<u8").astype(np.uint64)

    def below(self, stage: str, item: int, bound: int) -> int:
        """Return an exactly uniform integer from 0 to bound - 1, by rejection: words from the
        largest multiple of `bound` on are discarded. `bound` is at most 2^63."""
        limit = (1 << 64) // bound * bound
        count = 4
        while True:
            fair = (word for word in self.words(stage, item, count).tolist() if word < limit)
            if (first := next(fair, None)) is not None:
                return first % bound
            count *= 2


def uniform(words: Words) -> NDArray[np.float64]:
    """Convert words to floats in (0, 1), of the same shape."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


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


def check_epsilon(epsilon: str) -> None:
    """Raise `RequestError` unless an epsilon of replacements is above 0 and at most 40 nats."""
    if not 0 < Decimal(epsilon) <= MOST_EPSILON:
        raise RequestError(
            f"The epsilon of replacements must be above 0 and at most {MOST_EPSILON}, got "
            f"{epsilon}."
        )


@lru_cache(maxsize=4)
def weights(epsilon: str) -> NDArray[np.int64]:
    """Return the weight of each X-Sim from -1 to 1 in steps of 2^-10, shape (2049,).

    `epsilon`: nats. The lowest weight is a power of two, b. The others are at most
    b e^(epsilon (1 + X-Sim) / 4), because Taylor sums are lower bounds. Raises `RequestError` above
    40 nats.
    """
    check_epsilon(epsilon)
    nats = Fraction(epsilon)
    lowest = 1 << TOTAL_BITS - math.ceil(float(nats) / 2 / math.log(2))
    ladder = (exp_lower(nats * step / (4 * STEPS)) for step in range(2 * STEPS + 1))
    table = np.array([int(lowest * rung) for rung in ladder], np.int64)
    table.flags.writeable = False  # one array for all calls
    return table


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
