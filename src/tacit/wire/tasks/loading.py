"""Parsing of tasks, with verification of every channel and address."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, cast

from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import RatingScale
from tacit.wire import channel as wire_channel
from tacit.wire import strict
from tacit.wire.tasks.blocks import growth_of
from tacit.wire.tasks.catalogue import (
    MOST_EXTENSIONS,
    MOST_ITEMS,
    Lineage,
    address_of,
    item_id,
    load_extension,
    titles_of,
)
from tacit.wire.tasks.moves import Move, is_move, load_move
from tacit.wire.tasks.task import EXTENDABLE, FORMATS, PROVIDER_KEY, UNCOVERED, Task
from tacit.wire.tasks.terms import MOST_CHANNELS, PART_NAMES

LONGEST = 1 << 24
"""Most bytes of a task."""
WHAT = "The task"


def loads(document: bytes, address: str | None = None) -> Task:
    """Parse a task and verify every channel. None of its claims is trusted.

    `address`: the requested address. Raises `DataError` if the document is malformed or not in its
    unique notation, `CertificateError` if it does not match the address or a certificate fails.
    """
    first, *lines = document.split(b"\n", MOST_EXTENSIONS + 1)
    if address is not None and address_of((first, *lines)[-1]) != address:
        raise CertificateError(
            f"The task does not match its address {address[:64]}: it was changed in transit."
        )
    if len(document) > LONGEST:
        raise DataError(f"A task of {len(document)} bytes is longer than {LONGEST}.")
    task = _first_task(first)
    return _with_extensions(task, lines) if lines else task


def _first_task(document: bytes) -> Task:
    fields = _fields(document)
    try:
        task = _task(fields)
        canonical = task.document
    except RequestError as error:
        raise DataError(f"The task is malformed: {error}") from None
    except UnicodeEncodeError:
        raise DataError("The task contains a lone surrogate, which UTF-8 cannot encode.") from None
    if canonical != document:
        raise DataError("The task is not in the canonical form; write it again with `tacit task`.")
    return task


def _with_extensions(first: Task, lines: Sequence[bytes]) -> Task:
    """Return the task of all lines, of which each extends or moves the one before."""
    ancestors, items, length = [*first.ancestors, first.address], [*first.items], 0
    titles, growth = None if first.titles is None else [*first.titles], first.growth
    moves = list[Move]()
    for line in lines:
        length = len(items)
        if is_move(line):
            moves.append(load_move(line, ancestors[-1], first.provider_key, LONGEST))
            ancestors.append(address_of(line))
            continue
        extension = load_extension(line, ancestors[-1], LONGEST, over_slots=growth is not None)
        if (titles is None) != (extension.titles is None):
            raise DataError("The task is malformed: it must have titles of all items, or of none.")
        items += extension.items
        if titles is not None:
            titles += extension.titles or ()
        if growth is not None and extension.terms is not None:
            growth = growth.extended(len(items), *extension.terms)
        ancestors.append(address_of(line))
    document = b"\n".join((first.document, *lines[:-1]))
    lineage = Lineage(document, tuple(ancestors[:-1]), length)
    known = None if titles is None else tuple(titles)
    added = {"items": tuple(items), "titles": known, "growth": growth, "moves": tuple(moves)}
    try:
        return replace(first, lineage=lineage, **added)
    except RequestError as error:
        raise DataError(f"The task is malformed: {error}") from None


def documents(task: Task) -> dict[str, memoryview]:
    """Return the documents of the task and of all tasks that it extends, by address."""
    document, ends = memoryview(task.document), accumulate(map(len, task.document.split(b"\n")))
    return {
        address: document[: end + count]
        for count, (address, end) in enumerate(zip(task.lines, ends, strict=True))
    }


def _fields(document: bytes) -> dict[str, Any]:
    value = strict.parse(document, "A task", LONGEST)
    format = cast("dict[str, Any]", value).get("format") if isinstance(value, dict) else None
    keys = FORMATS.get(format) if isinstance(format, str) else None
    if isinstance(value, dict) and keys is None:
        raise DataError(
            f"The format of a task must be one of {', '.join(FORMATS)}, got "
            f"{strict.brief(format)!r}."
        )
    return strict.fields(value, WHAT, keys or (), (UNCOVERED,))


def _task(fields: dict[str, Any]) -> Task:
    provider = strict.typed(fields, "provider", str, WHAT) if "provider" in fields else None
    items = strict.listed(fields["items"], "items", item_id, WHAT, MOST_ITEMS)
    growth = growth_of(fields[EXTENDABLE], len(items)) if EXTENDABLE in fields else None
    return Task(
        name=strict.typed(fields, "name", str, WHAT),
        provider=provider,
        scale=RatingScale.parse(strict.typed(fields, "scale", str, WHAT)),
        plan=strict.typed(fields, "plan", str, WHAT),
        items=items,
        growth=growth,
        provider_key=_provider_key(fields),
        titles=titles_of(fields["titles"], WHAT),
        channels=strict.listed(
            fields["channels"], "channels", wire_channel.of_json, WHAT, MOST_CHANNELS
        ),
        uncovered=strict.listed(
            fields.get(UNCOVERED, []), UNCOVERED, strict.text, WHAT, len(PART_NAMES)
        ),
        start=strict.integer(fields, "start", WHAT),
        epoch_seconds=strict.integer(fields, "epoch_seconds", WHAT),
        window=strict.integer(fields, "window", WHAT),
        retention_days=strict.integer(fields, "retention_days", WHAT),
    )


def _provider_key(fields: dict[str, Any]) -> str | None:
    """Return the key of the provider, which is among the terms of a tacit-task-3 or null there."""
    if EXTENDABLE not in fields:
        return strict.typed(fields, PROVIDER_KEY, str, WHAT) if PROVIDER_KEY in fields else None
    terms = fields[EXTENDABLE]
    return None if terms[PROVIDER_KEY] is None else strict.typed(terms, PROVIDER_KEY, str, WHAT)
