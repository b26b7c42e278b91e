"""Evidence: the one form in which every model sees its data, reports and true ratings alike."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.given import must_be
from tacit.kernels.layout import Layout, counted, layout
from tacit.models.evidence.missing_symbol import (
    PresenceChannel,
    columns,
    hidden,
    likelihood,
    reported,
)
from tacit.models.evidence.presence_matrix import PresenceMatrix, cells, public
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Floats = NDArray[np.float32]
Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Who sent which symbol about what, in canonical order (by user, then item).

    `symbols`: columns of `likelihood`, unsigned, shape (n,). `likelihood`: P(symbol | level), shape
    (levels, symbols), the tables of all channels side by side, channel c in the columns
    `blocks[c]`; the identity for true ratings. `numbers`: what each column stands for, float32,
    shape (symbols,), which naive models take for the rating. `hidden`: what a report says of
    presence, None where who rated what was sent in clear; P is then given that something was
    reported, and rows are reports of something only.
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
        """The person of each report, shape (n,)."""
        return np.repeat(np.arange(len(self.user_ids), dtype=np.int32), self.layout.users.counts)

    @property
    def item_of(self) -> NDArray[np.int32]:
        """The item of each report, shape (n,)."""
        return self.layout.users.other

    @cached_property
    def values(self) -> Floats:
        """The number each report stands for, shape (n,)."""
        return self.numbers[self.symbols]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many reports there are of each symbol, shape (symbols,)."""
        return counted(self.symbols, self.likelihood.shape[1])

    @cached_property
    def presence(self) -> PresenceMatrix:
        """Who rated what, as far as the reports say."""
        found = cells(self.layout.users, len(self.item_ids))
        return public(found) if self.hidden is None else self.hidden.matrix(found)

    def where(self, mask: NDArray[np.bool_]) -> "Evidence":
        """The reports where `mask` (canonical order) holds."""
        users, items = self.user_of[mask], self.item_of[mask]
        cells, _ = layout(users, items, len(self.user_ids), len(self.item_ids))
        return replace(self, layout=cells, symbols=self.symbols[mask])


def evidence(data: Ratings | Reports) -> Evidence:
    """The evidence in ratings or reports; raises `RequestError` when there is none: no rows, none
    but "missing", one level, or a channel at epsilon 0, whose rows are all equal; and for what is
    neither."""
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
                f"The channel {channel.id} has the same outputs for all ratings (epsilon "
                f"{channel.epsilon}), so its reports carry no information. Fit reports of another "
                "channel."
            )
    missing = hidden(data)
    if missing is not None:
        data = data.where(reported(data))
        if len(data) == 0:
            raise RequestError(
                f"All reports of {data.name} have the value missing, but a model "
                "requires one that does not; collect reports from more users, on more "
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
