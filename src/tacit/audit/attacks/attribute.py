"""Attribute: what else is known of people, told from what came of them.

The attacker knows a column of a table of people (their gender, say) for some, and learns what tells
it: a ridge regression on what is expected of every pair given its column. Expected are, under the
item's true shares, whether the item was rated and how far above the item's mean.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tacit.audit.attacks.linkage import Codes, drawn
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import Doubles, World
from tacit.errors import RequestError
from tacit.metrics.separation import auc, auc_error

Floats = NDArray[np.float32]
FOLDS = 5
RIDGES = (0.03, 0.3, 3.0)
"""In mean squared lengths of a person's features."""
BANDS = 4
FEWEST = 20
"""People who have a value, and who do not: fewer are no group to find."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """`most_values`: of columns with more values than this, numbers are cut at their quartiles, and
    words, which are names, left out. `most_people`: of more people than this, so many are drawn.

    Raises `RequestError` for fewer than two values, and for fewer people than two groups need.
    """

    most_values: int = 30
    most_people: int = 4000

    name = "attribute"
    knows = (
        "The attacker observes the reports of all users, and knows the channel's table, the true "
        "rating distribution of each item, and one column of the table of users for four fifths "
        "of them."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        if self.most_values < 2:
            raise RequestError(
                f"most_values must be at least 2, got {self.most_values}: a column with "
                "a single value leaves nothing to predict."
            )
        if self.most_people < 2 * FEWEST:
            raise RequestError(
                f"most_people must be at least {2 * FEWEST}, got {self.most_people}: "
                "the attack cannot be evaluated on fewer users."
            )

    def run(self, world: World) -> list[Finding]:
        """The area under the curve of each column, mean over its values and five folds."""
        if world.people is None:
            return []
        whose = drawn(world, self.most_people, np.random.default_rng(world.seed))
        groups = columns(world.people, world.ratings.user_ids.ids.gather(whose), self.most_values)
        rated = presence(world, whose)
        found: list[Finding] = []
        for setting, features in (
            ("all that came", np.hstack([rated, stars(world, whose)])),
            ("presence alone", rated),
        ):
            gram = similarity(features)
            for name, labels in groups.items():
                found.append(_finding(f"{name}, {setting}", gram, labels, world.seed))
        return found


def columns(people: pl.DataFrame, ids: pl.Series, most_values: int) -> dict[str, Doubles]:
    """Of each column, who has which value: shape (ids, values), NaN where it is not known."""
    known = people.with_columns(pl.col("user").cast(ids.dtype))
    joined = pl.DataFrame({"user": ids}).join(
        known, on="user", how="left", maintain_order="left", coalesce=True
    )
    found: dict[str, Doubles] = {}
    for column in joined.drop("user").iter_columns():
        if column.dtype.is_numeric() and column.n_unique() > most_values:
            column = _banded(column)
        values = column.drop_nulls().unique().sort()
        if not 2 <= len(values) <= most_values:
            continue
        hot = np.column_stack([(column == value).cast(pl.Float64).to_numpy() for value in values])
        sizes = np.nansum(hot, axis=0)
        enough = (sizes >= FEWEST) & (column.is_not_null().sum() - sizes >= FEWEST)
        if enough.any():
            found[column.name] = hot[:, enough]
    return found


def _banded(column: pl.Series) -> pl.Series:
    edges = [column.quantile(part / BANDS) for part in range(1, BANDS)]
    above = [(column > edge).cast(pl.Int8) for edge in edges]
    return sum(above[1:], above[0]).rename(column.name)


def presence(world: World, whose: Codes) -> Floats:
    """The probability that an item was rated, given its column: shape (people, items)."""
    return _expected(world, whose, np.append(0.0, np.ones(world.ratings.scale.n_levels)))


def stars(world: World, whose: Codes) -> Floats:
    """How far above the item's mean a rating is expected, 0 for none: shape (people, items)."""
    values = np.asarray(world.ratings.scale.values, np.float64)
    means = world.star_shares @ values
    above = np.where(world.star_shares.any(1), values[:, None] - means, 0.0)
    return _expected(world, whose, np.vstack([np.zeros(len(means)), above]))


def _expected(world: World, whose: Codes, worth: Doubles) -> Floats:
    """The mean worth of a pair's row given its column; `worth`: (rows,) or (rows, items)."""
    table, shares = world.likelihood, world.shares
    each = np.broadcast_to(worth.T, shares.shape)
    total = np.maximum(shares @ table, np.finfo(np.float64).tiny)
    of_columns = (((shares * each) @ table) / total).astype(np.float32)
    return of_columns[np.arange(world.ratings.n_items), world.columns[whose]]


def similarity(features: Floats) -> Floats:
    """Products of people's features around the mean person, their mean square 1."""
    centred = features - features.mean(0)
    gram = centred @ centred.T
    return gram / max(float(np.trace(gram)) / len(gram), 1e-12)


def _finding(setting: str, gram: Floats, labels: Doubles, seed: int) -> Finding:
    known = np.flatnonzero(~np.isnan(labels).any(1))
    order = np.random.default_rng(seed).permutation(known)
    parts = [_told(gram, labels, order, fold) for fold in range(FOLDS)]
    inside = labels[known].sum(0)
    error = np.mean([auc_error(int(n), len(known) - int(n)) for n in inside])
    return Finding(
        setting=setting,
        figure="AUC",
        value=float(np.nanmean(parts)),
        baseline=0.5,
        error=float(error),
        count=len(known),
    )


def _told(gram: Floats, labels: Doubles, order: NDArray[np.intp], fold: int) -> float:
    """Of a fold: what is learnt from the others, with the ridge that served these best."""
    asked, learnt = order[fold::FOLDS], np.delete(order, np.s_[fold::FOLDS])
    # The ridge is chosen among those whose column is known: the fold has no say in it.
    chosen_by, first = learnt[::FOLDS], np.delete(learnt, np.s_[::FOLDS])
    by_ridge = [separated(gram, labels, first, chosen_by, ridge) for ridge in RIDGES]
    ridge = RIDGES[int(np.argmax(np.nan_to_num(by_ridge)))]
    return separated(gram, labels, learnt, asked, ridge)


def separated(
    gram: Floats,
    labels: Doubles,
    learnt: NDArray[np.intp],
    asked: NDArray[np.intp],
    ridge: float,
) -> float:
    """The mean over values of the area under the curve among those asked about."""
    own = gram[np.ix_(learnt, learnt)]
    own[np.diag_indices_from(own)] += ridge
    around = (labels[learnt] - labels[learnt].mean(0)).astype(np.float32)
    root = cho_factor(own, overwrite_a=True, check_finite=False)
    weights = np.asarray(cho_solve(root, around), np.float32)
    scores = (gram[np.ix_(asked, learnt)] @ weights).astype(np.float64)
    areas = [auc(scores[:, v], labels[asked, v] > 0) for v in range(labels.shape[1])]
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else float("nan")
