"""Evidence: the one form in which every model sees its data, reports and true ratings alike."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.layout import Layout, layout
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings, Vocabulary
from tacit.reports import Reports
from tacit.scale import RatingScale

Floats = NDArray[np.float32]
Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Who sent which symbol about what, in canonical order (by user, then item).

    `symbols`: int32 columns of `likelihood`, shape (n,). `likelihood`: P(symbol | level), shape
    (levels, symbols), the tables of all channels side by side, channel c in the columns
    `blocks[c]`; the identity for true ratings. `presence_public`: whether who rated what was
    sent in clear. `values`: the number each report stands for, which naive models take for it.
    """

    layout: Layout
    symbols: NDArray[np.int32]
    likelihood: Table
    blocks: list[slice]
    values: Floats
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    guarantee: Guarantee
    presence_public: bool = True

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
    def decoded(self) -> tuple[Floats, float]:
        """Debiased values, shape (n,), and their mean variance given the rating.

        t(o) = E[rating | o] under a uniform prior carries the direction of the score; its
        regression on the true level, E[t | r] ~ a + kappa r, is known from the table, so
        (t - a) / kappa is unbiased for the straight part of the response. Exact unbiasedness at
        every level exists too, but at small epsilon its variance explodes.
        """
        levels = np.asarray(self.scale.values)
        P, blocks = self.likelihood, len(self.blocks)
        t = (levels @ P) / P.sum(0)
        response = P @ t / blocks
        centred = levels - levels.mean()
        kappa = float(centred @ response) / float(centred @ centred)
        decoded = levels.mean() + (t - response.mean()) / kappa
        variance: Table = P @ decoded**2 / blocks - (P @ decoded / blocks) ** 2
        spread = float(variance.mean())
        return decoded[self.symbols].astype(np.float32), spread

    def where(self, mask: NDArray[np.bool_]) -> "Evidence":
        """The reports where `mask` (canonical order) holds."""
        users, items = self.user_of[mask], self.item_of[mask]
        return replace(
            self,
            layout=layout(users, items, len(self.user_ids), len(self.item_ids)),
            symbols=self.symbols[mask],
            values=self.values[mask],
        )


def evidence(data: Ratings | Reports) -> Evidence:
    """The evidence in ratings or reports; raises `RequestError` when there is none."""
    if len(data) == 0:
        raise RequestError(f"{data.name} holds no rows; a model needs at least one to learn from.")
    cells = layout(data.users, data.items, data.n_users, data.n_items)
    tables, symbols = _tables(data)
    ends = np.cumsum([table.shape[1] for table in tables])
    return Evidence(
        cells,
        symbols[cells.order],
        np.hstack(tables),
        [
            slice(int(end) - table.shape[1], int(end))
            for table, end in zip(tables, ends, strict=True)
        ],
        data.values[cells.order],
        data.scale,
        data.user_ids,
        data.item_ids,
        data.guarantee if isinstance(data, Reports) else NO_PRIVACY,
        isinstance(data, Ratings) or data.plan == "rated",
    )


def _tables(data: Ratings | Reports) -> tuple[list[Table], NDArray[np.int32]]:
    if isinstance(data, Ratings):
        return [np.eye(data.scale.n_levels)], data.levels.astype(np.int32)
    tables = [np.array(channel.likelihood)[int(channel.missing) :] for channel in data.channels]
    first = np.cumsum([0] + [table.shape[1] for table in tables[:-1]]).astype(np.int32)
    return tables, data.symbols.astype(np.int32) + first[data.channel_of]
