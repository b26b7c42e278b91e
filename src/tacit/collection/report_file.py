"""Report files: Parquet with raw ids and symbols, and the channels' JSON in its metadata."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from tacit.atomic_files import atomic
from tacit.channels.table import Channel
from tacit.collection.named_plans import plan as plan_of
from tacit.collection.perturb import perturb, reports_of
from tacit.collection.plan import Plan
from tacit.collection.slots import SlotReports, slot_reports
from tacit.errors import DataError, RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings
from tacit.readers.frame import BROKEN, PARQUET, decodable
from tacit.readers.text import reason
from tacit.reports import UNKNOWN_CAP, Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire import model_header
from tacit.wire.channel import dumps, loads

FORMAT = "tacit-reports-1"
KEY = "tacit"
MALFORMED = (
    AttributeError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    RequestError,
    pl.exceptions.PolarsError,
)
"""Exceptions raised by malformed headers and columns."""


def write_reports(reports: Reports, path: str | Path) -> None:
    """Write columns user, item, symbol, channel, and all metadata.

    The metadata are the channels, the guarantee, and all ids: in reports of slots, missing reports
    are information as well. The file is written atomically. Raises `OSError` if it cannot be
    written.
    """
    rows = SlotReports(reports.users, reports.items, reports.symbols, reports.channel_of)
    _write(path, reports, reports.plan, [rows])


def write_perturbed(
    ratings: Ratings,
    plan: Plan,
    path: str | Path,
    advance: Callable[[int], None] = lambda people: None,
) -> int:
    """Perturb and write in blocks of users if the plan is over slots. Returns the number of rows.

    The file equals that of `write_reports(perturb(ratings, plan), path)`, but memory is bounded by
    a block of users. `advance`: progress callback, called with the number of users done. Raises as
    both do.
    """
    ratings.require_distinct_pairs()  # one report per slot
    if plan.reported_slots(ratings.n_items) is None:
        reports = perturb(ratings, plan)
        write_reports(reports, path)
        return len(reports)
    return write_blocks(ratings, plan, slot_reports(ratings, plan, advance=advance), path)


def write_blocks(
    ratings: Ratings, plan: Plan, blocks: Iterable[SlotReports], path: str | Path
) -> int:
    """Write the blocks of `perturb(ratings, plan)`, computed anywhere. Returns the number of rows.

    Of `ratings` only vocabularies, scale and name are read. Raises as `write_reports`.
    """
    written = 0

    def counted() -> Iterator[SlotReports]:
        nonlocal written
        for block in blocks:
            written += len(block.users)
            yield block

    _write(path, _nothing(ratings, plan), plan.name, counted())
    return written


def read_reports(path: str | Path) -> Reports:
    """Read a file of `write_reports`; every channel is verified again.

    The guarantee is computed from the verified channels, the plan and its cap, for one draw per
    value or slot. The header only adds what is public, assumed or not covered.

    Raises `DataError` for other files, `CertificateError` for a channel whose certificate fails.
    """
    try:
        metadata = pl.read_parquet_metadata(path)
        frame = decodable(Path(path), PARQUET, path).collect()
    except BROKEN as error:
        raise DataError(f"{path} is not a Parquet file of reports: {reason(error)}.") from None
    header = _header(metadata.get(KEY, ""), path)
    try:
        return _reports(frame, header, path)
    except MALFORMED as error:
        raise DataError(
            f"{path} is damaged ({reason(error)}); run `tacit perturb` again."
        ) from None


def _reports(frame: pl.DataFrame, header: dict[str, Any], path: str | Path) -> Reports:
    channels = tuple(loads(json.dumps(channel)) for channel in header["channels"])
    symbols = _column(frame["symbol"], max(len(channel.outputs) for channel in channels), path)
    channel_of = _column(frame["channel"], len(channels), path)
    user_ids, users = _codes(frame.drop_in_place("user"), header["users"], path)
    item_ids, items = _codes(frame.drop_in_place("item"), header["items"], path)
    reports = Reports(
        users=users,
        items=items,
        symbols=symbols,
        channel_of=channel_of.astype(np.uint8, copy=False),
        channels=channels,
        scale=RatingScale.parse(header["scale"]),
        user_ids=user_ids,
        item_ids=item_ids,
        guarantee=_guarantee(header, channels, path),
        plan=header["plan"],
        name=header["name"],
        cap=header.get("cap", UNKNOWN_CAP),
    )
    reports.require_distinct_slots()
    return reports


def _guarantee(
    header: dict[str, Any], channels: tuple[Channel, ...], path: str | Path
) -> Guarantee:
    """Compute the guarantee from the channel tables, the plan and its cap, not from the header.

    The header only adds to what is public, assumed or not covered: each of these weakens the
    guarantee. A file of an older version does not state its cap, and has the weaker guarantee.
    """
    caps = (header["cap"],) if "cap" in header else UNSTATED
    weakest = _computed(header["plan"], channels, caps)
    stated = model_header.guarantee(header["guarantee"], f"The header of {path}")
    return replace(
        weakest,
        public=_union(weakest.public, stated.public),
        assumptions=_union(weakest.assumptions, stated.assumptions),
        uncovered=stated.uncovered,
    )


UNSTATED = (None, 1)
"""Caps with the strongest and the weakest guarantee, for a file that states none."""


def _computed(plan: str, channels: tuple[Channel, ...], caps: tuple[int | None, ...]) -> Guarantee:
    """Return the weakest guarantee of one draw per value or slot, at any of these caps."""
    guarantees = [plan_of(plan, channels, each).guarantee for each in caps]
    return max(guarantees, key=lambda each: Decimal(each.epsilon or 0))


def _require_computable(about: Reports, plan: str) -> None:
    """Raise `RequestError` for reports whose guarantee is weaker than a reader would compute."""
    stated = about.guarantee
    caps = UNSTATED if about.cap == UNKNOWN_CAP else (about.cap,)
    computed = _computed(plan, about.channels, caps)
    if Decimal(stated.epsilon or 0) > Decimal(computed.epsilon or 0) or about.blocks is not None:
        raise RequestError(
            f"These reports have epsilon {stated.epsilon} per {stated.unit}, and a report file "
            f"stands for one draw, of {computed.epsilon}; fit reports of several draws or of "
            "blocks of items from their store."
        )


def _union(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*parts)))


def _column(column: pl.Series, count: int, path: str | Path) -> NDArray[Any]:
    """Convert a column of indices below `count` to the smallest unsigned integer type."""
    is_integer = column.dtype.is_integer() and not column.null_count()
    if not is_integer or not column.is_between(0, count - 1).all():
        raise DataError(
            f"{path}: column '{column.name}' must contain integers from 0 to {count - 1} only; "
            "run `tacit perturb` again."
        )
    return column.to_numpy().astype(np.min_scalar_type(count - 1), copy=False)


def _nothing(ratings: Ratings, plan: Plan) -> Reports:
    """Return empty reports with the metadata of all of them."""
    none = np.empty(0, np.int32)
    widest = max(len(channel.outputs) for channel in plan.channels)
    symbols = np.empty(0, np.min_scalar_type(widest - 1))
    return reports_of(ratings, plan, SlotReports(none, none, symbols, np.empty(0, np.uint8)))


def _write(path: str | Path, about: Reports, plan: str, blocks: Iterable[SlotReports]) -> None:
    about.guarantee.require_secret_noise("A report file")
    _require_computable(about, plan)
    header = {
        "format": FORMAT,
        "scale": str(about.scale),
        "plan": plan,
        **({} if about.cap == UNKNOWN_CAP else {"cap": about.cap}),
        "name": about.name,
        "guarantee": about.guarantee.to_dict(),
        "channels": [json.loads(dumps(channel)) for channel in about.channels],
        "users": about.user_ids.ids.to_list(),
        "items": about.item_ids.ids.to_list(),
    }

    # Ids in as few bytes as possible, and light compression: half the time for a large file.
    narrow = replace(about, user_ids=_narrow(about.user_ids), item_ids=_narrow(about.item_ids))

    def frames(*wanted: object) -> Iterator[pl.DataFrame]:
        # The engine's arguments (columns, rows, a filter) are irrelevant: everything is written.
        yield from (_frame(narrow, block) for block in blocks)

    source = register_io_source(frames, schema=_frame(narrow).schema)
    with atomic(Path(path)) as partial, partial.open("wb") as file:
        source.sink_parquet(
            file,
            metadata={KEY: json.dumps(header)},
            compression_level=1,
            statistics=False,
        )


def _frame(about: Reports, block: SlotReports | None = None) -> pl.DataFrame:
    rows = block or SlotReports(about.users, about.items, about.symbols, about.channel_of)
    return pl.DataFrame(
        {
            "user": about.user_ids.take(rows.users),
            "item": about.item_ids.take(rows.items),
            "symbol": rows.symbols,
            "channel": rows.channel_of,
        }
    )


def _narrow(vocabulary: Vocabulary) -> Vocabulary:
    ids = vocabulary.ids
    return Vocabulary(ids.shrink_dtype()) if ids.dtype.is_integer() else vocabulary


def _codes(raw: pl.Series, ids: list[Any], path: str | Path) -> tuple[Vocabulary, Codes]:
    vocabulary = Vocabulary(pl.Series("id", ids))
    codes = vocabulary.codes(raw)
    if (codes < 0).any():
        raise DataError(
            f"{path} contains reports of a user or an item that it does not list; run `tacit "
            "perturb` again."
        )
    return vocabulary, codes


def _header(text: str, path: str | Path) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(text)
        if header["format"] == FORMAT and header["channels"] and header["users"]:
            return header
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise DataError(f"{path} contains no reports: its metadata have no header {FORMAT}.")
