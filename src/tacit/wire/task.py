"""Task: a provider's catalogue, plan, channels, schedule and retention.

Immutable, and addressed by the SHA-256 of its bytes: a device that has the address cannot be shown
another catalogue, title or table than everybody else.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

from tacit.channels.table import Channel
from tacit.channels.thresholds import hash_id, pair_key
from tacit.errors import CertificateError, DataError, RequestError
from tacit.privacy.guarantee import PARTS
from tacit.scale import RatingScale
from tacit.wire import channel as wire_channel
from tacit.wire import strict
from tacit.wire.origin import FORM, is_origin
from tacit.wire.strict import ENDS

# Item ids: integers that a browser can represent, or short strings.

LONGEST_ID = 200
"""Most characters of an item id."""
ITEM_ID_FORM = (
    f"an item id must be an integer below 2^53 in magnitude or 1 to {LONGEST_ID} characters of text"
)


def is_item_id(value: object) -> bool:
    """Return whether a value can be the id of an item."""
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_ID
    return type(value) is int and abs(value) < ENDS


def item_id(value: Any) -> int | str:
    """Return the value if it can be the id of an item; raises `ValueError` otherwise."""
    if is_item_id(value):
        return value
    raise strict.wrong(value)


_REST = (
    "scale", "plan", "items", "titles", "channels",
    "start", "epoch_seconds", "window", "retention_days",
)  # fmt: skip
FORMATS = {
    "tacit-task-1": ("format", "name", *_REST),
    "tacit-task-2": ("format", "name", "provider", *_REST),
}
"""Keys of each format, in order. The first format names no provider."""
UNCOVERED = "uncovered"
"""Last key, omitted if its list is empty."""
LONGEST = 1 << 24
"""Most bytes of a task."""
MOST_ITEMS, MOST_CELLS, MOST_CHANNELS = 1_000_000, 4096, 16
WHOLE = ("start", "epoch_seconds", "window", "retention_days")
DAY = 86_400
WHAT = "The task"

_PARTS = tuple(PARTS.values())
_SAMPLE = re.compile(r"sample:([1-9][0-9]{0,3})")
_ADDRESS = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A request for ratings of `items`; on the scale `there`, for implicit feedback.

    Items are identified by *place*, their index in the list. `plan`: "rated", "catalogue" or
    "sample:K"; on the scale `there` one of the last two, because "rated" reveals presence.
    `channels`: certified tables over `scale`, with "missing" exactly where the plan protects
    presence; each user selects one by their epsilon. `start` (Unix seconds) begins epoch 0; an
    epoch lasts `epoch_seconds`; reports are accepted up to `window` epochs late, and deleted
    `retention_days` after their epoch closed. `provider`: the origin that reports are sent to, such
    as "https://films.example"; None in a tacit-task-1, which names none. `uncovered`: parts of the
    task that were derived from ratings instead of declared, of `PARTS` and in its order. No
    guarantee covers what they reveal of those ratings.

    Raises `RequestError` for an invalid task, with the reason.
    """

    name: str
    scale: RatingScale
    plan: str
    items: tuple[int | str, ...]
    channels: tuple[Channel, ...]
    start: int
    provider: str | None = None
    titles: tuple[str, ...] | None = None
    epoch_seconds: int = DAY
    window: int = 7
    retention_days: int = 365
    uncovered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for wrong, sentence in self._flaws():
            if wrong:
                raise RequestError(f"This task is invalid: {sentence}.")

    @property
    def format(self) -> str:
        """ "tacit-task-2" if it names its provider, else "tacit-task-1"."""
        return "tacit-task-1" if self.provider is None else "tacit-task-2"

    @cached_property
    def predecessor(self) -> "Task | None":
        """The tacit-task-1 that differs from this tacit-task-2 in format and provider alone.

        A device that reported to it at this provider has reported to this one, which continues
        under its name. None for a tacit-task-1.
        """
        return None if self.provider is None else replace(self, provider=None)

    @property
    def question(self) -> str:
        """Address of the task without its provider: of the predecessor, or its own."""
        return (self.predecessor or self).address

    @property
    def slots(self) -> int | None:
        """K of "sample:K"; None for another plan."""
        match = _SAMPLE.fullmatch(self.plan)
        return int(match[1]) if match else None

    @property
    def hides_presence(self) -> bool:
        """Whether the plan protects presence."""
        return self.plan != "rated"

    @property
    def cells(self) -> int:
        """Number of cells of a report, equal for all users."""
        return min(self.slots or len(self.items), len(self.items)) if self.hides_presence else 1

    @cached_property
    def document(self) -> bytes:
        """The task as one line of JSON, keys in the order of `FORMATS`: its unique notation."""
        fields: dict[str, Any] = {
            "format": self.format,
            "name": self.name,
            **({} if self.provider is None else {"provider": self.provider}),
            "scale": str(self.scale),
            "plan": self.plan,
            "items": list(self.items),
            "titles": self.titles and list(self.titles),
            "channels": [json.loads(wire_channel.dumps(channel)) for channel in self.channels],
            "start": self.start,
            "epoch_seconds": self.epoch_seconds,
            "window": self.window,
            "retention_days": self.retention_days,
            **({UNCOVERED: list(self.uncovered)} if self.uncovered else {}),
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def address(self) -> str:
        """SHA-256 of `document`, 64 hexadecimal digits."""
        return sha256(self.document).hexdigest()

    @cached_property
    def item_hashes(self) -> tuple[int, ...]:
        """Public hash of each item id, by index."""
        return tuple(hash_id(item) for item in self.items)

    @cached_property
    def mechanisms(self) -> dict[str, Channel]:
        """The channels by id."""
        return {channel.id: channel for channel in self.channels}

    def epoch(self, now: float) -> int:
        """Return the epoch of a moment, Unix seconds; below 0 before the task begins."""
        return int((now - self.start) // self.epoch_seconds)

    def choose(self, most_epsilon: str) -> Channel:
        """Return the channel of the largest epsilon not above `most_epsilon`, the first of equals.

        `most_epsilon`: the user's maximum, nats per rating, a decimal string. The choice does not
        depend on ratings. Raises `CertificateError` if the task offers none, before anything is
        drawn, and `RequestError` for an argument that is not a decimal.
        """
        try:
            most = strict.number(most_epsilon)
        except ValueError as error:
            raise RequestError(f"Epsilon {error} is not a plain decimal such as 0.5.") from None
        fit = [channel for channel in self.channels if strict.number(channel.epsilon) <= most]
        if not fit:
            least = min((channel.epsilon for channel in self.channels), key=strict.number)
            unit = "slot" if self.hides_presence else "value"
            raise CertificateError(
                f"This task requires epsilon = {least} or more per {unit}, above your maximum of "
                f"{most_epsilon}, so the device sends nothing."
            )
        return max(fit, key=lambda channel: strict.number(channel.epsilon))

    def _flaws(self) -> Iterator[tuple[bool, str]]:
        times = (self.start, self.epoch_seconds, self.window, self.retention_days)
        yield any(abs(time) >= ENDS for time in times), "times must be below 2^53 in magnitude"
        slotted = self.plan == "catalogue" or self.slots is not None
        n, titles = len(self.items), self.titles
        yield from (
            (
                not 0 < len(self.name) <= 200,
                f"its name must have 1 to 200 characters, got {len(self.name)}",
            ),
            (
                self.provider is not None and not is_origin(self.provider),
                f"the provider '{(self.provider or '')[:60]}' is not an origin; write {FORM}",
            ),
            (
                self.plan != "rated" and not slotted,
                f"the plan must be rated, catalogue or sample:K, got '{self.plan[:40]}'",
            ),
            (
                self.scale.has_one_level and not self.hides_presence,
                "for implicit feedback, the plan rated would protect nothing; use catalogue or "
                "sample:K",
            ),
            (not 0 < n <= MOST_ITEMS, f"the catalogue must have 1 to {MOST_ITEMS} items, got {n}"),
            (not all(map(is_item_id, self.items)), ITEM_ID_FORM),
            (len(set(map(str, self.items))) != n, "an item id occurs twice"),
            (len(set(map(type, self.items))) > 1, "item ids must be all numbers or all strings"),
            (titles is not None and len(titles) != n, "it must have one title per item"),
            (
                self.cells > MOST_CELLS,
                f"a report must have at most {MOST_CELLS} cells, got {self.cells}",
            ),
            (
                not 0 < len(self.channels) <= MOST_CHANNELS,
                f"it must have 1 to {MOST_CHANNELS} channels",
            ),
            (len(self.mechanisms) != len(self.channels), "a channel occurs twice"),
            (
                any(c.levels != self.scale.levels for c in self.channels),
                "the levels of a channel differ from those of the scale",
            ),
            (
                any(c.missing != self.hides_presence for c in self.channels),
                "the plans catalogue and sample:K require channels with missing, and the plan "
                "rated requires channels without it",
            ),
            (
                not 0 < self.epoch_seconds <= 366 * DAY,
                f"an epoch must last 1 s to 366 days, got {self.epoch_seconds} s",
            ),
            (
                not 0 <= self.window <= 1000,
                f"the window must be 0 to 1000 epochs, got {self.window}",
            ),
            (
                self.retention_days * DAY < self.window * self.epoch_seconds,
                f"a retention of {self.retention_days} days is shorter than the window for late "
                "reports",
            ),
            (
                self.uncovered != tuple(part for part in _PARTS if part in self.uncovered),
                f"uncovered must list some of {', '.join(_PARTS)}, in this order and each once",
            ),
        )


def loads(document: bytes, address: str | None = None) -> Task:
    """Parse a task and verify every channel. None of its claims is trusted.

    `address`: the requested address. Raises `DataError` if the document is malformed or not in its
    unique notation, `CertificateError` if it does not match the address or a certificate fails.
    """
    if address is not None and sha256(document).hexdigest() != address:
        raise CertificateError(
            f"The task does not match its address {address[:64]}: it was changed in transit."
        )
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


def is_address(text: str) -> bool:
    """Return whether the text is a valid address: 64 hexadecimal digits."""
    return _ADDRESS.fullmatch(text) is not None


def _fields(document: bytes) -> dict[str, Any]:
    value = strict.parse(document, "A task", LONGEST)
    format = cast("dict[str, Any]", value).get("format") if isinstance(value, dict) else None
    keys = FORMATS.get(format) if isinstance(format, str) else None
    if isinstance(value, dict) and keys is None:
        raise DataError(
            f"The format of a task must be {' or '.join(FORMATS)}, got {strict.brief(format)!r}."
        )
    return strict.fields(value, WHAT, keys or (), (UNCOVERED,))


def _task(fields: dict[str, Any]) -> Task:
    times = {key: strict.whole(fields, key, WHAT) for key in WHOLE}
    provider = strict.typed(fields, "provider", str, WHAT) if "provider" in fields else None
    return Task(
        name=strict.typed(fields, "name", str, WHAT),
        provider=provider,
        scale=RatingScale.parse(strict.typed(fields, "scale", str, WHAT)),
        plan=strict.typed(fields, "plan", str, WHAT),
        items=strict.listed(fields["items"], "items", item_id, WHAT, MOST_ITEMS),
        titles=_titles(fields["titles"]),
        channels=strict.listed(
            fields["channels"], "channels", wire_channel.of_json, WHAT, MOST_CHANNELS
        ),
        uncovered=strict.listed(
            fields.get(UNCOVERED, []), UNCOVERED, strict.text, WHAT, len(_PARTS)
        ),
        **times,
    )


def _titles(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    return strict.listed(value, "titles", strict.text, WHAT, MOST_ITEMS)


# Query schedule: the items that a user is queried about, public and independent of ratings.

ASK = 0x8CB92BA72F3D8DD7
"""Odd multiplier of the hashes that select a user's queried slots."""


def asked(task: Task, person: str) -> tuple[int, ...]:
    """Return the item indices that a report of `person` covers, ascending, for a plan over slots.

    Under "sample:K" these are the K indices of the smallest `pair_key`, as in the bulk
    implementation `tacit.collection.public_hash`. Under "rated" a report covers one index, chosen
    by the device.
    """
    slots = task.slots
    if slots is None or slots >= len(task.items):
        return tuple(range(len(task.items)))
    me = hash_id(person)
    keyed = sorted(
        (pair_key(me, item_hash, ASK), index) for index, item_hash in enumerate(task.item_hashes)
    )
    return tuple(sorted(index for _, index in keyed[:slots]))
