"""Task: a provider's catalogue, plan, channels, schedule and retention.

Immutable, and addressed by the SHA-256 of its bytes: a device that has the address cannot be shown
another catalogue, title or table than everybody else.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tacit.channels.table import Channel
from tacit.channels.thresholds import hash_id, pair_key
from tacit.errors import CertificateError, RequestError
from tacit.scale import RatingScale
from tacit.wire import channel as wire_channel
from tacit.wire import strict
from tacit.wire.tasks.blocks import ASK, Growth
from tacit.wire.tasks.catalogue import (
    MOST_EXTENSIONS,
    AddedItems,
    BlockTerms,
    Lineage,
    address_of,
    catalogue_flaws,
)
from tacit.wire.tasks.moves import Move, move_flaws
from tacit.wire.tasks.terms import (
    DAY,
    Flaws,
    channel_flaws,
    name_flaws,
    plan_flaws,
    slots_of,
    time_flaws,
    uncovered_flaws,
)

_REST = (
    "scale", "plan", "items", "titles", "channels",
    "start", "epoch_seconds", "window", "retention_days",
)  # fmt: skip
FORMATS = {
    "tacit-task-1": ("format", "name", *_REST),
    "tacit-task-2": ("format", "name", "provider", *_REST),
    "tacit-task-3": ("format", "name", "provider", *_REST, "extendable"),
    "tacit-task-4": ("format", "name", "provider", *_REST, "provider_key"),
}
"""Keys of each format, in order. The first one names no provider; tasks over slots that can be
extended have the third, whose terms have a key of the provider or null; other tasks with a key
have the fourth."""
EXTENDABLE = "extendable"
PROVIDER_KEY = "provider_key"
UNCOVERED = "uncovered"
"""Last key, omitted if its list is empty."""
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
    guarantee covers what they reveal of those ratings. `lineage`: of a task that extends another
    (`extended`), None for a first task. `growth`: blocks of a task over slots that can be extended,
    which is answered once per block and generation; None for all other tasks. `provider_key`:
    public key that verifies moves of the provider to other origins, None for one that cannot move.
    `moves`: in order, as signed (`moved`).

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
    lineage: Lineage | None = None
    growth: Growth | None = None
    provider_key: str | None = None
    moves: tuple[Move, ...] = ()

    def __post_init__(self) -> None:
        for wrong, sentence in self._flaws():
            if wrong:
                raise RequestError(f"This task is invalid: {sentence}.")

    @property
    def format(self) -> str:
        """ "tacit-task-1" without a provider, "tacit-task-3" with `growth`; of the first line."""
        if self.growth is not None:
            return "tacit-task-3"
        if self.provider_key is not None:
            return "tacit-task-4"
        return "tacit-task-1" if self.provider is None else "tacit-task-2"

    @cached_property
    def predecessor(self) -> "Task | None":
        """The tacit-task-1 that differs from this tacit-task-2 in format and provider alone.

        A device that reported to it at this provider has reported to this one, which continues
        under its name. None for all other tasks, and for a task that extends another.
        """
        if self.format != "tacit-task-2" or self.lineage is not None:
            return None
        return replace(self, provider=None)

    @cached_property
    def question(self) -> str:
        """Address of the first task written as a tacit-task-1, without its provider."""
        if self.lineage is not None:
            return self.lineage.ancestors[0]
        return address_of(_json(self._fields("tacit-task-1", None)))

    @property
    def root(self) -> str:
        """Address of the first task, under which the names of its users are made."""
        return self.lineage.ancestors[1] if self.lineage else self.address

    @property
    def ancestors(self) -> tuple[str, ...]:
        """Addresses of all tasks that this one continues, the latest last."""
        if self.lineage is not None:
            return self.lineage.ancestors
        return () if self.provider is None else (self.question,)

    def extended(
        self,
        items: Sequence[int | str],
        titles: Sequence[str] | None = None,
        *,
        open_from: int | None = None,
        threshold: int | None = None,
    ) -> "Task":
        """Return the task that adds `items` to this one, at the end of its catalogue.

        It is the same question to the same users: names, ratings, answers and reports carry over.
        `titles`: of the new items, required if this task has titles, None otherwise. Under a plan
        over slots the items are a block: `open_from`, first epoch in which devices answer it,
        which leaves users time to rate; `threshold`, that of the first task by default.

        Raises `RequestError` for items that this task has, for terms of a block under the plan
        "rated" and missing ones otherwise, and for a task that cannot be extended: one over slots
        without `growth`, or one that names no provider.
        """
        if (self.titles is None) != (titles is None):
            known = "no titles" if self.titles is None else "titles"
            raise RequestError(f"titles must match the extended task, which has {known}.")
        if (self.growth is None) != (open_from is None):
            needs = "requires" if self.growth else "has no blocks, so it does not accept"
            raise RequestError(f"The extended task {needs} open_from, got {open_from}.")
        lineage = Lineage(self.document, (*self.ancestors, self.address), len(self.items))
        added = None if self.titles is None else (*self.titles, *(titles or ()))
        every, growth = (*self.items, *items), self.growth
        if growth is not None and open_from is not None:
            rate = growth.blocks[0].threshold if threshold is None else threshold
            growth = growth.extended(len(every), rate, open_from)
        return replace(self, items=every, titles=added, lineage=lineage, growth=growth)

    def moved(self, successor: str, signature: str) -> "Task":
        """Return this task after the move of its provider to the origin `successor`.

        Nothing but the address of requests changes: names are still those for `provider`.
        `signature`: of `Move.statement`, unverified, which `loads` verifies.

        Raises `RequestError` for a task without a key, and for a move to the present origin.
        """
        lineage = Lineage(self.document, (*self.ancestors, self.address), len(self.items))
        moves = (*self.moves, Move(self.address, successor, signature))
        return replace(self, lineage=lineage, moves=moves)

    @property
    def origins(self) -> tuple[str, ...]:
        """Origins that reports were and are sent to, the present one last."""
        moves = tuple(move.successor for move in self.moves)
        return moves if self.provider is None else (self.provider, *moves)

    @property
    def origin(self) -> str | None:
        """The origin that reports are sent to; None in a tacit-task-1, which names none."""
        return self.origins[-1] if self.origins else None

    @property
    def slots(self) -> int | None:
        """K of "sample:K"; None for another plan."""
        return slots_of(self.plan)

    @property
    def hides_presence(self) -> bool:
        """Whether the plan protects presence."""
        return self.plan != "rated"

    @property
    def cells(self) -> int:
        """Number of cells of a report, equal for all users; at most this number with `growth`."""
        if self.growth is not None:
            return self.growth.limit
        return min(self.slots or len(self.items), len(self.items)) if self.hides_presence else 1

    @cached_property
    def document(self) -> bytes:
        """The task as one line of JSON, keys in the order of `FORMATS`: its unique notation.

        A task that extends another is the document of its parent and one more line.
        """
        if self.lineage is not None:
            line = self._last_move(self.lineage) or self._extension(self.lineage)
            return self.lineage.document + b"\n" + line.document
        return _json(self._fields(self.format, self.provider))

    def _fields(self, format: str, provider: str | None) -> dict[str, Any]:
        return {
            "format": format,
            "name": self.name,
            **({} if provider is None else {"provider": provider}),
            "scale": str(self.scale),
            "plan": self.plan,
            "items": list(self.items),
            "titles": self.titles and list(self.titles),
            "channels": [json.loads(wire_channel.dumps(channel)) for channel in self.channels],
            "start": self.start,
            "epoch_seconds": self.epoch_seconds,
            "window": self.window,
            "retention_days": self.retention_days,
            **self._terms_of_moves(),
            **({UNCOVERED: list(self.uncovered)} if self.uncovered else {}),
        }

    @cached_property
    def address(self) -> str:
        """SHA-256 of the last line of `document`, 64 hexadecimal digits."""
        return address_of(self.document.rpartition(b"\n")[2])

    def _terms_of_moves(self) -> dict[str, Any]:
        key = self.provider_key
        if self.growth is not None:
            return {EXTENDABLE: self.growth.fields(key)}
        return {} if key is None else {PROVIDER_KEY: key}

    def _last_move(self, lineage: Lineage) -> Move | None:
        """Return the move that is the last line; None if that is an extension."""
        is_last = self.moves and self.moves[-1].parent == lineage.ancestors[-1]
        return self.moves[-1] if is_last else None

    def _extension(self, lineage: Lineage) -> AddedItems:
        titles = self.titles and self.titles[lineage.first :]
        block = self.growth and self.growth.blocks[-1]
        terms = block and BlockTerms(block.threshold, block.open_from)
        return AddedItems(lineage.ancestors[-1], self.items[lineage.first :], titles, terms)

    @property
    def lines(self) -> tuple[str, ...]:
        """Addresses of the lines of `document`: the first task, its extensions and moves."""
        return (*self.ancestors[1:], self.address) if self.lineage else (self.address,)

    @property
    def chain(self) -> tuple[str, ...]:
        """Addresses of the first task and of its extensions up to this one: one per block."""
        moves = {address_of(move.document) for move in self.moves}
        return tuple(line for line in self.lines if line not in moves)

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

    def _flaws(self) -> Flaws:
        yield from name_flaws(self.name, self.provider)
        yield from plan_flaws(self.plan, self.scale, self.cells)
        yield from catalogue_flaws(self.items, self.titles)
        yield from channel_flaws(self.channels, self.scale, self.plan)
        yield from time_flaws(self.start, self.epoch_seconds, self.window, self.retention_days)
        yield from uncovered_flaws(self.uncovered)
        if self.growth is not None:
            yield from self._flaws_of_growth(self.growth)
        yield from move_flaws(self.provider, self.provider_key, self.moves)
        yield from self._flaws_of_extension()

    def _flaws_of_growth(self, growth: Growth) -> Flaws:
        yield (
            not self.hides_presence or self.provider is None,
            "a task that can be extended block by block must have a plan over slots and a provider",
        )
        yield growth.blocks[-1].end != len(self.items), "its blocks must contain all items"
        yield from growth.flaws(self.slots)

    def _flaws_of_extension(self) -> Flaws:
        if self.lineage is None:
            return
        is_extension = self._last_move(self.lineage) is None
        yield from (
            (
                self.hides_presence and self.growth is None and len(self.chain) > 1,
                "only a task of the plan rated, or one over slots written as extendable, can be "
                "extended",
            ),
            (
                self.provider is None,
                "a task that names no provider cannot be extended; write a new one",
            ),
            (
                is_extension and self.lineage.first >= len(self.items),
                "an extension must add at least one item",
            ),
            (
                len(self.lineage.ancestors) > MOST_EXTENSIONS + 1,
                f"it must have at most {MOST_EXTENSIONS} extensions and moves",
            ),
        )


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def is_address(text: str) -> bool:
    """Return whether the text is a valid address: 64 hexadecimal digits."""
    return _ADDRESS.fullmatch(text) is not None


# Query schedule: the items that a user is queried about, public and independent of ratings.


def asked(task: Task, person: str) -> tuple[int, ...]:
    """Return the item indices that a report of `person` covers, ascending, for a plan over slots.

    For a task without `growth`. With it see `ItemBlock.places`. Under "sample:K" these are the K
    indices of the smallest `pair_key`, as in the bulk implementation
    `tacit.collection.public_hash`. Under "rated" a report covers one index, chosen by the device.
    """
    slots = task.slots
    if slots is None or slots >= len(task.items):
        return tuple(range(len(task.items)))
    me = hash_id(person)
    keyed = sorted(
        (pair_key(me, item_hash, ASK), index) for index, item_hash in enumerate(task.item_hashes)
    )
    return tuple(sorted(index for _, index in keyed[:slots]))
