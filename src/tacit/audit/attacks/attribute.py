"""Attribute inference: predict a column of the table of users from their reports.

The attacker has a column of a table of users (gender, for example) for some of them, and learns to
predict it by ridge regression on expected values of all pairs given their columns: whether the item
was rated, and its rating relative to the item's mean, under the item's true shares.
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
from tacit.vocabulary import Vocabulary, rows_by_id

Floats = NDArray[np.float32]
FOLDS = 5
RIDGES = (0.03, 0.3, 3.0)
"""In units of the mean squared length of a user's features."""
BANDS = 4
FEWEST = 20
"""Fewest users with a value, and fewest without it, for a value to be evaluated."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """Settings of attribute inference.

    `most_values`: numeric columns with more values are cut at their quartiles, text columns with
    more values, such as names, are skipped. `most_people`: a sample of this size is drawn from more
    users.

    Raises `RequestError` for fewer than two values, and for fewer users than two groups need.
    """

    most_values: int = 30
    most_people: int = 4000

    name = "attribute"
    knows = (
        "The attacker observes all users' reports and has access to the channel's table, each "
        "item's true rating distribution, and the attribute of four fifths of the users."
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
        """Return the area under the curve of each column, mean over its values and five folds."""
        if world.people is None:
            return []
        users = drawn(world, self.most_people, np.random.default_rng(world.seed))
        groups = columns(world.people, world.ratings.user_ids.ids.gather(users), self.most_values)
        rated = presence(world, users)
        findings: list[Finding] = []
        for setting, features in (
            ("all that came", np.hstack([rated, stars(world, users)])),
            ("presence alone", rated),
        ):
            gram = similarity(features)
            for name, labels in groups.items():
                findings.append(_finding(f"{name}, {setting}", gram, labels, world.seed))
        return findings


def columns(people: pl.DataFrame, ids: pl.Series, most_values: int) -> dict[str, Doubles]:
    """Return indicators of the values of each column, shape (ids, values); NaN where unknown.

    Raises `RequestError` as `rows_by_id` does.
    """
    indicators: dict[str, Doubles] = {}
    for column in rows_by_id(people, "user", Vocabulary(ids)).iter_columns():
        if column.dtype.is_numeric() and column.n_unique() > most_values:
            column = _banded(column)
        values = column.drop_nulls().unique().sort()
        if not 2 <= len(values) <= most_values:
            continue
        hot = np.column_stack([(column == value).cast(pl.Float64).to_numpy() for value in values])
        sizes = np.nansum(hot, axis=0)
        enough = (sizes >= FEWEST) & (column.is_not_null().sum() - sizes >= FEWEST)
        if enough.any():
            indicators[column.name] = hot[:, enough]
    return indicators


def _banded(column: pl.Series) -> pl.Series:
    edges = [column.quantile(part / BANDS) for part in range(1, BANDS)]
    above = [(column > edge).cast(pl.Int8) for edge in edges]
    return sum(above[1:], above[0]).rename(column.name)


def presence(world: World, users: Codes) -> Floats:
    """Return the probability that an item was rated, given its column: shape (users, items)."""
    return _expected(world, users, np.append(0.0, np.ones(world.ratings.scale.n_levels)))


def stars(world: World, users: Codes) -> Floats:
    """Return the expected rating minus the item's mean, 0 if unrated: shape (users, items)."""
    values = np.asarray(world.ratings.scale.values, np.float64)
    means = world.star_shares @ values
    above = np.where(world.star_shares.any(1), values[:, None] - means, 0.0)
    return _expected(world, users, np.vstack([np.zeros(len(means)), above]))


def _expected(world: World, users: Codes, amounts: Doubles) -> Floats:
    """Return the expectation of `amounts` given each pair's column.

    `amounts`: shape (rows,) or (rows, items).
    """
    table, shares = world.likelihood, world.shares
    each = np.broadcast_to(amounts.T, shares.shape)
    total = np.maximum(shares @ table, np.finfo(np.float64).tiny)
    of_columns = (((shares * each) @ table) / total).astype(np.float32)
    return of_columns[np.arange(world.ratings.n_items), world.columns[users]]


def similarity(features: Floats) -> Floats:
    """Return inner products of users' centred features, scaled to mean square 1."""
    centred = features - features.mean(0)
    gram = centred @ centred.T
    return gram / max(float(np.trace(gram)) / len(gram), 1e-12)


def _finding(setting: str, gram: Floats, labels: Doubles, seed: int) -> Finding:
    known = np.flatnonzero(~np.isnan(labels).any(1))
    order = np.random.default_rng(seed).permutation(known)
    parts = [_fold_result(gram, labels, order, fold) for fold in range(FOLDS)]
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


def _fold_result(gram: Floats, labels: Doubles, order: NDArray[np.intp], fold: int) -> float:
    """Return the result of a fold: a model of the others, with the ridge chosen on them."""
    tested, learnt = order[fold::FOLDS], np.delete(order, np.s_[fold::FOLDS])
    # The ridge is chosen on the training users alone: the fold is not used.
    chosen_by, first = learnt[::FOLDS], np.delete(learnt, np.s_[::FOLDS])
    by_ridge = [separated(gram, labels, first, chosen_by, ridge) for ridge in RIDGES]
    ridge = RIDGES[int(np.argmax(np.nan_to_num(by_ridge)))]
    return separated(gram, labels, learnt, tested, ridge)


def separated(
    gram: Floats,
    labels: Doubles,
    learnt: NDArray[np.intp],
    tested: NDArray[np.intp],
    ridge: float,
) -> float:
    """Return the mean over values of the area under the curve of the users in `tested`."""
    training_gram = gram[np.ix_(learnt, learnt)]
    training_gram[np.diag_indices_from(training_gram)] += ridge
    around = (labels[learnt] - labels[learnt].mean(0)).astype(np.float32)
    root = cho_factor(training_gram, overwrite_a=True, check_finite=False)
    weights = np.asarray(cho_solve(root, around), np.float32)
    scores = (gram[np.ix_(tested, learnt)] @ weights).astype(np.float64)
    areas = [auc(scores[:, v], labels[tested, v] > 0) for v in range(labels.shape[1])]
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else float("nan")
