"""Gain of a fitted model over popularity, on reports that were held out of both.

A tenth of the slots is held out by a public hash of user and item, and two models are fitted to the
rest: the one to be published, and a baseline. Reports are noisy, and every gain is linear in what
they estimate without bias, so its expectation is the gain on the true ratings. For a rating model,
with A = 1 at a rated slot, r the rating, p its prediction and b that of the item means,

    gain = sum of A ((r - b)^2 - (r - p)^2) / sum of A
         = sum of 2 (p - b) A r - (p^2 - b^2) A  / sum of A

For a top-N model where presence is public, with the rank of a slot among the items that the user
could be recommended,

    gain = sum of A (1 / log2(1 + rank) - 1 / log2(1 + rank by popularity)) / sum of A

A and A r are replaced by their debiased reports (`tacit.models.evidence`). The held-out slots were
randomized independently of all others, so predictions and ranks do not depend on their noise. The
standard error is that of a ratio of sums over users. Everything is computed from reports, so it has
no privacy cost beyond theirs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.collection.public_hash import hashes, pair_keys
from tacit.models import Fitted, FittedLists, evidence
from tacit.models.evidence.evidence import hidden, reported
from tacit.models.evidence.slot_reports import decode
from tacit.models.lists.exclusion import reported_items
from tacit.models.lists.interactions import presence_of
from tacit.publishing.presence_gain import is_held_out_user, presence_gains
from tacit.ratings import Codes, Mask
from tacit.reports import Reports

Doubles = NDArray[np.float64]
Fit = Callable[[Reports], Any]
"""Fit a model to reports, the same one each time."""

SHARE = 0.1
"""Fraction of the slots that is held out."""
HOLD = 0xA24BAED4963EE407
"""Odd multiplier of the hashes that hold slots out."""
MOST_SLOTS = 20_000_000
"""Most slots of the plan catalogue that are read, unrated ones included, 140 MB."""
MOST_SCORES = 100_000_000
"""Most scores of items that are ranked. Of more users, those of the smallest hashes are."""
FEWEST_USERS = 30
"""Fewest users of whom a standard error is computed."""
BLOCK = 1 << 22
"""Scores in memory at once."""


@dataclass(frozen=True)
class Gain:
    """Gain over popularity per held-out rating, and its standard error.

    `unit`: "squared error" in squared units of the scale, or "discounted gain" or "explained
    presence", from 0 to 1. `users`:
    number of users whose reports were held out.
    """

    unit: str
    value: float
    error: float
    users: int


def held_out_gain(reports: Reports, fit: Fit, baseline: Fit) -> Gain | None:
    """Return the gain of `fit` over `baseline` on held-out reports.

    Both are fitted to the other reports, and return either `Fitted` or `FittedLists`. For a top-N
    model of protected presence, users are held out (`tacit.publishing.presence_gain`). None for
    fewer than 30 users with held-out reports, and for reports that show no rating.
    """
    slots = reports if reports.plan != "catalogue" else with_unrated_slots(reports)
    test = is_held_out(slots)
    training, held = slots.where(~test), slots.where(test)
    if len(np.unique(held.users)) < FEWEST_USERS or not all(
        reported(part).any() for part in (training, held)
    ):
        return None
    present = debiased_presence(held)
    popular = baseline(training)
    if _ranks_only(popular) and hidden(held) is not None:
        return _presence_gain(reports, fit, baseline)
    model = fit(training)
    if isinstance(model, Fitted):
        gains, unit = _error_reduction(held, present, model, popular), "squared error"
    else:
        some = _ranked_users(held)
        held, present = held.where(some), present[some]
        gains, unit = _rank_gains(training, held, present, model, popular), "discounted gain"
    return _ratio(unit, held.users, gains, present)


def _presence_gain(reports: Reports, fit: Fit, baseline: Fit) -> Gain | None:
    if np.count_nonzero(is_held_out_user(reports)) < FEWEST_USERS:
        return None
    measured = presence_gains(reports, fit, baseline)
    if measured is None:
        return None
    gains, items = measured
    return _ratio("explained presence", np.arange(len(gains), dtype=np.int32), gains, items)


def _ranks_only(model: Any) -> bool:
    return isinstance(model, FittedLists)


def is_held_out(reports: Reports) -> Mask:
    """Return which rows are held out, by their user and item alone; shape (n,)."""
    users, items = hashes(reports.user_ids), hashes(reports.item_ids)
    keys = pair_keys(users[reports.users], items[reports.items], HOLD)
    return np.asarray(keys < np.uint64(SHARE * 2.0**64), np.bool_)


def with_unrated_slots(reports: Reports) -> Reports:
    """Return reports of the plan catalogue with a row for each slot, those "missing" included.

    Of at most 20,000,000 slots: of more users, those of the smallest hashes.
    """
    n_items = reports.n_items
    some = _smallest_hashes(reports, max(1, MOST_SLOTS // n_items))
    number = np.full(reports.n_users, -1, np.int64)
    number[some] = np.arange(len(some))
    mine = number[reports.users] >= 0
    channel_of = np.zeros(len(some), np.uint8)
    channel_of[number[reports.users[mine]]] = reports.channel_of[mine]
    silent = np.array([channel.outputs.index(None) for channel in reports.channels])
    symbols = np.repeat(silent[channel_of][:, None], n_items, axis=1)
    symbols[number[reports.users[mine]], reports.items[mine]] = reports.symbols[mine]
    return replace(
        reports,
        users=np.repeat(some, n_items),
        items=np.tile(np.arange(n_items, dtype=np.int32), len(some)),
        symbols=symbols.ravel().astype(reports.symbols.dtype),
        channel_of=np.repeat(channel_of, n_items),
        plan=f"sample:{n_items}",
    )


def debiased_presence(held: Reports) -> Doubles:
    """Return an unbiased estimate of each row's presence, 1 where it is public; shape (n,)."""
    missing = hidden(held)
    if missing is None:
        return np.ones(len(held))
    p, q = missing.rated[held.users], missing.unrated[held.users]
    return (reported(held) - q) / (p - q)


def _error_reduction(held: Reports, present: Doubles, model: Fitted, popular: Fitted) -> Doubles:
    """Return the reduction of the squared error at each held-out slot, (n,)."""
    middle = (held.scale.values[0] + held.scale.values[-1]) / 2
    p, b = (
        each.predict_codes(held.users, held.items).astype(np.float64) - middle
        for each in (model, popular)
    )
    return 2 * (p - b) * _debiased_ratings(held) - (p**2 - b**2) * present


def _debiased_ratings(held: Reports) -> Doubles:
    """Return an unbiased estimate of A (r - middle) at each slot, (n,)."""
    order = np.lexsort((held.items, held.users))
    shown = order[reported(held)[order]]
    known, values = evidence(held), np.zeros(len(held))
    rates = known.presence.share / known.presence.lift[known.item_of]
    values[shown] = decode(known).values * rates
    return values


def _ranked_users(held: Reports) -> Mask:
    """Return the rows of the users whose items are ranked, (n,)."""
    some = np.zeros(held.n_users, np.bool_)
    some[_smallest_hashes(held, max(1, MOST_SCORES // held.n_items))] = True
    return some[held.users]


def _rank_gains(
    training: Reports, held: Reports, present: Doubles, model: FittedLists, popular: FittedLists
) -> Doubles:
    """Return each held-out slot's gain in discounted rank, (n,)."""
    ours, theirs = (1 / np.log2(1 + ranks(training, held, each)) for each in (model, popular))
    return (ours - theirs) * present


def ranks(training: Reports, held: Reports, model: FittedLists) -> Doubles:
    """Return the rank, from 1, of each held-out slot by the reports in `training`; shape (n,).

    Presence is public. The candidates are the items without a report in `training`. Ties are in the
    order of items.
    """
    known, n_items = presence_of(training), held.n_items
    score = model.scorer(reported_items(known.reported), "provider")
    order = np.lexsort((held.items, held.users))
    users, first = np.unique(held.users[order], return_index=True)
    ends = np.append(first, len(order))
    rank = np.empty(len(held))
    size = max(1, BLOCK // n_items)
    for at in range(0, len(users), size):
        some = users[at : at + size]
        rows = order[ends[at] : ends[min(at + size, len(users))]]
        cells = np.searchsorted(some, held.users[rows]), held.items[rows]
        is_candidate = known.reported[some].toarray() == 0
        scores = np.where(is_candidate, score(some), -np.inf)
        rank[rows] = _row_ranks(scores)[cells]
    return rank


def _row_ranks(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank, from 1, of each entry in its row, best first, ties by column."""
    best = np.argsort(-scores, axis=1, kind="stable")
    rank = np.empty(scores.shape, np.int64)
    rank[np.arange(len(scores))[:, None], best] = np.arange(1, scores.shape[1] + 1)
    return rank


def _smallest_hashes(reports: Reports, most: int) -> Codes:
    """Return the `most` users of the smallest hashes, or all, ascending."""
    return np.sort(np.argsort(hashes(reports.user_ids), kind="stable")[:most]).astype(np.int32)


def _ratio(unit: str, users: Codes, gains: Doubles, present: Doubles) -> Gain | None:
    """Return sum of gains / sum of presence, and its standard error over users."""
    tops, bottoms = (np.bincount(users, each) for each in (gains, present))
    total = float(bottoms.sum())
    if total <= 0:
        return None
    value = float(tops.sum()) / total
    error = float(np.sqrt(((tops - value * bottoms) ** 2).sum())) / total
    return Gain(unit, value, error, len(np.unique(users)))
