"""Terms of a task: its plan, channels, schedule and retention, and the flaws of invalid ones.

A flaw is whether something is wrong, and the sentence about it.
"""

import re
from collections.abc import Iterator, Sequence

from tacit.channels.table import Channel
from tacit.privacy.guarantee import PARTS
from tacit.scale import RatingScale
from tacit.wire.origin import FORM, is_origin
from tacit.wire.strict import ENDS

DAY = 86_400
MOST_CELLS, MOST_CHANNELS = 4096, 16
PART_NAMES = tuple(PARTS.values())
Flaws = Iterator[tuple[bool, str]]

_SAMPLE = re.compile(r"sample:([1-9][0-9]{0,3})")


def slots_of(plan: str) -> int | None:
    """Return K of the plan "sample:K"; None for another plan."""
    match = _SAMPLE.fullmatch(plan)
    return int(match[1]) if match else None


def name_flaws(name: str, provider: str | None) -> Flaws:
    """Yield the flaws of a task's name, and of the origin of its provider."""
    yield not 0 < len(name) <= 200, f"its name must have 1 to 200 characters, got {len(name)}"
    yield (
        provider is not None and not is_origin(provider),
        f"the provider '{(provider or '')[:60]}' is not an origin; write {FORM}",
    )


def plan_flaws(plan: str, scale: RatingScale, cells: int) -> Flaws:
    """Yield the flaws of a plan whose reports have a number of `cells`."""
    is_known = plan in ("rated", "catalogue") or slots_of(plan) is not None
    yield not is_known, f"the plan must be rated, catalogue or sample:K, got '{plan[:40]}'"
    yield (
        scale.has_one_level and plan == "rated",
        "for implicit feedback, the plan rated would protect nothing; use catalogue or sample:K",
    )
    yield cells > MOST_CELLS, f"a report must have at most {MOST_CELLS} cells, got {cells}"


def channel_flaws(channels: Sequence[Channel], scale: RatingScale, plan: str) -> Flaws:
    """Yield the flaws of the channels of a plan."""
    yield not 0 < len(channels) <= MOST_CHANNELS, f"it must have 1 to {MOST_CHANNELS} channels"
    yield len({channel.id for channel in channels}) != len(channels), "a channel occurs twice"
    yield (
        any(channel.levels != scale.levels for channel in channels),
        "the levels of a channel differ from those of the scale",
    )
    yield (
        any(channel.missing != (plan != "rated") for channel in channels),
        "the plans catalogue and sample:K require channels with missing, and the plan rated "
        "requires channels without it",
    )


def time_flaws(start: int, epoch_seconds: int, window: int, retention_days: int) -> Flaws:
    """Yield the flaws of the schedule and of the retention."""
    times = (start, epoch_seconds, window, retention_days)
    yield any(abs(time) >= ENDS for time in times), "times must be below 2^53 in magnitude"
    yield (
        not 0 < epoch_seconds <= 366 * DAY,
        f"an epoch must last 1 s to 366 days, got {epoch_seconds} s",
    )
    yield not 0 <= window <= 1000, f"the window must be 0 to 1000 epochs, got {window}"
    yield (
        retention_days * DAY < window * epoch_seconds,
        f"a retention of {retention_days} days is shorter than the window for late reports",
    )


def uncovered_flaws(uncovered: tuple[str, ...]) -> Flaws:
    """Yield the flaws of the list of parts that were derived from ratings."""
    yield (
        uncovered != tuple(part for part in PART_NAMES if part in uncovered),
        f"uncovered must list some of {', '.join(PART_NAMES)}, in this order and each once",
    )
