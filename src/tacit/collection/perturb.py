"""Bulk simulation of devices: every rating of a table is randomized by its channel."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.channels.thresholds import CHOICE
from tacit.collection.plan import Plan
from tacit.collection.public_hash import KEEP, row_keys
from tacit.collection.sampler import BulkSampler, BulkWords, SeededWords
from tacit.collection.slots import SlotReports, channel_indices, slot_reports
from tacit.errors import RequestError, integer, shown
from tacit.privacy.guarantee import SIMULATED
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import THERE, RatingScale


def perturb(
    ratings: object,
    plan: Plan,
    *,
    channel_of_person: NDArray[np.uint8] | None = None,
    simulate_seed: int | None = None,
    words: BulkWords | None = None,
) -> Reports:
    """Return the reports of all users of the vocabulary under a plan.

    Reports are ordered by user, then by item, whatever the order of `ratings`. Under `Rated` there
    is one for each rating within the cap. Under `Catalogue` and `Sample` see
    `tacit.collection.slots.slot_reports`.

    Parameters
    ----------
    ratings
        In any form that `as_ratings` accepts, on the scale of the plan's channels.
    plan
        `Rated`, `Catalogue` or `Sample` with its channels.
    channel_of_person
        With several channels, the public channel index of each user, shape (users,). Default: a
        hash of user and item.
    simulate_seed
        Seed of reproducible noise, for experiments. The guarantee of the reports then states that
        it is not satisfied, and nothing fitted to them can be published. Default: secret noise from
        the operating system.
    words
        Replaced in tests only.

    Returns
    -------
    Reports
        The reports with the guarantee of the plan.

    Raises
    ------
    RequestError
        For ratings on another scale than the channels, and for an invalid `simulate_seed`.
    """
    if simulate_seed is not None:
        seeded = SeededWords(integer("simulate_seed", simulate_seed, 0))
        drawn = perturb(ratings, plan, channel_of_person=channel_of_person, words=seeded)
        return replace(drawn, guarantee=replace(drawn.guarantee, fails=SIMULATED))
    on_scale = on_scale_of(plan, ratings)
    if plan.reported_slots(on_scale.n_items) is not None:
        blocks = slot_reports(on_scale, plan, channel_of_person=channel_of_person, words=words)
        return reports_of(on_scale, plan, _joined(list(blocks)))
    # A file may be sorted by rating. Reports in its order would be a noisy monotone sequence, and
    # fitting one reveals nearly every rating, whatever the epsilon of each report.
    ordered = on_scale.by_person()
    if plan.cap is not None:
        ordered = ordered.where(kept_rows(ordered, plan.cap))
    channel_of = _channel_of(ordered, plan, channel_of_person)
    mixed = channel_of if len(plan.channels) > 1 else None
    symbols = BulkSampler(plan.channels, words).draw(ordered.levels, mixed)
    return reports_of(
        on_scale, plan, SlotReports(ordered.users, ordered.items, symbols, channel_of)
    )


def on_scale_of(plan: Plan, ratings: object) -> Ratings:
    """Read ratings on the scale of the plan's channels, in any form that `as_ratings` accepts.

    Raises `RequestError` for `Ratings` on another scale, and for an argument that is not a plan.
    """
    if isinstance(plan, type) or not hasattr(plan, "reported_slots"):
        raise RequestError(f"plan must be a plan such as Rated(channel), got {shown(plan)}.")
    if not isinstance(ratings, Ratings):
        return as_ratings(ratings, scale=_scale(plan.channels[0]))
    ratings.require_distinct_pairs()  # one report per slot
    if plan.channels[0].levels != ratings.scale.levels:
        raise RequestError(f"The plan's channels must be on the ratings' scale {ratings.scale}.")
    return ratings


def _scale(channel: Channel) -> RatingScale:
    """Return the scale of a channel's table."""
    low, *others = channel.levels
    return RatingScale(low, others[-1], others[0] - low) if others else RatingScale.parse(THERE)


def _joined(blocks: list[SlotReports]) -> SlotReports:
    return SlotReports(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def reports_of(ratings: Ratings, plan: Plan, rows: SlotReports) -> Reports:
    """Return `Reports` of rows, with the metadata of the plan and the public vocabularies."""
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
    """Return which rows are within a cap: each user's `cap` smallest public hashes."""
    keys = row_keys(ratings, KEEP)
    order = np.lexsort((keys, ratings.users))
    people = ratings.users[order]
    starts = np.searchsorted(people, people)
    within = np.empty(len(ratings), np.bool_)
    within[order] = np.arange(len(ratings)) - starts < cap
    return within


def _channel_of(
    ratings: Ratings, plan: Plan, of_person: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    if of_person is None:
        if len(plan.channels) == 1:
            return np.zeros(len(ratings), np.uint8)
        halves = row_keys(ratings, CHOICE) >> np.uint64(32)
        return ((halves * np.uint64(len(plan.channels))) >> np.uint64(32)).astype(np.uint8)
    return channel_indices(of_person, plan, ratings.n_users)[ratings.users]
