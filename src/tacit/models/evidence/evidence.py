"""Evidence: the common input of all models, for reports and true ratings alike.

Reports through channels that protect presence, where most slots hold no rating.

Such a channel has an input and a symbol "missing". A slot that sends another symbol is *reported*;
its symbol stems from a rating or is random. Evidence retains the reported slots. This module
computes how likely a slot is to be reported, and what an unrated slot sends.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.channels.table import Channel
from tacit.errors import RequestError, must_be
from tacit.kernels.layout import Layout, counted, layout
from tacit.models.evidence.presence_matrix import PresenceMatrix, cells, public
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PresenceChannel:
    """Channel of presence.

    `rated`, `unrated`: P(reported | rated) and P(reported | not rated) of each user's channel,
    shape (users,). `made_up`: P(symbol | not rated, reported), shape (symbols,), columns as in the
    evidence. `asked`: the queried slots, (users, items), or None when all were. `blocks`: the block
    of each item, (items,), or None where all items are queried at one rate.
    """

    rated: Doubles
    unrated: Doubles
    made_up: Doubles
    asked: csr_array | None
    blocks: NDArray[np.int32] | None = None

    def matrix(self, reported: csr_array) -> PresenceMatrix:
        """Return the debiased presence matrix. `reported`: 1 at each reported slot."""
        return PresenceMatrix(reported, self.rated, self.unrated, self.asked, blocks=self.blocks)


def hidden(reports: Reports) -> PresenceChannel | None:
    """Return the channel of presence of the reports, None where presence is public.

    Raises `RequestError` where some channels protect presence and others do not.
    """
    if not any(channel.missing for channel in reports.channels):
        return None
    if not all(channel.missing for channel in reports.channels):
        raise RequestError(
            f"Some channels of {reports.name} protect presence and others do not; fit each kind "
            "of report separately."
        )
    rates = np.array([_rates(channel) for channel in reports.channels])
    of_person = np.zeros(reports.n_users, np.int64)
    of_person[reports.users] = reports.channel_of
    return PresenceChannel(
        rated=rates[of_person, 0],
        unrated=rates[of_person, 1],
        made_up=np.concatenate([_made_up(channel) for channel in reports.channels]),
        asked=None if reports.plan == "catalogue" else _queried(reports),
        blocks=reports.blocks,
    )


def likelihood(channel: Channel) -> Doubles:
    """Return P(symbol | level), shape (levels, symbols).

    Conditional on a report other than "missing" where that is a symbol of the channel.
    """
    table = np.array(channel.likelihood)
    if not channel.missing:
        return table
    shown = table[1:, _shows_rating(channel)]
    return shown / shown.sum(1).mean()


def reported(reports: Reports) -> NDArray[np.bool_]:
    """Return which rows hold another symbol than "missing", shape (n,)."""
    is_reported = np.empty(len(reports), np.bool_)
    for index, channel in enumerate(reports.channels):
        mine = reports.channel_of == index
        is_reported[mine] = _shows_rating(channel)[reports.symbols[mine]]
    return is_reported


def columns(reports: Reports) -> NDArray[np.unsignedinteger[Any]]:
    """Return each report's column in the concatenated `likelihood`s of the channels, shape (n,)."""
    shows = [_shows_rating(channel) for channel in reports.channels]
    kind = np.min_scalar_type(sum(int(shown.sum()) for shown in shows) - 1)
    places, first = np.empty(len(reports), kind), 0
    for index, shown in enumerate(shows):
        mine, before = reports.channel_of == index, np.cumsum(shown) - shown
        places[mine] = (first + before).astype(kind)[reports.symbols[mine]]
        first += int(shown.sum())
    return places


def _shows_rating(channel: Channel) -> NDArray[np.bool_]:
    return np.array([output is not None for output in channel.outputs])


def _rates(channel: Channel) -> tuple[float, float]:
    shown = np.array(channel.likelihood)[:, _shows_rating(channel)].sum(1)
    return float(shown[1:].mean()), float(shown[0])


def _made_up(channel: Channel) -> Doubles:
    shown = np.array(channel.likelihood)[0, _shows_rating(channel)]
    return shown / shown.sum()


def _queried(reports: Reports) -> csr_array:
    cells = (np.ones(len(reports), np.int8), (reports.users, reports.items))
    return csr_array(cells, shape=(reports.n_users, reports.n_items))


Floats = NDArray[np.float32]
Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Reported symbols by user and item, in canonical order (by user, then item).

    `symbols`: columns of `likelihood`, unsigned, shape (n,). `likelihood`: P(symbol | level), shape
    (levels, symbols), the tables of all channels concatenated, channel c in the columns
    `blocks[c]`; the identity for true ratings. `numbers`: numeric output of each column, float32,
    shape (symbols,), which naive models use as the rating. `hidden`: channel of presence, None
    where presence is public. With it, P is conditional on a report other than "missing", and rows
    are such reports only.
    """

    layout: Layout
    symbols: NDArray[np.unsignedinteger[Any]]
    likelihood: Table
    blocks: list[slice]
    numbers: Floats
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    guarantee: Guarantee
    hidden: PresenceChannel | None = None

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def user_of(self) -> NDArray[np.int32]:
        """User of each report, shape (n,)."""
        return np.repeat(np.arange(len(self.user_ids), dtype=np.int32), self.layout.users.counts)

    @property
    def item_of(self) -> NDArray[np.int32]:
        """Item of each report, shape (n,)."""
        return self.layout.users.other

    @cached_property
    def values(self) -> Floats:
        """Numeric output of each report, shape (n,)."""
        return self.numbers[self.symbols]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of reports per symbol, shape (symbols,)."""
        return counted(self.symbols, self.likelihood.shape[1])

    @cached_property
    def presence(self) -> PresenceMatrix:
        """Presence matrix: which user rated which item, debiased where it is protected."""
        rated_cells = cells(self.layout.users, len(self.item_ids))
        return public(rated_cells) if self.hidden is None else self.hidden.matrix(rated_cells)

    def where(self, mask: NDArray[np.bool_]) -> "Evidence":
        """Return the reports where `mask` (canonical order) holds."""
        users, items = self.user_of[mask], self.item_of[mask]
        cells, _ = layout(users, items, len(self.user_ids), len(self.item_ids))
        return replace(self, layout=cells, symbols=self.symbols[mask])


def evidence(data: Ratings | Reports) -> Evidence:
    """Return the evidence in ratings or reports.

    Raises `RequestError` for data without information (no rows, only "missing", one level, or a
    channel at epsilon 0, whose rows are all equal) and for other types.
    """
    if not isinstance(data, Reports):
        must_be(Ratings, data, "`Ratings` or `Reports`", "pass what `perturb` returns")
    data.scale.require_stars("A model that predicts ratings")
    if len(data) == 0:
        raise RequestError(f"{data.name} contains no rows; a model requires at least one.")
    if isinstance(data, Ratings):
        return _evidence(data, data.levels, [np.eye(data.scale.n_levels)], data.scale.values)
    for channel in data.channels:
        if len(set(channel.weights)) == 1:
            raise RequestError(
                f"The channel {channel.id} has the same output distribution for all ratings "
                f"(epsilon {channel.epsilon}), so its reports carry no information. Use reports "
                "from another channel."
            )
    missing = hidden(data)
    if missing is not None:
        data = data.where(reported(data))
        if len(data) == 0:
            raise RequestError(
                f"All reports of {data.name} have the value missing, but a model "
                "requires at least one rating; collect reports from more users, on more "
                "slots or at a larger epsilon."
            )
    tables = [likelihood(channel) for channel in data.channels]
    numbers = [y for channel in data.channels for y in channel.outputs if y is not None]
    return _evidence(data, columns(data), tables, numbers, data.guarantee, missing)


def _evidence(
    data: Ratings | Reports,
    symbols: NDArray[np.unsignedinteger[Any]],
    tables: list[Table],
    numbers: Iterable[SupportsFloat],
    guarantee: Guarantee = NO_PRIVACY,
    missing: PresenceChannel | None = None,
) -> Evidence:
    cells, order = layout(data.users, data.items, data.n_users, data.n_items)
    ends = np.cumsum([0] + [table.shape[1] for table in tables]).tolist()
    return Evidence(
        cells,
        symbols[order],
        np.hstack(tables),
        [slice(first, end) for first, end in pairwise(ends)],
        np.array([float(y) for y in numbers], np.float32),
        data.scale,
        data.user_ids,
        data.item_ids,
        guarantee,
        missing,
    )
