"""One experiment of the grid: split, perturb, fit, predict, measure."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar
from typing import Protocol as Interface

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.evaluation.comparison.lists import Lister, cold_users, list_columns
from tacit.evaluation.comparison.ratings import NO_RATINGS, rating_columns
from tacit.evaluation.grid import IDENTITY, Experiment
from tacit.evaluation.results import ResultRow
from tacit.metrics.accuracy import relevant_from
from tacit.metrics.split import SplitProtocol
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Codes, Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale

AUTO = "auto"
Floats = NDArray[np.floating[Any]]
Value = TypeVar("Value")


class Predictor(Interface):
    """What a fitted model has to offer here."""

    def predict_codes(self, users: Codes, items: Codes) -> Floats:
        """The predicted rating of each pair, codes of the training data's vocabulary."""
        ...


class Trained(Predictor, Interface):
    """What a training has to offer: it knows what it promised."""

    @property
    def guarantee(self) -> Guarantee:
        """The promise of the whole training."""
        ...


@dataclass(frozen=True)
class Tools:
    """What the grid runs on; `tools` has the real ones, tests have others.

    `plan(name, channel, epsilon, scale, cap)`: a plan over a channel, "auto" included.
    `perturb(ratings, plan)`: what leaves the devices. `fit(model, data, rng=.., ..)`,
    `train(model, ratings, epsilon=.., rng=.., ..)` and `device_predict(fitted, own, users, items)`:
    as in `tacit.models`. `lists(fitted, own, where, length)`: everybody's list. `where(model)`:
    the places where it predicts. `rates(model)`: whether it predicts ratings at all.
    `reads_items(model)`: whether it learns from a public table of items. `plugged(channel, model)`:
    which of the two are of plug-ins, and of which.
    """

    plan: Callable[[str, str, str, Any, int | None], Plan]
    perturb: Callable[[Ratings, Plan], Reports]
    fit: Callable[..., Any]
    train: Callable[..., Trained]
    device_predict: Callable[[Any, Ratings, Codes, Codes], Floats]
    lists: Lister
    where: Callable[[str], Sequence[str]] = lambda model: ("provider", "device")
    rates: Callable[[str], bool] = lambda model: True
    reads_items: Callable[[str], bool] = lambda model: False
    plugged: Callable[[str | None, str | None], str | None] = lambda channel, model: None


@dataclass(frozen=True)
class Promise:
    """What an experiment's data promise: for `one` value or slot, for a `whole` person at delta 0,
    and for them at a delta above it (`tight`). None where there is nothing to promise.
    """

    one: Guarantee = NO_PRIVACY
    whole: Guarantee | None = None
    tight: Guarantee | None = None
    values_epsilon: str | None = None
    channel_id: str | None = None

    @classmethod
    def of(cls, plan: Plan, ratings: Ratings, delta: str) -> Self:
        """The promises of a plan for people's answers from these ratings."""
        return cls(
            ratings.qualified(plan.guarantee),
            plan.user_guarantee(ratings.n_items),
            plan.tight_guarantee(ratings.n_items, delta),
            plan.values_epsilon,
            plan.channels[0].id,
        )

    @classmethod
    def of_training(cls, guarantee: Guarantee) -> Self:
        """The promise of a training: that of a person where it is one already."""
        return cls(guarantee, guarantee if guarantee.unit == "user" else None)


class Latest(Generic[Value]):
    """The value that was made last, and what it was made for."""

    def __init__(self) -> None:
        self._key: object = None
        self._value: Value | None = None

    def of(self, key: object, make: Callable[[], Value]) -> Value:
        """The value for `key`, made anew unless it is the last one."""
        if self._value is None or key != self._key:
            self._value = None  # two tables of reports at a time would double the memory
            self._key, self._value = key, make()
        return self._value


class ComparisonRunner:
    """Runs experiments on one data set.

    The last split and the last reports are kept, so that models which follow one another are
    compared on the same noise.
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
        """A row for each place where the model predicts, or makes lists."""
        place = (experiment.seed, experiment.fold)
        train, test = self._splits.of(place, lambda: self._split(*place))
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
        """Names of the columns of the table of items, where the model reads it."""
        if self._items is None or not self._tools.reads_items(model):
            return None
        return ", ".join(name for name in self._items.columns if name != "item")

    def _fitted(
        self, experiment: Experiment, train: Ratings
    ) -> tuple[Any, Ratings | Reports, Promise, float]:
        """The model, what it learned from, what is promised, and the seconds of learning alone."""
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
        """The columns of predicted ratings; raises `RequestError` for one that is not finite."""
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
        """The columns of lists: of stars, a list ought to show what is relevant."""
        wanted = test.where(test.values >= self._relevant)
        return list_columns(self._tools.lists, fitted, train, wanted, where, reports=data)


def _relevant(scale: RatingScale, asked: float | None) -> float:
    """The rating from which an item is relevant: on a scale of one level, that level.

    Raises `RequestError` for one beyond the scale: everything or nothing would be relevant.
    """
    if scale.has_one_level and asked is None:
        return scale.values[0]
    if asked is None:
        return relevant_from(scale)
    if not scale.values[0] <= asked <= scale.values[-1]:
        low, high = scale.levels[0], scale.levels[-1]
        raise RequestError(
            f"relevant must be a rating from {low} to {high} on the scale {scale}, got {asked:g}."
        )
    return asked


def _facts(
    experiment: Experiment, promise: Promise, n_train: int, n_test: int, fit_seconds: float
) -> dict[str, Any]:
    """The columns of a row that do not depend on where it is seen from."""
    one, whole, tight = promise.one, promise.whole, promise.tight
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
        "user_epsilon": _number(whole.epsilon) if whole else None,
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
