"""Reports through channels that protect presence, where most slots hold no rating.

Such a channel has an input and a symbol "missing". A slot that sends another symbol is *reported*;
its symbol stems from a rating or is random. Evidence retains the reported slots. This module
computes how likely a slot is to be reported, and what an unrated slot sends.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.reports import Reports

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PresenceChannel:
    """Channel of presence.

    `rated`, `unrated`: P(reported | rated) and P(reported | not rated) of each user's channel,
    shape (users,). `made_up`: P(symbol | not rated, reported), shape (symbols,), columns as in the
    evidence. `asked`: the queried slots, (users, items), or None when all were.
    """

    rated: Doubles
    unrated: Doubles
    made_up: Doubles
    asked: csr_array | None

    def matrix(self, reported: csr_array) -> PresenceMatrix:
        """Return the debiased presence matrix. `reported`: 1 at each reported slot."""
        return PresenceMatrix(reported, self.rated, self.unrated, self.asked)


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
