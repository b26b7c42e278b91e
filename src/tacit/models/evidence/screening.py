"""Screening: reports that real reporters of an item would hardly send are left out.

Made-up people can push an item's ratings as far as their number allows. What they send of its stars
cannot betray them: noise makes any symbol possible. Where who rated what is public, *what else*
they rated can. The place of a report is the share of people whose other ratings make them less
likely to have rated its item,

    t_ui = P(p_vi < p_ui),    p as in `Spectrum.probabilities`, v any person.

Real reporters stand near the top. Whoever rates an item for another reason than their taste stands
anywhere, so that an item's places are a mixture (1 - e_i) h + e_i, where h is their density over
items about as popular. A report goes where it is more likely than not from the second part; items
are left alone unless the mixture says more than h by log(items), which chance seldom does.

People whose other ratings are chosen to go with the item are not found. Where presence is protected
nothing is left out: there, half of all reports are of items nobody rated, as the channel wants it.
"""

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.presence_spectrum import Spectrum, spectrum

DIRECTIONS = 20
COMPARED = 500  # people, drawn, that places are among: a share then has an error of .02
BINS = 20  # of places
STRATUM = 25_000  # reports of items about as popular, which have a density of their own
FEWEST = 4  # strata
MOST = 0.02  # made-up people, as a share of all
ROUNDS = 100  # of expectation and maximization; shares near zero settle last
BLOCK = 1000  # items whose probabilities are laid out at once
Doubles = NDArray[np.float64]


def screened(data: Evidence) -> Evidence:
    """The evidence without the reports that are more likely made up than not."""
    return data.where(~made_up(data))


def made_up(data: Evidence) -> NDArray[np.bool_]:
    """Which reports are more likely made up than not, in canonical order, shape (n,)."""
    if data.hidden is not None or min(data.presence.shape) <= 2:
        return np.zeros(len(data), np.bool_)
    items, n = data.item_of, len(data.item_ids)
    density = _densities(places(data), items, n)
    share = _shares(density, items, n, MOST * len(np.unique(data.user_of)))[items]
    mixed = (1 - share) * density + share
    gain = np.bincount(items, np.log(mixed / density), n)
    return (gain > np.log(n))[items] & (share > 0.5 * mixed)


def places(data: Evidence) -> Doubles:
    """t: the share of people less likely to have rated the item, ties by half, shape (n,)."""
    matrix, items = data.presence, data.item_of
    known = spectrum(matrix, DIRECTIONS)
    likely = known.probabilities(matrix, data.user_of, items)
    order, (people, n) = np.argsort(items, kind="stable"), matrix.shape
    starts = np.searchsorted(items[order], np.arange(n + 1))
    compared = np.sort(np.random.default_rng(0).permutation(people)[:COMPARED]).astype(np.int32)
    found = np.empty(len(data))
    for first in range(0, n, BLOCK):
        block = np.arange(first, min(first + BLOCK, n), dtype=np.int32)
        others = np.sort(_probabilities(known, matrix, compared, block), axis=0)
        for column, item in enumerate(block):
            mine = order[starts[item] : starts[item + 1]]
            below, level = (
                np.searchsorted(others[:, column], likely[mine], side) for side in ("left", "right")
            )
            found[mine] = (below + level) / (2 * len(compared))
    return found


def _probabilities(
    known: Spectrum, matrix: PresenceMatrix, people: NDArray[np.int32], items: NDArray[np.int32]
) -> Doubles:
    """P(rated) of these people and items, whether or not they did; shape (people, items)."""
    own = matrix.reported[people][:, items].toarray()
    users = np.repeat(people, len(items))
    found = known.probabilities(matrix, users, np.tile(items, len(people)), own.ravel())
    return found.reshape(own.shape)


def _densities(places: Doubles, items: NDArray[np.int32], n: int) -> Doubles:
    """h at each report: over the bins of places, among items about as popular; shape (reports,)."""
    stratum, bins = _strata(items, n)[items], np.minimum(places * BINS, BINS - 1).astype(np.int64)
    found = np.ones((stratum.max() + 1, BINS))
    np.add.at(found, (stratum, bins), 1)
    found *= BINS / found.sum(1, keepdims=True)
    return found[stratum, bins]


def _strata(items: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Which stratum each item is in, the least popular ones in 0, shape (items,)."""
    counts, strata = np.bincount(items, minlength=n), max(FEWEST, len(items) // STRATUM)
    order, found = np.argsort(counts, kind="stable"), np.empty(n, np.int64)
    middle = np.cumsum(counts[order]) - counts[order] / 2
    found[order] = np.minimum(middle * strata / len(items), strata - 1)
    return found


def _shares(density: Doubles, items: NDArray[np.int32], n: int, most: float) -> Doubles:
    """e: the likeliest share of each item's reports that are made up, at most `most` of them."""
    counts, share = np.maximum(np.bincount(items, minlength=n), 1), np.full(n, 0.1)
    for _ in range(ROUNDS):
        here = share[items]
        found = np.bincount(items, here / (here + (1 - here) * density), n)
        share = np.minimum(found, most) / counts
    return share
