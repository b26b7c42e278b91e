"""Measurement of a comparison: the rows of one cell, and the columns that compare rows.

Metrics that compare a row with the same model without privacy are computed after all rows, so that
resumed runs have them as well.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tacit.collection.named_plans import IDENTITY, protects_presence
from tacit.collection.perturb import perturb
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.experiments.comparison.comparison import Comparison, ComparisonCell
from tacit.experiments.experiment import Latest
from tacit.experiments.metric_columns import (
    NO_RATINGS,
    cold_users,
    list_columns,
    rating_columns,
    relevant_rating,
)
from tacit.learners.learner import Learner, plugged
from tacit.metrics.accuracy import Slice
from tacit.models import Fitted, FittedLists, exposure_of
from tacit.models.simulated_devices import device_predict
from tacit.models.top_n import top_n
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Codes, Ratings
from tacit.reports import Reports
from tacit.results.comparison.row import LISTS, ResultRow


@dataclass(frozen=True)
class Guarantees:
    """Guarantees of an experiment: per value or slot (`one`), per user at delta 0 (`whole`), and
    per user at a positive delta (`tight`). None without a guarantee.
    """

    one: Guarantee = NO_PRIVACY
    whole: Guarantee | None = None
    tight: Guarantee | None = None
    values_epsilon: str | None = None
    channel_id: str | None = None

    @classmethod
    def of(cls, plan: Plan, ratings: Ratings, delta: str) -> Self:
        """Return the guarantees of a plan for reports on these ratings."""
        return cls(
            ratings.qualified(plan.guarantee),
            plan.user_guarantee(ratings.n_items),
            plan.tight_guarantee(ratings.n_items, delta),
            plan.values_epsilon,
            plan.channels[0].id,
        )

    @classmethod
    def of_trainer(cls, guarantee: Guarantee) -> Self:
        """Return the guarantees of a trainer, per user if that is its unit."""
        return cls(guarantee, guarantee if guarantee.unit == "user" else None)


class Measurement:
    """Measures cells of a comparison on one data set.

    The last split and the last reports are cached, so that consecutive models are compared on the
    same noise.
    """

    def __init__(self, comparison: Comparison, ratings: Ratings) -> None:
        self._asked = comparison
        self._ratings = ratings
        self._relevant = relevant_rating(ratings.scale, comparison.relevant)
        self._splits = Latest[tuple[Ratings, Ratings]]()
        self._data = Latest[tuple[Ratings | Reports, Guarantees]]()
        self._exposures = Latest[FittedLists | None]()

    def __call__(self, cell: ComparisonCell) -> list[ResultRow]:
        """Return a row for each location where the model predicts or recommends."""
        split = (cell.seed, cell.fold)
        train, test = self._splits.of(split, lambda: self._split(*split))
        learner = self._asked.learner(cell.model, cell.mode)
        fitted, data, guarantees, seconds = self._fitted(cell, learner, train)
        facts = _facts(cell, guarantees, len(train), len(test), seconds)
        facts["cold_users"] = cold_users(train, test)
        facts["items"] = self._item_columns(learner)
        facts["plugins"] = plugged(cell.channel, learner)
        has_exposure = isinstance(fitted, Fitted) and fitted.exposure is not None
        facts["ranked_by"] = "gain" if has_exposure else None
        return [
            ResultRow(
                **facts,
                where=where,
                **self._rating_columns(learner, fitted, train, test, where),
                **self._list_columns(fitted, train, test, where, data),
            )
            for where in learner.where
        ]

    def _item_columns(self, learner: Learner) -> str | None:
        """Return the columns of the item table, if the model uses it."""
        table = self._asked.items
        if table is None or not learner.reads_items:
            return None
        return ", ".join(name for name in table.columns if name != "item")

    def _fitted(
        self, cell: ComparisonCell, learner: Learner, train: Ratings
    ) -> tuple[Any, Ratings | Reports, Guarantees, float]:
        """Return the model, its data, their guarantees, and the seconds of the fit."""
        options = self._asked.options_of(learner)
        if learner.is_trainer:
            began = time.perf_counter()
            trained = learner.fit(
                train, epsilon=cell.epsilon, delta=self._asked.delta, rng=cell.seed, **options
            )
            guarantees = Guarantees.of_trainer(trained.guarantee)
            return trained, train, guarantees, time.perf_counter() - began
        noise = (cell.seed, cell.fold, cell.plan, cell.cap, cell.channel, cell.epsilon)
        data, guarantees = self._data.of(noise, lambda: self._collected(cell, train))
        began = time.perf_counter()
        fitted = learner.fit(data, rng=cell.seed, **options)
        seconds = time.perf_counter() - began
        return self._with_exposure(cell, fitted, data), data, guarantees, seconds

    def _with_exposure(self, cell: ComparisonCell, fitted: Any, data: Ratings | Reports) -> Any:
        """Return a rating model with the exposure that all models of these reports share."""
        by_gain = self._asked.lists and self._asked.rank_by != "rating"
        if not by_gain or not isinstance(fitted, Fitted):
            return fitted
        key: tuple[object, ...] = cell.seed, cell.fold
        if isinstance(data, Reports):
            # Public presence is the same at every epsilon.
            hidden = protects_presence(cell.plan)
            key += cell.cap, *((cell.channel, cell.epsilon) if hidden else ())
        known = self._exposures.of(key, lambda: exposure_of(data, rng=cell.seed))
        return fitted.with_exposure(known)

    def _split(self, seed: int, fold: int | None) -> tuple[Ratings, Ratings]:
        held_out = self._asked.protocol.test(self._ratings, seed, fold)
        return self._ratings.where(~held_out), self._ratings.where(held_out)

    def _collected(
        self, cell: ComparisonCell, train: Ratings
    ) -> tuple[Ratings | Reports, Guarantees]:
        if cell.channel in (None, IDENTITY) or cell.epsilon is None:
            return train, Guarantees()
        plan = self._asked.make_plan(
            cell.plan, str(cell.channel), cell.epsilon, train.scale, cell.cap
        )
        return perturb(train, plan), Guarantees.of(plan, train, self._asked.delta)

    def _rating_columns(
        self, learner: Learner, fitted: Any, train: Ratings, test: Ratings, where: str
    ) -> dict[str, Any]:
        """Return the columns of predicted ratings. Raises `RequestError` unless all are finite."""
        slices = self._asked.slices
        if not learner.predicts:
            return {**NO_RATINGS, "slices": () if slices else None}
        began = time.perf_counter()
        if where == "device":
            predicted = device_predict(
                fitted, train, test.users, test.items, engine=self._asked.engine
            )
        else:
            predicted = fitted.predict_codes(test.users, test.items)
        seconds = time.perf_counter() - began
        if not np.isfinite(predicted).all():
            raise RequestError(f"The model {learner.name} predicted a non-finite value.")
        columns = rating_columns(predicted, train, test, self._relevant, slices=slices)
        return {**columns, "predict_seconds": seconds}

    def _list_columns(
        self, fitted: Any, train: Ratings, test: Ratings, where: str, data: Ratings | Reports
    ) -> dict[str, Any]:
        """Return the columns of top-N lists, with the relevant test items."""
        if not self._asked.lists:
            return dict.fromkeys((*LISTS, "niche_ndcg_at_20"), math.nan)
        relevant = test.where(test.values >= self._relevant)

        def lists(known: Ratings, length: int) -> Codes:
            return top_n(fitted, known, length, where=where, engine=self._asked.engine)

        return list_columns(lists, train, relevant, where, reports=data)


def _facts(
    cell: ComparisonCell, guarantees: Guarantees, n_train: int, n_test: int, fit_seconds: float
) -> dict[str, Any]:
    """Return the columns of a row that do not depend on the location."""
    one, per_user, tight = guarantees.one, guarantees.whole, guarantees.tight
    epsilon = _number(one.epsilon)
    return {
        "dataset": cell.dataset,
        "plan": "curator" if one.trust == "curator" else cell.plan,
        "cap": cell.cap,
        "channel": cell.channel,
        "channel_id": guarantees.channel_id,
        "model": cell.model,
        "mode": "none" if epsilon is None else cell.mode,
        "trust": one.trust,
        "epsilon": epsilon,
        "delta": float(tight.delta if tight else one.delta),
        "unit": one.unit,
        "values_epsilon": _number(guarantees.values_epsilon),
        "user_epsilon": _number(per_user.epsilon) if per_user else None,
        "tight_epsilon": _number(tight.epsilon) if tight else None,
        "claim_valid": one.fails is None if epsilon is not None else None,
        "uncovered": ", ".join(one.uncovered) or None,
        "empty_epsilon": _number(one.empty),
        "seed": cell.seed,
        "fold": cell.fold,
        "n_train": n_train,
        "n_test": n_test,
        "fit_seconds": fit_seconds,
    }


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)


def with_baseline_columns(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Add `information_efficiency` to the rows, and `privacy_cost` to their slices.

    Each row is compared with that of the same model, location, seed and fold whose channel is
    `identity`. Without one, as for a trainer, both stay missing.
    """
    free = {_kind(row): row for row in rows if row.channel == IDENTITY}
    return [
        _compared(row, other) if (other := free.get(_kind(row))) is not None else row
        for row in rows
    ]


def information_efficiency(row: ResultRow, free: ResultRow) -> float:
    """Return the share of the information about items that the channel retains, 1 for all:

        (RMSE of the mean - RMSE) / (RMSE of the mean - RMSE of `free`)

    `free`: the same fold-in with item factors fitted to true ratings, on the same split. The mean
    is `rmse_of_mean`, the error of the mean of the true training ratings. Below 0 if the mean is
    better, above 1 if `free` is worse. NaN unless the row is a device's and `free` is better than
    the mean.
    """
    gain = free.rmse_of_mean - free.rmse
    if row.where != "device" or not gain > 0:
        return math.nan
    return (row.rmse_of_mean - row.rmse) / gain


def _kind(row: ResultRow) -> tuple[object, ...]:
    return row.dataset, row.model, row.where, row.seed, row.fold


def _compared(row: ResultRow, free: ResultRow) -> ResultRow:
    efficiency = information_efficiency(row, free)
    if row.slices is None:
        return replace(row, information_efficiency=efficiency)
    errors = {(part.by, part.decile): part.slice_rmse for part in free.slices or ()}
    costed = tuple(_costed(part, errors.get((part.by, part.decile))) for part in row.slices)
    return replace(row, information_efficiency=efficiency, slices=costed)


def _costed(part: Slice, free: float | None) -> Slice:
    return part if free is None else replace(part, privacy_cost=part.slice_rmse - free)
