"""Records in a folder of models: the publications of a task, oldest first, and hidden items."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tacit.errors import DataError
from tacit.wire import model_header, strict
from tacit.wire.tasks.task import is_address

FORMAT = "tacit-publications-1"
LONGEST = 1 << 24
"""Most bytes of a record, of about 80,000 publications."""
WHAT = "The record of published models"
HIDDEN_FORMAT = "tacit-hidden-1"
HIDDEN = "The list of hidden items"
UNITS = ("squared error", "discounted gain", "explained presence")
KEYS = ("model", "at", "learner", "reports", "unit", "gain", "error")


@dataclass(frozen=True, kw_only=True)
class Publication:
    """A publication of a model.

    `model`: its address. `at`: time, Unix seconds. `learner`: its name, such as "ease". `reports`:
    number of rows that it was fitted to, None for a model of true ratings. `unit`, `gain`,
    `error`: its gain over popularity on held-out reports and the standard error
    (`tacit.publishing.held_out`), None if not measured.
    """

    model: str
    at: float
    learner: str
    reports: int | None = None
    unit: str | None = None
    gain: float | None = None
    error: float | None = None


def dumps(publications: Sequence[Publication]) -> bytes:
    """Return the record as JSON."""
    known = {"format": FORMAT, "publications": [asdict(each) for each in publications]}
    return json.dumps(known, indent=1).encode() + b"\n"


def loads(document: bytes) -> tuple[Publication, ...]:
    """Parse a record. Raises `DataError` for a malformed one."""
    fields = strict.fields(strict.parse(document, WHAT, LONGEST), WHAT, ("format", "publications"))
    if fields["format"] != FORMAT:
        raise DataError(f"{WHAT} must have the format {FORMAT}, got {strict.brief(fields)}.")
    return strict.listed(fields["publications"], "publications", _publication, WHAT)


def dump_hidden(items: Sequence[int | str]) -> bytes:
    """Return a list of hidden items, raw ids, as JSON."""
    return json.dumps({"format": HIDDEN_FORMAT, "items": list(items)}).encode() + b"\n"


def load_hidden(document: bytes) -> tuple[int | str, ...]:
    """Parse a list of hidden items. Raises `DataError` for a malformed one."""
    fields = strict.fields(strict.parse(document, HIDDEN, LONGEST), HIDDEN, ("format", "items"))
    if fields["format"] != HIDDEN_FORMAT:
        raise DataError(f"{HIDDEN} must have the format {HIDDEN_FORMAT}.")
    return strict.listed(fields["items"], "items", model_header.item_id, HIDDEN)


def _publication(value: Any) -> Publication:
    fields = strict.fields(value, WHAT, KEYS)
    if not is_address(strict.text(fields["model"])) or fields["unit"] not in (None, *UNITS):
        raise strict.wrong(value)
    return Publication(
        model=fields["model"],
        at=strict.real(fields["at"]),
        learner=strict.text(fields["learner"]),
        reports=None if fields["reports"] is None else strict.integral(fields["reports"]),
        unit=fields["unit"],
        gain=_figure(fields["gain"]),
        error=_figure(fields["error"]),
    )


def _figure(value: Any) -> float | None:
    return None if value is None else strict.real(value)
