"""One cell of the grid: split, perturb, fit, predict, measure."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.evaluation.grid import IDENTITY, Cell
from tacit.evaluation.metrics import mae, ranking, relevant_from, rmse
from tacit.evaluation.results import Row
from tacit.evaluation.split import Protocol
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Codes, Ratings
from tacit.reports import Reports

AUTO = "auto"
Floats = NDArray[np.floating[Any]]
Value = TypeVar("Value")
Collected = tuple[Ratings | Reports, Channel | None]


class Fitted(Interface):
    """What a fitted model has to offer here."""

    def predict(self, users: Codes, items: Codes) -> Floats:
        """The predicted rating of each pair, codes of the training data's vocabulary."""
        ...


@dataclass(frozen=True)
class Tools:
    """What the grid runs on; `tacit.evaluation.tools` has the real ones, tests have others.

    `channel(name, epsilon, scale)`: a channel, "auto" included. `perturb(ratings, channel, cap)`:
    what leaves the devices. `fit(model, data, rng=.., ..)` and `device_predict(fitted, own, users,
    items)`: as in `tacit.models`. `on_device(model)`: whether a device can finish it.
    """

    channel: Callable[[str, str, Any], Channel]
    perturb: Callable[[Ratings, Channel, int | None], Reports]
    fit: Callable[..., Fitted]
    device_predict: Callable[[Any, Ratings, Codes, Codes], Floats]
    on_device: Callable[[str], bool] = lambda model: True


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


class Runner:
    """Runs cells on one data set.

    The last split and the last reports are kept, so that models which follow one another are
    compared on the same noise.
    """

    def __init__(
        self,
        ratings: Ratings,
        protocol: Protocol,
        tools: Tools,
        *,
        relevant: float | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.ratings = ratings
        self._protocol = protocol
        self._tools = tools
        self._relevant = relevant_from(ratings.scale) if relevant is None else relevant
        self._options = options or {}
        self._splits = Latest[tuple[Ratings, Ratings]]()
        self._data = Latest[Collected]()

    def __call__(self, cell: Cell) -> list[Row]:
        """The provider's row and, where a device can finish the model, the device's."""
        place = (cell.seed, cell.fold)
        noise = (*place, cell.channel, cell.epsilon)
        train, test = self._splits.of(place, lambda: self._split(*place))
        data, channel = self._data.of(noise, lambda: self._collected(cell, train))
        began = time.perf_counter()
        fitted = self._tools.fit(cell.model, data, rng=cell.seed, **self._options)
        fit_seconds = time.perf_counter() - began
        places: dict[str, Callable[[], Floats]] = {
            "provider": lambda: fitted.predict(test.users, test.items)
        }
        if self._tools.on_device(cell.model):
            places["device"] = lambda: self._tools.device_predict(
                fitted, train, test.users, test.items
            )
        facts = _facts(cell, channel, data, len(train), len(test), fit_seconds)
        return [self._row(facts, test, where, predict) for where, predict in places.items()]

    def _split(self, seed: int, fold: int | None) -> tuple[Ratings, Ratings]:
        held_out = self._protocol.test(self.ratings, seed, fold)
        return self.ratings.where(~held_out), self.ratings.where(held_out)

    def _collected(self, cell: Cell, train: Ratings) -> Collected:
        if cell.channel == IDENTITY or cell.channel is None or cell.epsilon is None:
            return train, None
        channel = self._tools.channel(cell.channel, cell.epsilon, train.scale)
        return self._tools.perturb(train, channel, cell.cap), channel

    def _row(
        self, facts: dict[str, Any], test: Ratings, where: str, predict: Callable[[], Floats]
    ) -> Row:
        began = time.perf_counter()
        predicted = predict()
        seconds = time.perf_counter() - began
        if not np.isfinite(predicted).all():
            raise RequestError(f"Model {facts['model']} predicted a number that is not finite.")
        true = test.values
        best = ranking(test.users, test.items, predicted, true >= self._relevant)
        bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
        return Row(
            **facts,
            where=where,
            rmse=rmse(true, bounded),
            mae=mae(true, bounded),
            precision_at_10=best.precision,
            recall_at_10=best.recall,
            f_score_at_10=best.f_score,
            predict_seconds=seconds,
        )


def _facts(
    cell: Cell,
    channel: Channel | None,
    data: Ratings | Reports,
    n_train: int,
    n_test: int,
    fit_seconds: float,
) -> dict[str, Any]:
    """The columns of a row that do not depend on where it is seen from."""
    promise: Guarantee = data.guarantee if isinstance(data, Reports) else NO_PRIVACY
    epsilon = None if promise.epsilon is None else float(promise.epsilon)
    capped = None if epsilon is None or cell.cap is None else epsilon * cell.cap
    return {
        "dataset": cell.dataset,
        "plan": cell.plan,
        "cap": cell.cap,
        "channel": cell.channel,
        "channel_id": channel.id if channel else None,
        "model": cell.model,
        "mode": "none" if epsilon is None else cell.mode,
        "trust": promise.trust,
        "epsilon": epsilon,
        "delta": float(promise.delta),
        "unit": promise.unit,
        "values_epsilon": capped,
        # Who rated what is public under the plan "rated": nothing bounds a whole person.
        "user_epsilon": None,
        "tight_epsilon": None,
        "claim_valid": promise.exact if epsilon is not None else None,
        "seed": cell.seed,
        "fold": cell.fold,
        "n_train": n_train,
        "n_test": n_test,
        "fit_seconds": fit_seconds,
    }
