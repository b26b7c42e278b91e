"""The task: what a provider asks, through which channels, when, and how long it keeps answers.

Immutable, and addressed by the SHA-256 of its bytes: a device that knows the address cannot be
shown another catalogue, title or table than everybody else.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

from tacit.channels.table import Channel
from tacit.channels.thresholds import hash_id
from tacit.errors import CertificateError, DataError, RequestError
from tacit.privacy.guarantee import PARTS
from tacit.scale import RatingScale
from tacit.wire import channel as wire_channel
from tacit.wire import item_ids, strict
from tacit.wire.origin import FORM, is_origin
from tacit.wire.strict import ENDS

_REST = (
    "scale", "plan", "items", "titles", "channels",
    "start", "epoch_seconds", "window", "retention_days",
)  # fmt: skip
FORMATS = {
    "tacit-task-1": ("format", "name", *_REST),
    "tacit-task-2": ("format", "name", "provider", *_REST),
}
"""The keys of each format, in order. The first one names no provider."""
UNCOVERED = "uncovered"
"""The last key, written only where there is something to list."""
LONGEST = 1 << 24
"""Bytes a task may have."""
MOST_ITEMS, MOST_CELLS, MOST_CHANNELS = 1_000_000, 4096, 16
WHOLE = ("start", "epoch_seconds", "window", "retention_days")
DAY = 86_400
WHAT = "The task"

_PARTS = tuple(PARTS.values())
_SAMPLE = re.compile(r"sample:([1-9][0-9]{0,3})")
_ADDRESS = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A question to people: rate `items`, each known by its *place* in that list; or, on the scale
    `there`, which of them they did something with.

    `plan`: "rated", "catalogue" or "sample:K"; the scale `there` goes with the last two alone,
    because "rated" shows who did what. `channels`: certified tables over `scale`, with
    "missing" exactly where the plan hides presence; each person chooses one by their own epsilon.
    `start` (Unix seconds) begins epoch 0; an epoch lasts `epoch_seconds`; reports are taken up to
    `window` epochs late, and deleted `retention_days` after their epoch closed. `provider`: the
    origin that asks, such as "https://films.example", the only one that gets an answer; None in a
    tacit-task-1, which names none. `uncovered`: which parts of the task were taken from ratings and
    not declared, of `PARTS` and in its order. No guarantee covers what they show of those ratings.

    Raises `RequestError` for a task that cannot be asked, and says why.
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
        """ "tacit-task-2" where it names its provider, else "tacit-task-1"."""
        return "tacit-task-1" if self.provider is None else "tacit-task-2"

    @cached_property
    def predecessor(self) -> "Task | None":
        """The tacit-task-1 of which this tacit-task-2 differs in format and provider alone.

        Whoever answered it to this provider has answered this one: it goes on under their name.
        None for a tacit-task-1.
        """
        return None if self.provider is None else replace(self, provider=None)

    @property
    def question(self) -> str:
        """The address of what is asked, whoever asks: of the predecessor, or its own."""
        return (self.predecessor or self).address

    @property
    def slots(self) -> int | None:
        """K of "sample:K"; None for another plan."""
        found = _SAMPLE.fullmatch(self.plan)
        return int(found[1]) if found else None

    @property
    def hides_presence(self) -> bool:
        """Whether what was rated is hidden too."""
        return self.plan != "rated"

    @property
    def cells(self) -> int:
        """How many cells a report has: as many for everybody."""
        return min(self.slots or len(self.items), len(self.items)) if self.hides_presence else 1

    @cached_property
    def document(self) -> bytes:
        """The task as one line of JSON, keys in the order of `FORMATS`: its only spelling."""
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
        """The public hash of each item id, by place."""
        return tuple(hash_id(item) for item in self.items)

    @cached_property
    def mechanisms(self) -> dict[str, Channel]:
        """The channels by id."""
        return {channel.id: channel for channel in self.channels}

    def epoch(self, now: float) -> int:
        """The epoch of a moment, Unix seconds; below 0 before the task begins."""
        return int((now - self.start) // self.epoch_seconds)

    def choose(self, most_epsilon: str) -> Channel:
        """The channel to answer through: of the largest epsilon not above the person's own maximum
        (nats per rating, a decimal string), the first of equals. Ratings have no part in it.

        Raises `CertificateError` when the task offers none, before anything is drawn, and
        `RequestError` for what is no decimal.
        """
        try:
            most = strict.number(most_epsilon)
        except ValueError as error:
            raise RequestError(f"Epsilon {error} is not a plain decimal such as 0.5.") from None
        fit = [channel for channel in self.channels if strict.number(channel.epsilon) <= most]
        if not fit:
            least = min((channel.epsilon for channel in self.channels), key=strict.number)
            raise CertificateError(
                f"This task asks for epsilon = {least} or more, your maximum is {most_epsilon}: "
                "it is not answered."
            )
        return max(fit, key=lambda channel: strict.number(channel.epsilon))

    def _flaws(self) -> Iterator[tuple[bool, str]]:
        times = (self.start, self.epoch_seconds, self.window, self.retention_days)
        yield any(abs(time) >= ENDS for time in times), "a time is not below 2^53 in size"
        slotted = self.plan == "catalogue" or self.slots is not None
        n, titles = len(self.items), self.titles
        yield from (
            (not 0 < len(self.name) <= 200, f"its name has {len(self.name)} characters, not 1-200"),
            (
                self.provider is not None and not is_origin(self.provider),
                f"the provider '{(self.provider or '')[:60]}' is no origin; write {FORM}",
            ),
            (self.plan != "rated" and not slotted, f"the plan '{self.plan[:40]}' is none"),
            (
                self.scale.has_one_level and not self.hides_presence,
                f"on the scale {self.scale} the plan rated shows all that there is to hide; ask "
                "for catalogue or sample:K",
            ),
            (not 0 < n <= MOST_ITEMS, f"the catalogue must have 1 to {MOST_ITEMS} items, got {n}"),
            (not all(map(item_ids.is_item_id, self.items)), item_ids.FORM),
            (len(set(map(str, self.items))) != n, "an item id occurs twice"),
            (len(set(map(type, self.items))) > 1, "its ids are not all numbers or all strings"),
            (titles is not None and len(titles) != n, "it has not as many titles as items"),
            (self.cells > MOST_CELLS, f"{self.cells} cells a report are more than {MOST_CELLS}"),
            (not 0 < len(self.channels) <= MOST_CHANNELS, f"it needs 1 to {MOST_CHANNELS} tables"),
            (len(self.mechanisms) != len(self.channels), "a channel occurs twice"),
            (
                any(c.levels != self.scale.levels for c in self.channels),
                "a channel has other levels",
            ),
            (
                any(c.missing != self.hides_presence for c in self.channels),
                "plans that hide presence need channels with missing, and rated needs them without",
            ),
            (
                not 0 < self.epoch_seconds <= 366 * DAY,
                f"an epoch of {self.epoch_seconds} s is none",
            ),
            (not 0 <= self.window <= 1000, f"a window of {self.window} epochs is none"),
            (
                self.retention_days * DAY < self.window * self.epoch_seconds,
                f"{self.retention_days} days are shorter than the window for late reports",
            ),
            (
                self.uncovered != tuple(part for part in _PARTS if part in self.uncovered),
                f"uncovered must list some of {', '.join(_PARTS)}, in this order and each once",
            ),
        )


def loads(document: bytes, address: str | None = None) -> Task:
    """The task of that document, every channel verified; nothing it says of itself is believed.

    `address`: what it was asked for by. Raises `DataError` when the document is not of the form,
    or not in its only spelling, `CertificateError` when it is not the one of that address or a
    channel does not hold.
    """
    if address is not None and sha256(document).hexdigest() != address:
        raise CertificateError(
            f"The task is not the one of address {address[:64]}: it was changed in transit."
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
        raise DataError("The task is not spelled as `tacit task` writes it; write it again.")
    return task


def is_address(text: str) -> bool:
    """Whether the text could be an address: 64 hexadecimal digits."""
    return _ADDRESS.fullmatch(text) is not None


def _fields(document: bytes) -> dict[str, Any]:
    value = strict.parse(document, "A task", LONGEST)
    format = cast("dict[str, Any]", value).get("format") if isinstance(value, dict) else None
    keys = FORMATS.get(format) if isinstance(format, str) else None
    if isinstance(value, dict) and keys is None:
        raise DataError(
            f"The task's format is {strict.brief(format)!r}; this reads {' and '.join(FORMATS)}."
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
        items=strict.listed(fields["items"], "items", item_ids.item_id, WHAT, MOST_ITEMS),
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
