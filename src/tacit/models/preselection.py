"""Candidate items of each user: largest mean theta over all draws, by few factors.

The mean over D draws with K factors each is one inner product of D K numbers,

    mean_d x_ud . y_id = p_u . z_i,    p_u = x_ud / D for all d,  z_i = y_id for all d,

and nearly the one of R <= 32 distilled factors A (`tacit.models.distillation`), when z is replaced
by its least-squares projection on A. A few candidates are then ranked by their predictions, which
are means over all draws and cost D K operations each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from tacit.kernels.layout import Side
from tacit.kernels.topk import top_k
from tacit.ratings import Codes

Floats = NDArray[np.float32]
LEAST, PER_ITEM = 60, 3
"""Candidates: three times the length of the list, and at least 60."""


@dataclass(frozen=True, eq=False)
class MeanForm:
    """theta_ui = x_u . y_i, up to a constant per user, with x_u = (1, sum_d x_ud T_d).

    `items`: y, shape (items, 1 + R), the bias first. `turns`: T, shape (draws, K, R).
    """

    items: Floats
    turns: Floats

    @classmethod
    def of(cls, items: Floats, distilled: Floats) -> "MeanForm":
        """Project the item side of all draws, (draws, items, 1 + K), on `distilled`, (items, R)."""
        D, n, K = items[:, :, 1:].shape
        z = items[:, :, 1:].transpose(1, 0, 2).reshape(n, D * K)
        projected = np.asarray(lstsq(distilled, z, check_finite=False)[0])
        bias = items[:, :, 0].mean(0, dtype=np.float64)
        turns = projected.reshape(-1, D, K).transpose(1, 2, 0) / D
        return cls(
            np.column_stack([bias, distilled]).astype(np.float32),
            np.ascontiguousarray(turns, np.float32),
        )

    def rows(self, people: Floats, users: Codes) -> Floats:
        """Return x of users, shape (m, 1 + R).

        `people`: as in `Fitted`. `users`: codes, -1 for the average user, shape (m,).
        """
        rows = np.zeros((len(users), self.items.shape[1]), np.float32)
        rows[:, 0] = 1
        for draw, turn in zip(people, self.turns, strict=True):
            rows[:, 1:] += np.where(users[:, None] >= 0, draw[users, 1:], 0) @ turn
        return rows

    def candidates(self, rows: Floats, excluded: Side, n: int) -> Codes:
        """Return the items of largest theta for lists of n items, ascending, padded with -1.

        `rows`: x of each user. `excluded`: one row per user.
        """
        return np.sort(top_k(rows, self.items, excluded, candidates_for(n))[0], axis=1)

    def theta(self, rows: Floats, levels: Floats) -> Floats:
        """Return theta of all items, shape (m, items). `levels`: the constants of users, (m,)."""
        return np.asarray(rows @ self.items.T + levels[:, None], np.float32)


def candidates_for(n: int) -> int:
    """Return the number of candidates for a list of n items."""
    return max(LEAST, PER_ITEM * n)
