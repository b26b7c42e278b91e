"""Request of `tacit compare`, and how it is run on one data set.

Metrics that compare a row with the same model without privacy.

They are computed after all rows, so that resumed runs have them as well.
"""

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl

from tacit.collection.plan import Plan
from tacit.collection.plans import protects_presence
from tacit.errors import RequestError
from tacit.experiments import grid
from tacit.experiments.defaults import RANDOM
from tacit.experiments.grid import IDENTITY, Experiment, Journal, Latest, Progress
from tacit.experiments.metric_columns import NO_RATINGS, cold_users, list_columns, rating_columns
from tacit.experiments.results import ResultRow
from tacit.experiments.tools import Predictor, Tools
from tacit.metrics.accuracy import Slice, relevant_from
from tacit.metrics.split import SplitProtocol
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.training import modes


@dataclass(frozen=True)
class Promise:
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
    def of_training(cls, guarantee: Guarantee) -> Self:
        """Return the guarantees of a trainer, per user if that is its unit."""
        return cls(guarantee, guarantee if guarantee.unit == "user" else None)


class ComparisonRunner:
    """Runs experiments on one data set.

    The last split and the last reports are cached, so that consecutive models are compared on the
    same noise.
    """

    def __init__(
        self,
        ratings: Ratings,
        protocol: SplitProtocol,
        tools: Tools,
        *,
        relevant: float | None = None,
        delta: str = "1e-6",
        options: dict[str, Any] | None = None,
        slices: bool = False,
        items: pl.DataFrame | None = None,
    ) -> None:
        self.ratings = ratings
        self._protocol = protocol
        self._tools = tools
        self._relevant = _relevant(ratings.scale, relevant)
        self._delta = delta
        self._options = options or {}
        self._slices = slices
        self._items = items
        self._splits = Latest[tuple[Ratings, Ratings]]()
        self._data = Latest[tuple[Ratings | Reports, Promise]]()

    def __call__(self, experiment: Experiment) -> list[ResultRow]:
        """Return a row for each location where the model predicts or recommends."""
        split = (experiment.seed, experiment.fold)
        train, test = self._splits.of(split, lambda: self._split(*split))
        fitted, data, promise, seconds = self._fitted(experiment, train)
        facts = _facts(experiment, promise, len(train), len(test), seconds)
        facts["cold_users"] = cold_users(train, test)
        facts["items"] = self._known(experiment.model)
        facts["plugins"] = self._tools.plugged(experiment.channel, experiment.model)
        return [
            ResultRow(
                **facts,
                where=where,
                **self._ratings(experiment.model, fitted, train, test, where),
                **self._lists(fitted, train, test, where, data),
            )
            for where in self._tools.where(experiment.model)
        ]

    def _known(self, model: str) -> str | None:
        """Return the columns of the item table, if the model uses it."""
        if self._items is None or not self._tools.reads_items(model):
            return None
        return ", ".join(name for name in self._items.columns if name != "item")

    def _fitted(
        self, experiment: Experiment, train: Ratings
    ) -> tuple[Any, Ratings | Reports, Promise, float]:
        """Return the model, its data, their guarantees, and the seconds of the fit."""
        settings = {"rng": experiment.seed, **self._options}
        settings |= {} if self._items is None else {"item_table": self._items}
        if experiment.channel is None:
            began = time.perf_counter()
            trained = self._tools.train(
                experiment.model,
                train,
                epsilon=experiment.epsilon,
                mode=experiment.mode,
                delta=self._delta,
                **settings,
            )
            promise = Promise.of_training(trained.guarantee)
            return trained, train, promise, time.perf_counter() - began
        terms = (experiment.plan, experiment.cap, experiment.channel, experiment.epsilon)
        noise = (experiment.seed, experiment.fold, *terms)
        data, promise = self._data.of(noise, lambda: self._collected(experiment, train))
        began = time.perf_counter()
        fitted = self._tools.fit(experiment.model, data, **settings)
        return fitted, data, promise, time.perf_counter() - began

    def _split(self, seed: int, fold: int | None) -> tuple[Ratings, Ratings]:
        held_out = self._protocol.test(self.ratings, seed, fold)
        return self.ratings.where(~held_out), self.ratings.where(held_out)

    def _collected(
        self, experiment: Experiment, train: Ratings
    ) -> tuple[Ratings | Reports, Promise]:
        if (
            experiment.channel == IDENTITY
            or experiment.channel is None
            or experiment.epsilon is None
        ):
            return train, Promise()
        plan = self._tools.plan(
            experiment.plan, experiment.channel, experiment.epsilon, train.scale, experiment.cap
        )
        promise = Promise.of(plan, train, self._delta)
        return self._tools.perturb(train, plan), promise

    def _ratings(
        self, model: str, fitted: Predictor, train: Ratings, test: Ratings, where: str
    ) -> dict[str, Any]:
        """Return the columns of predicted ratings. Raises `RequestError` unless all are finite."""
        if not self._tools.rates(model):
            return {**NO_RATINGS, "slices": () if self._slices else None}
        began = time.perf_counter()
        if where == "device":
            predicted = self._tools.device_predict(fitted, train, test.users, test.items)
        else:
            predicted = fitted.predict_codes(test.users, test.items)
        seconds = time.perf_counter() - began
        if not np.isfinite(predicted).all():
            raise RequestError(f"The model {model} predicted a value that is not finite.")
        columns = rating_columns(predicted, train, test, self._relevant, slices=self._slices)
        return {**columns, "predict_seconds": seconds}

    def _lists(
        self, fitted: Any, train: Ratings, test: Ratings, where: str, data: Ratings | Reports
    ) -> dict[str, Any]:
        """Return the columns of top-N lists, with the relevant test items."""
        wanted = test.where(test.values >= self._relevant)
        return list_columns(self._tools.lists, fitted, train, wanted, where, reports=data)


def _relevant(scale: RatingScale, minimum: float | None) -> float:
    """Return the minimum rating of relevant items: on a one-level scale, that level.

    Raises `RequestError` for one outside the scale: all items or none would be relevant.
    """
    if scale.has_one_level and minimum is None:
        return scale.values[0]
    if minimum is None:
        return relevant_from(scale)
    if not scale.values[0] <= minimum <= scale.values[-1]:
        low, high = scale.levels[0], scale.levels[-1]
        raise RequestError(
            f"relevant must be a rating from {low} to {high} on the scale {scale}, got {minimum:g}."
        )
    return minimum


def _facts(
    experiment: Experiment, promise: Promise, n_train: int, n_test: int, fit_seconds: float
) -> dict[str, Any]:
    """Return the columns of a row that do not depend on the location."""
    one, per_user, tight = promise.one, promise.whole, promise.tight
    epsilon = _number(one.epsilon)
    return {
        "dataset": experiment.dataset,
        "plan": "curator" if one.trust == "curator" else experiment.plan,
        "cap": experiment.cap,
        "channel": experiment.channel,
        "channel_id": promise.channel_id,
        "model": experiment.model,
        "mode": "none" if epsilon is None else experiment.mode,
        "trust": one.trust,
        "epsilon": epsilon,
        "delta": float(tight.delta if tight else one.delta),
        "unit": one.unit,
        "values_epsilon": _number(promise.values_epsilon),
        "user_epsilon": _number(per_user.epsilon) if per_user else None,
        "tight_epsilon": _number(tight.epsilon) if tight else None,
        "claim_valid": one.fails is None if epsilon is not None else None,
        "uncovered": ", ".join(one.uncovered) or None,
        "seed": experiment.seed,
        "fold": experiment.fold,
        "n_train": n_train,
        "n_test": n_test,
        "fit_seconds": fit_seconds,
    }


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)


def beside_free(rows: Sequence[ResultRow]) -> list[ResultRow]:
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


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison and its evaluation.

    `relevant`: minimum rating of relevant items, None for three quarters of the scale. `items`: a
    public item table for models that use it (`tacit.readers.declared`). `options`: settings for
    the models that have them. `delta`: of `tight_epsilon`, a decimal string. `mode`: strict,
    faithful or both, for trainers with both. `slices`: whether rows have the error by decile of
    users and items. `only`: the epsilon of channels that run at a single one, in nats per value or
    slot. `plugged`: channels and models of plug-ins with their versions, so that rows of other
    versions are not reused. Raises `RequestError` for an invalid plan, cap or delta.
    """

    channels: Sequence[str]
    models: Sequence[str]
    epsilons: Sequence[str]
    protocol: SplitProtocol = field(default_factory=SplitProtocol)
    plan: str = "rated"
    cap: int | None = None
    mode: str = "strict"
    relevant: float | None = None
    delta: str = "1e-6"
    slices: bool = False
    items: pl.DataFrame | None = field(default=None, repr=False)
    options: dict[str, object] = field(default_factory=dict[str, object])
    only: Mapping[str, str] = field(default_factory=dict[str, str])
    plugged: Sequence[str] = ()

    def __post_init__(self) -> None:
        protects_presence(self.plan)
        if not 0 < float(self.delta) < 1:
            raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {self.delta}.")
        if self.cap is not None and self.cap < 1:
            raise RequestError(f"cap must be an integer of at least 1, got {self.cap}.")

    def experiments(self, ratings: Ratings) -> list[Experiment]:
        """Return all experiments of the comparison, in execution order."""
        settings = {"relevant": self.relevant, "delta": self.delta, **self.options}
        # Part of the key, so that rows without slices are not reused in a run with them.
        settings |= {"slices": True} if self.slices else {}
        settings |= {} if self.items is None else {"items": _digest(self.items)}
        settings |= {"plugins": list(self.plugged)} if self.plugged else {}
        return grid.experiments(
            ratings,
            self.protocol,
            channels=self.channels,
            models=self._models,
            floors=[RANDOM] if RANDOM in self.models else [],
            trainings=[(name, mode) for name in self.models for mode in modes(name, self.mode)],
            epsilons=self.epsilons,
            plan=self.plan,
            cap=self.cap,
            only=self.only,
            settings=json.dumps(settings, sort_keys=True),
        )

    @property
    def _models(self) -> list[str]:
        return [name for name in self.models if not modes(name) and name != RANDOM]

    def run(
        self, ratings: Ratings, tools: Tools, journal: Journal[ResultRow], progress: Progress
    ) -> list[ResultRow]:
        """Run all experiments that are not in `journal`. Returns the rows of all of them."""
        runner = ComparisonRunner(
            ratings,
            self.protocol,
            tools,
            relevant=self.relevant,
            delta=self.delta,
            options=self.options,
            slices=self.slices,
            items=self.items,
        )
        return beside_free(grid.run(self.experiments(ratings), runner, journal, progress))

    def finished(self, ratings: Ratings, journal: Journal[ResultRow]) -> list[ResultRow]:
        """Return the finished rows, after an interrupt."""
        keys = (experiment.key for experiment in self.experiments(ratings))
        return beside_free(journal.rows(keys))


def _digest(table: pl.DataFrame) -> str:
    """Return a digest that identifies a table in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
