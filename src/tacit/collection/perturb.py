"""What would leave the devices: every rating of a table through its channel, in bulk."""

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.channels.thresholds import CHOICE
from tacit.collection.keystream import BulkWords
from tacit.collection.plan import Plan
from tacit.collection.public_hash import KEEP, row_keys
from tacit.collection.sampler import BulkSampler
from tacit.collection.slots import SlotReports, slot_reports
from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import THERE, RatingScale


def perturb(
    ratings: object,
    plan: Plan,
    *,
    channel_of_person: NDArray[np.uint8] | None = None,
    words: BulkWords | None = None,
) -> Reports:
    """What the devices of all people in the vocabulary send under a plan.

    `ratings`: anything that `as_ratings` takes, on the scale of the plan's channels.
    Reports come by person, then by item, whatever the order of `ratings`. Under `Rated` there is
    one for each rating that the plan keeps; which of several channels draws it is public:
    `channel_of_person` names one for each person (each may choose their own epsilon), by default a
    hash of person and item spreads them. Under `Catalogue` and `Sample`, as
    `tacit.collection.slots.slot_reports` says. `words` is replaced in tests only: secret words are
    drawn by default.

    Raises `RequestError` when the ratings are on another scale than the channels.
    """
    whose = on_scale_of(plan, ratings)
    if plan.asked_slots(whose.n_items) is not None:
        blocks = slot_reports(whose, plan, channel_of_person=channel_of_person, words=words)
        return reports_of(whose, plan, _joined(list(blocks)))
    # A file may be sorted by rating. Reports in its order would then be a monotone sequence seen
    # through noise, and fitting one gives nearly every rating away, whatever epsilon says of each.
    kept = whose.by_person()
    if plan.cap is not None:
        kept = kept.where(kept_rows(kept, plan.cap))
    channel_of = _channel_of(kept, plan, channel_of_person)
    mixed = channel_of if len(plan.channels) > 1 else None
    symbols = BulkSampler(plan.channels, words).draw(kept.levels, mixed)
    return reports_of(whose, plan, SlotReports(kept.users, kept.items, symbols, channel_of))


def on_scale_of(plan: Plan, ratings: object) -> Ratings:
    """The ratings, read on the scale of the plan's channels from anything that `as_ratings` takes.

    Raises `RequestError` for `Ratings` on another scale, and for what is no plan.
    """
    if not hasattr(plan, "asked_slots"):
        raise RequestError(f"plan must be a plan such as Rated(channel), got {plan!r}.")
    if not isinstance(ratings, Ratings):
        return as_ratings(ratings, scale=_scale(plan.channels[0]))
    ratings.require_distinct_pairs()  # one report per slot
    if plan.channels[0].levels != ratings.scale.levels:
        raise RequestError(f"The plan's channels must be on the ratings' scale {ratings.scale}.")
    return ratings


def _scale(channel: Channel) -> RatingScale:
    """The scale that a channel's table is on."""
    low, *others = channel.levels
    return RatingScale(low, others[-1], others[0] - low) if others else RatingScale.parse(THERE)


def _joined(blocks: list[SlotReports]) -> SlotReports:
    return SlotReports(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def reports_of(ratings: Ratings, plan: Plan, rows: SlotReports) -> Reports:
    """The rows, with all that the plan and the public vocabularies say of them."""
    return Reports(
        users=rows.users,
        items=rows.items,
        symbols=rows.symbols,
        channel_of=rows.channel_of,
        channels=plan.channels,
        scale=ratings.scale,
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        guarantee=ratings.qualified(plan.guarantee),
        plan=plan.name,
        name=ratings.name,
        cap=plan.cap,
    )


def kept_rows(ratings: Ratings, cap: int) -> NDArray[np.bool_]:
    """Which rows survive a cap: each person's `cap` smallest public hashes, whatever the values."""
    keys = row_keys(ratings, KEEP)
    order = np.lexsort((keys, ratings.users))
    people = ratings.users[order]
    starts = np.searchsorted(people, people)
    kept = np.empty(len(ratings), np.bool_)
    kept[order] = np.arange(len(ratings)) - starts < cap
    return kept


def _channel_of(
    ratings: Ratings, plan: Plan, of_person: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    if of_person is None:
        if len(plan.channels) == 1:
            return np.zeros(len(ratings), np.uint8)
        halves = row_keys(ratings, CHOICE) >> np.uint64(32)
        return ((halves * np.uint64(len(plan.channels))) >> np.uint64(32)).astype(np.uint8)
    if len(of_person) != ratings.n_users or of_person.max(initial=0) >= len(plan.channels):
        raise RequestError(
            f"channel_of_person must have one channel index, from 0 to {len(plan.channels) - 1}, "
            f"for each of the {ratings.n_users} users."
        )
    return of_person[ratings.users].astype(np.uint8)
