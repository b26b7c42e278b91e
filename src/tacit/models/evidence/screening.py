"""Screening: drop reports that are improbable for their users.

Fake users can shift an item's ratings in proportion to their number. Their reported stars do not
expose them: noise makes any symbol possible. Where presence is public, their *other* rated items
can. The rank of a report is the fraction of users whose other ratings make them less likely to have
rated its item,

    t_ui = P(p_vi < p_ui),    p as in `Spectrum.probabilities`, v any user.

Genuine reports have high ranks. A user who rates an item for another reason than preference has a
uniform rank, so that an item's ranks are a mixture (1 - e_i) h + e_i, where h is their density over
items of similar popularity. A report is dropped where it more likely belongs to the second
component. An item is screened only if the mixture's log-likelihood exceeds that of h by log(items),
which rarely happens at random.

Users whose other ratings are chosen to match the item are not detected. Where presence is protected
nothing is dropped: half of all reports are then of unrated items, by design of the channel.
"""

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.presence_spectrum import Spectrum, spectrum

DIRECTIONS = 20
COMPARED = 500  # users sampled for ranks: a fraction then has an error of .02
BINS = 20  # of ranks
STRATUM = 25_000  # reports of items of similar popularity, which share a density
FEWEST = 4  # strata
MOST = 0.02  # fake users, as a fraction of all
ROUNDS = 100  # EM iterations; fractions near zero converge last
BLOCK = 1000  # items per batch of probabilities
Doubles = NDArray[np.float64]


def screened(data: Evidence) -> Evidence:
    """Return the evidence without reports that are more likely fake than genuine."""
    return data.where(~made_up(data))


def made_up(data: Evidence) -> NDArray[np.bool_]:
    """Return which reports are more likely fake than genuine, in canonical order, shape (n,)."""
    if data.hidden is not None or min(data.presence.shape) <= 2:
        return np.zeros(len(data), np.bool_)
    items, n = data.item_of, len(data.item_ids)
    density = _densities(places(data), items, n)
    share = _shares(density, items, n, MOST * len(np.unique(data.user_of)))[items]
    mixed = (1 - share) * density + share
    gain = np.bincount(items, np.log(mixed / density), n)
    return (gain > np.log(n))[items] & (share > 0.5 * mixed)


def places(data: Evidence) -> Doubles:
    """Return t, the fraction of users less likely to have rated the item, ties by half, (n,)."""
    matrix, items = data.presence, data.item_of
    known = spectrum(matrix, DIRECTIONS)
    likely = known.probabilities(matrix, data.user_of, items)
    order, (people, n) = np.argsort(items, kind="stable"), matrix.shape
    starts = np.searchsorted(items[order], np.arange(n + 1))
    compared = np.sort(np.random.default_rng(0).permutation(people)[:COMPARED]).astype(np.int32)
    ranks = np.empty(len(data))
    for first in range(0, n, BLOCK):
        block = np.arange(first, min(first + BLOCK, n), dtype=np.int32)
        others = np.sort(_probabilities(known, matrix, compared, block), axis=0)
        for column, item in enumerate(block):
            mine = order[starts[item] : starts[item + 1]]
            below, level = (
                np.searchsorted(others[:, column], likely[mine], side) for side in ("left", "right")
            )
            ranks[mine] = (below + level) / (2 * len(compared))
    return ranks


def _probabilities(
    known: Spectrum, matrix: PresenceMatrix, people: NDArray[np.int32], items: NDArray[np.int32]
) -> Doubles:
    """Return P(rated) of users and items, excluding their own reports; shape (users, items)."""
    entries = matrix.reported[people][:, items].toarray()
    users = np.repeat(people, len(items))
    probabilities = known.probabilities(matrix, users, np.tile(items, len(people)), entries.ravel())
    return probabilities.reshape(entries.shape)


def _densities(places: Doubles, items: NDArray[np.int32], n: int) -> Doubles:
    """Return h at each report, a histogram of ranks among items of similar popularity."""
    stratum, bins = _strata(items, n)[items], np.minimum(places * BINS, BINS - 1).astype(np.int64)
    histogram = np.ones((stratum.max() + 1, BINS))
    np.add.at(histogram, (stratum, bins), 1)
    histogram *= BINS / histogram.sum(1, keepdims=True)
    return histogram[stratum, bins]


def _strata(items: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return the stratum of each item, the least popular ones in 0, shape (items,)."""
    counts, strata = np.bincount(items, minlength=n), max(FEWEST, len(items) // STRATUM)
    order, stratum = np.argsort(counts, kind="stable"), np.empty(n, np.int64)
    middle = np.cumsum(counts[order]) - counts[order] / 2
    stratum[order] = np.minimum(middle * strata / len(items), strata - 1)
    return stratum


def _shares(density: Doubles, items: NDArray[np.int32], n: int, most: float) -> Doubles:
    """Return e, the maximum-likelihood fraction of fake reports per item.

    `most`: upper bound on fake reports per item.
    """
    counts, share = np.maximum(np.bincount(items, minlength=n), 1), np.full(n, 0.1)
    for _ in range(ROUNDS):
        here = share[items]
        expected = np.bincount(items, here / (here + (1 - here) * density), n)
        share = np.minimum(expected, most) / counts
    return share
