"""Distil the predictions of all posterior draws into the condensed item model for devices.

`condensed` keeps means, so it loses the joint uncertainty of items and the curvature of the link.
Where the provider has the ratings themselves, it can compute a device's fold-in. For some users u,
with rows x_u under the condensed draw,

    mean_d theta_ui(d) - theta_ui  ~  a_i + b_i . x_u        (least squares over u, each item i)

is the error of item i; a_i is added to its bias, b_i to its factors. Size and format are unchanged.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side
from tacit.models.condensing.condensed import CondensedItems
from tacit.models.device_blocks import Downloaded
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.rounded import halved

Doubles = NDArray[np.float64]
PEOPLE = 500
ENOUGH = 5  # users per coefficient, or nothing is distilled
RIDGE = 1.0  # on coefficients of rows whose prior variance is 1: one pseudo-user
AT_ONCE = 4096  # items per batch, for all these users


def taught(fitted: Fitted, data: Evidence) -> CondensedItems | None:
    """Return the condensed items, refined by `data` if it holds true ratings."""
    one = fitted.condensed
    is_exact = len(data.blocks) == 1 and np.array_equal(
        data.likelihood, np.eye(len(data.likelihood))
    )
    raters = np.flatnonzero(data.layout.users.counts)
    if one is None or not is_exact or len(raters) < ENOUGH * one.items.shape[1]:
        return one
    some = raters[np.linspace(0, len(raters) - 1, min(PEOPLE, len(raters))).astype(np.int64)]
    side, ratings = _of_people(data, some)
    all_draws, single = Downloaded.of(replace(fitted, condensed=None)), Downloaded.of(fitted)
    drawn = list(all_draws.own_rows(side, ratings))
    (rows,) = single.own_rows(side, ratings)
    regressors = np.column_stack([np.ones(len(rows)), rows[:, 1:]])
    gram = regressors.T @ regressors + RIDGE * np.eye(regressors.shape[1])
    items = one.items.astype(np.float64)
    for first in range(0, len(items), AT_ONCE):
        some_items = slice(first, first + AT_ONCE)
        lacks = _tastes(all_draws, drawn, some_items) - _tastes(single, [rows], some_items)
        items[some_items] += np.linalg.solve(gram, regressors.T @ lacks).T
    items[:, 1:] = halved(items[:, 1:])
    return replace(one, items=items.astype(np.float32))


def _of_people(data: Evidence, users: NDArray[np.int64]) -> tuple[Side, Doubles]:
    """Return the cells of these users, and their ratings in that order."""
    side, levels = data.layout.users, np.asarray(data.scale.values)
    cells = np.flatnonzero(np.isin(np.repeat(np.arange(len(side.counts)), side.counts), users))
    start = np.r_[0, np.cumsum(side.counts[users])].astype(np.int64)
    order = np.arange(len(cells), dtype=np.int32)
    return Side(start, side.other[cells], order), levels[data.symbols[side.cell[cells]]]


def _tastes(model: Downloaded, rows: list[Doubles], items: slice) -> Doubles:
    """Return theta of all these users for some items, the mean over draws, shape (users, items)."""
    total = 0.0
    for mu, x, y in zip(model.mu, rows, model.items[:, items], strict=True):
        total = total + mu + x[:, :1] + y[:, 0] + x[:, 1:] @ y[:, 1:].T.astype(np.float64)
    return np.asarray(total / len(rows), np.float64)
