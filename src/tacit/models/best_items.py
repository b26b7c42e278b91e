"""Rankings of the catalogue by a rating model, by predicted rating or by expected gain.

A model with several draws predicts their mean. Its candidates are preselected by mean theta. The
mean over D draws with K factors each is one inner product of D K numbers,

    mean_d x_ud . y_id = p_u . z_i,    p_u = x_ud / D for all d,  z_i = y_id for all d,

and nearly the one of R <= 32 distilled factors A (`tacit.models.distillation`), when z is replaced
by its least-squares projection on A. A few candidates are then ranked by their predictions, which
are means over all draws and cost D K operations each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from tacit.kernels.layout import Side
from tacit.kernels.ranking.topk import BLOCK_BYTES, best_lists, top_k
from tacit.models.lists.fitted import FittedLists
from tacit.models.ranking import every_item, expected_gain, rows_of
from tacit.ratings import Codes

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
BLOCK = 4096
"""Most users that are ranked at a time."""
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


@dataclass(frozen=True, eq=False)
class ItemRanker:
    """A rating model as a ranking needs it.

    `predict`: ratings of pairs of codes. `levels`: of the scale. `mu`, `people`: as in `Fitted`.
    `form`: preselects items where predictions are means over several draws; None to rank all.
    """

    predict: Callable[[Codes, Codes], Floats]
    levels: Doubles
    items: int
    mu: Doubles
    people: Floats
    form: MeanForm | None

    def best(
        self, users: Codes, excluded: Side, n: int, exposure: FittedLists | None
    ) -> tuple[Codes, Floats]:
        """Return codes and predicted ratings of the n best items, as `Fitted.best_items`.

        `exposure`: to rank by gain; None to rank by rating.
        """
        codes = np.full((len(users), n), -1, np.int32)
        size = min(BLOCK, max(1, BLOCK_BYTES // (4 * self.items)))
        for first in range(0, len(users), size):
            some = slice(first, min(first + size, len(users)))
            exposures = None if exposure is None else exposure.exposures(users[some])
            codes[some] = self._best(users[some], rows_of(excluded, some), n, exposures)
        return codes, self._ratings_of(users, codes)

    def _best(self, users: Codes, excluded: Side, n: int, exposures: Floats | None) -> Codes:
        """Return codes of a block of users. `exposures`: shape (users, items)."""
        if self.form is None or candidates_for(n) >= self.items:
            ratings = every_item(self.predict, users, self.items)(slice(0, len(users)))
            scores = ratings if exposures is None else self._gains(exposures, ratings)
            return best_lists(scores.__getitem__, excluded, self.items, n)
        candidates = self._candidates(self.form, users, excluded, n, exposures)
        scores = self._ratings_of(users, candidates)
        if exposures is not None:
            chosen = np.take_along_axis(exposures, np.maximum(candidates, 0), 1)
            gains = self._gains(chosen, scores)
            scores = np.where(candidates >= 0, gains, np.float32(-np.inf))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        return np.take_along_axis(candidates, order, 1)

    def _candidates(
        self, form: MeanForm, users: Codes, excluded: Side, n: int, exposures: Floats | None
    ) -> Codes:
        """Return candidates for `_best`, ascending, padded with -1."""
        rows = form.rows(self.people, users)
        if exposures is None:
            return form.candidates(rows, excluded, n)
        gains = self._gains(exposures, form.theta(rows, self._levels_of(users)))
        best = best_lists(gains.__getitem__, excluded, self.items, candidates_for(n))
        return np.sort(best, axis=1)

    def _gains(self, exposures: Floats, ratings: Floats) -> Floats:
        return expected_gain(exposures, ratings, self.levels)

    def _levels_of(self, users: Codes) -> Floats:
        """Return mean ratings of users over all items and draws, on the latent scale."""
        levels = np.where(users >= 0, self.people[:, users, 0].mean(0), 0)
        return np.asarray(levels + self.mu.mean(), np.float32)

    def _ratings_of(self, users: Codes, codes: Codes) -> Floats:
        """Return predicted ratings of each user's items, -inf for -1; shape as `codes`."""
        each = np.repeat(users, codes.shape[1])
        predicted = self.predict(each, codes.ravel()).reshape(codes.shape)
        return np.where(codes >= 0, predicted, np.float32(-np.inf))
