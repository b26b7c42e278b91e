"""Reports as frozen columns: symbols, each with the channel that drew it."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Mask, rows_where
from tacit.scale import RatingScale
from tacit.vocabulary import Codes, Vocabulary, check_codes

UNKNOWN_CAP = 0
"""Cap of a file of an older version, which does not state it. No plan has this cap."""


@dataclass(frozen=True, eq=False)
class Reports:
    """One row per report: user `users[r]` reported the symbol `symbols[r]` on item `items[r]`.

    `symbols`: column indices of the channel `channels[channel_of[r]]`, uint8 or uint16, shape (n,).
    Several channels are normal: each user may choose an epsilon. `guarantee`: that of the weakest
    channel. `cap`: the plan's bound on the number of ratings per user, None for no bound,
    `UNKNOWN_CAP` if a file does not state it.
    `blocks`: block of each item, if users answered block by block, shape (items,); otherwise None.
    """

    users: Codes
    items: Codes
    symbols: NDArray[np.unsignedinteger[Any]]
    channel_of: NDArray[np.uint8]
    channels: tuple[Channel, ...]
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    guarantee: Guarantee
    plan: str = "rated"
    name: str = "reports"
    cap: int | None = None
    blocks: Codes | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.users), len(self.items), len(self.symbols), len(self.channel_of)}
        if len(lengths) > 1:
            raise RequestError(f"Report columns must have the same length, got {sorted(lengths)}.")
        # Compiled loops index by these without bounds checks.
        check_codes("users", self.users, self.n_users)
        check_codes("items", self.items, self.n_items)
        check_codes("channel_of", self.channel_of, len(self.channels))
        if self.blocks is not None and len(self.blocks) != self.n_items:
            raise RequestError(
                f"blocks must have one number per item, {self.n_items}, got {len(self.blocks)}."
            )
        self._check_symbols()

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return (
            f"<Reports {self.name}: {len(self):,} of {self.n_users:,} users on "
            f"{self.n_items:,} items, plan {self.plan}, {self.guarantee.brief}>"
        )

    def _repr_html_(self) -> str:
        """Show counts, the plan and the guarantee."""
        lines = (
            ("reports", f"{len(self):,}"),
            ("users", f"{self.n_users:,}"),
            ("items", f"{self.n_items:,}"),
            ("plan", self.plan),
            ("channels", ", ".join(channel.id[:12] for channel in self.channels)),
            ("guarantee", self.guarantee.sentence),
        )
        return card(f"Reports {self.name}", lines)

    @property
    def n_users(self) -> int:
        """Number of users in the vocabulary, with or without reports."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items in the vocabulary, with or without reports."""
        return len(self.item_ids)

    @property
    def values(self) -> NDArray[np.float32]:
        """Output value of each symbol, shape (n,), which naive models use as the rating."""
        values = np.empty(len(self), np.float32)
        for index, channel in enumerate(self.channels):
            mine = self.channel_of == index
            outputs = np.array([np.nan if y is None else float(y) for y in channel.outputs])
            values[mine] = outputs[self.symbols[mine]]
        return values

    def require_distinct_slots(self) -> None:
        """Raise `RequestError` if a user has more than one report on an item.

        The guarantee covers one report per slot, and models treat each report as independent.
        """
        pair = self.users.astype(np.int64) * self.n_items + self.items
        if not (pair[1:] > pair[:-1]).all():
            pair.sort()
        if twice := int((pair[1:] == pair[:-1]).sum()):
            raise RequestError(
                f"{twice:,} reports repeat a (user, item) pair; keep one report per pair"
            )

    def _check_symbols(self) -> None:
        if len(self.channels) == 1:
            check_codes("symbols", self.symbols, len(self.channels[0].outputs))
            return
        for index, channel in enumerate(self.channels):
            check_codes("symbols", self.symbols[self.channel_of == index], len(channel.outputs))

    def where(self, mask: Mask) -> Self:
        """Return the rows selected by a mask, with the same vocabularies and channels.

        Raises `RequestError` for a mask of another length.
        """
        return self.take(rows_where(mask, len(self)))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the rows with these indices, in that order. Vocabularies and channels stay."""
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            symbols=self.symbols[rows],
            channel_of=self.channel_of[rows],
        )
