"""Group commit: pending uploads are stored in one transaction, and acknowledged afterwards.

A commit reserves quotas, stores new reports, and returns unused reservations.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import NamedTuple

from tacit.collector.limits.limits import Charge, Excess, Limits, Reservation
from tacit.collector.storage.store import (
    ReportOutcome,
    ReportStore,
    StoredReport,
    StoreError,
    UncertainError,
)


class Cost(NamedTuple):
    """Cost of an upload to its token.

    `charge`: the most it can cost. `refused`: refused reports, which cost as much as stored ones.
    `paid`: an earlier reservation.
    """

    charge: Charge
    refused: int
    paid: Reservation | None = None


class Batch(NamedTuple):
    """Rows of an upload, their cost, and the future of their outcomes. Without `cost`: no quota."""

    rows: Sequence[StoredReport]
    future: "asyncio.Future[list[ReportOutcome]]"
    cost: Cost | None


Result = list[ReportOutcome] | Excess
"""Outcomes of an upload's rows, or a refusal by quota."""


def commit(store: ReportStore, limits: Limits | None, batches: Sequence[Batch]) -> list[Result]:
    """Return the result of each upload, durable on return.

    Raises `StoreError` if nothing is stored.
    """
    granted = _reserved(limits, batches)
    accepted = [
        (batch, grant)
        for batch, grant in zip(batches, granted, strict=True)
        if not isinstance(grant, Excess)
    ]
    try:
        outcomes = iter(_stored(store, [batch.rows for batch, _ in accepted]))
    except UncertainError:
        raise  # reports that may be stored stay reserved
    except Exception:
        _give_back(limits, [_unused(batch, grant, None) for batch, grant in accepted])
        raise
    results = [grant if isinstance(grant, Excess) else next(outcomes) for grant in granted]
    if limits is not None:
        stored = [each for each in results if not isinstance(each, Excess)]
        pairs = zip(accepted, stored, strict=True)
        _give_back(limits, [_unused(batch, grant, each) for (batch, grant), each in pairs])
    return results


def _reserved(limits: Limits | None, batches: Sequence[Batch]) -> list[Reservation | Excess | None]:
    """Return what each upload's token was granted; None without quotas."""
    costs = [batch.cost for batch in batches]
    charges = [cost.charge for cost in costs if cost is not None and cost.paid is None]
    if limits is None or not charges:
        return [cost and cost.paid for cost in costs]
    granted = iter(limits.reserve(charges))
    return [cost and (cost.paid or next(granted)) for cost in costs]


def _stored(
    store: ReportStore, parts: Sequence[Sequence[StoredReport]]
) -> list[list[ReportOutcome]]:
    rows = [row for part in parts for row in part]
    outcomes = store.insert(rows) if rows else []
    ends = list(accumulate((len(part) for part in parts), initial=0))
    return [outcomes[start:end] for start, end in pairwise(ends)]


def _unused(
    batch: Batch, grant: Reservation | None, outcomes: Sequence[ReportOutcome] | None
) -> tuple[Reservation, int] | None:
    """Return the unused part of a reservation. `outcomes`: None if nothing was stored."""
    if batch.cost is None or grant is None:
        return None
    spent = 0 if outcomes is None else outcomes.count(ReportOutcome.STORED) + batch.cost.refused
    return grant, batch.cost.charge.reports - spent


def _give_back(limits: Limits | None, unused: Sequence[tuple[Reservation, int] | None]) -> None:
    """Return reservations.

    If the database fails, they are lost: a token may send less, never more.
    """
    back = [each for each in unused if each is not None and each[1]]
    if limits is not None and back:
        with suppress(StoreError):
            limits.give_back(back)
