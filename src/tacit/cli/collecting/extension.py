"""Extensions of a task: their terms in the first task, and the items that a catalogue adds."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

    from tacit.wire.tasks.blocks import Growth
    from tacit.wire.tasks.task import Task

OPEN_AFTER = 28
"""Days from an extension until devices report its items."""
EXTENDING = ("items", "extend", "titles", "output", "open_after")
"""Parameters of `tacit task` with --extend."""


def require_extending(typed: Mapping[str, str]) -> None:
    """Raise `RequestError` for an option that --extend leaves as it is in the extended task."""
    if other := [option for name, option in typed.items() if name not in EXTENDING]:
        raise RequestError(
            f"{other[0]} cannot be changed by --extend, which adds items alone; leave it out, or "
            "write a new task."
        )


def extend_task(
    items: Path, extend: Path, titles: Path | None, output: Path, open_after: int | None
) -> None:
    """Write the task that adds the items of a catalogue to an earlier task."""
    from tacit.atomic_files import write_atomically
    from tacit.readers import catalogue
    from tacit.results.records import writable
    from tacit.wire.tasks.loading import loads

    writable(output, read=(items, extend, titles))
    parent = loads(extend.read_bytes())
    known = set(map(str, parent.items))
    table = catalogue(items)
    ids = [each for each in table["item"].to_list() if str(each) not in known]
    if not ids:
        raise RequestError(f"{items} has no item that the task does not have; nothing to extend.")
    named = None if parent.titles is None else _new_titles(items, table, titles, ids)
    as_text = isinstance(parent.items[0], str)
    added = [str(each) if as_text else each for each in ids]
    task = parent.extended(added, named, open_from=_open_from(parent, open_after))
    write_atomically(output, task.document)
    options.notice(
        f"{output}: {len(ids):,} new items, {len(task.items):,} in all. Address {task.address}"
    )


def _open_from(parent: "Task", open_after: int | None) -> int | None:
    """Return the epoch in which devices report the new items, None under the plan rated."""
    from tacit.wire.tasks.terms import DAY

    if parent.growth is None:
        if open_after is not None and not parent.hides_presence:
            raise RequestError(
                "--open-after has an effect under a plan over slots only: the plan rated reports "
                "each rating when it is made; leave it out."
            )
        return None
    days = OPEN_AFTER if open_after is None else open_after
    return max(parent.epoch(time.time() + days * DAY) + 1, 0)


def _new_titles(
    items: Path, table: "pl.DataFrame", titles: Path | None, ids: list[Any]
) -> list[str]:
    """Return the titles of new items. Raises `RequestError` if one is missing."""
    if titles is not None:
        return item_titles(titles, ids)
    by_item = dict(table.select("item", "title").iter_rows())
    if missing := sum(by_item[each] is None for each in ids):
        raise RequestError(
            f"{missing} of {len(ids)} new items have no title, but the extended task has titles; "
            f"add them to {items}, or pass --titles."
        )
    return [str(by_item[each]) for each in ids]


def growth(
    plan: str, n_items: int, extendable: int | None, renew: str | None, epoch: int
) -> "Growth | None":
    """Return the terms of a task over slots that can be extended, None without --extendable.

    `extendable`: number of items that the limit allows for. `renew`: days of renewals after the
    start. `epoch`: seconds of an epoch. Raises `RequestError` for options without an effect, and
    for fewer items than the task has.
    """
    from tacit.collection.named_plans import protects_presence
    from tacit.wire.tasks.blocks import Growth, ItemBlock, slot_limit, threshold_of

    if extendable is None:
        if renew is not None:
            raise RequestError("--renew has an effect with --extendable only; leave it out.")
        return None
    if not protects_presence(plan):
        raise RequestError(
            "--extendable has an effect under a plan over slots only. A task of the plan rated can "
            "always be extended; leave it out."
        )
    if extendable < n_items:
        raise RequestError(
            f"--extendable must be at least the {n_items:,} items of the catalogue, got "
            f"{extendable:,}."
        )
    slots = None if plan == "catalogue" else int(plan.partition(":")[2])
    threshold = threshold_of(slots, n_items)
    blocks = (ItemBlock(0, n_items, threshold, 0),)
    return Growth(slot_limit(threshold, extendable), _renewals(renew, epoch), blocks)


def _renewals(renew: str | None, epoch: int) -> tuple[int, ...]:
    """Return the first epochs that begin these days after the start or later."""
    from tacit.wire.tasks.terms import DAY

    days = () if renew is None else options.numbers(renew, int, "--renew 365,730")
    return tuple(-(-each * DAY // epoch) for each in days)


def item_titles(path: Path, ids: list[Any]) -> list[str]:
    """Return the titles of a file by item, an id for one without. Raises `RequestError`."""
    from tacit.readers import titles

    known = dict(titles(path).select("item", "title").iter_rows())
    if not known.keys() & set(ids):
        raise RequestError(
            f"{path} has no title for any of the {len(ids)} items. Use the ids of the catalogue, "
            "or leave out --titles."
        )
    return [known.get(item, str(item)) for item in ids]
