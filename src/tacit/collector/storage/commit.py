"""One commit of many uploads: what their tokens may send is reserved, what is new is stored, and
what was reserved for nothing is given back."""

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
    """What a token is charged for an upload. `charge`: what it could cost; `refused`: reports of it
    that the task does not take, which cost as much as stored ones. `paid`: where it was reserved
    already."""

    charge: Charge
    refused: int
    paid: Reservation | None = None


class Batch(NamedTuple):
    """The rows of an upload, what they cost, and who waits for them. Without a `cost` nothing is
    counted."""

    rows: Sequence[StoredReport]
    future: "asyncio.Future[list[ReportOutcome]]"
    cost: Cost | None


Result = list[ReportOutcome] | Excess
"""What became of an upload's rows, or that its token may not send it."""


def commit(store: ReportStore, limits: Limits | None, batches: Sequence[Batch]) -> list[Result]:
    """What became of each upload, durable on return. Raises `StoreError` for nothing stored."""
    granted = _reserved(limits, batches)
    taken = [
        (batch, grant)
        for batch, grant in zip(batches, granted, strict=True)
        if not isinstance(grant, Excess)
    ]
    try:
        found = iter(_stored(store, [batch.rows for batch, _ in taken]))
    except UncertainError:
        raise  # what may have been stored stays reserved
    except Exception:
        _give_back(limits, [_unused(batch, grant, None) for batch, grant in taken])
        raise
    results = [grant if isinstance(grant, Excess) else next(found) for grant in granted]
    if limits is not None:
        stored = [each for each in results if not isinstance(each, Excess)]
        pairs = zip(taken, stored, strict=True)
        _give_back(limits, [_unused(batch, grant, each) for (batch, grant), each in pairs])
    return results


def _reserved(limits: Limits | None, batches: Sequence[Batch]) -> list[Reservation | Excess | None]:
    """For each upload what its token was granted; None where nothing is counted."""
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
    found = store.insert(rows) if rows else []
    ends = list(accumulate((len(part) for part in parts), initial=0))
    return [found[start:end] for start, end in pairwise(ends)]


def _unused(
    batch: Batch, grant: Reservation | None, found: Sequence[ReportOutcome] | None
) -> tuple[Reservation, int] | None:
    """How much of a reservation was for nothing. `found`: None where nothing was stored at all."""
    if batch.cost is None or grant is None:
        return None
    spent = 0 if found is None else found.count(ReportOutcome.STORED) + batch.cost.refused
    return grant, batch.cost.charge.reports - spent


def _give_back(limits: Limits | None, unused: Sequence[tuple[Reservation, int] | None]) -> None:
    """A database that does not answer gives nothing back: a token may send less, never more."""
    back = [each for each in unused if each is not None and each[1]]
    if limits is not None and back:
        with suppress(StoreError):
            limits.give_back(back)
