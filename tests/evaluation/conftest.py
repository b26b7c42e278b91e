"""Result rows, channels and models simple enough to check by hand."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from tacit.channels.table import Channel
from tacit.evaluation.cell import Tools
from tacit.evaluation.results import Row
from tacit.privacy.guarantee import Guarantee
from tacit.readers import synthetic
from tacit.reports import Reports

ROW = {
    "dataset": "made-up", "plan": "rated", "cap": None, "channel": "even", "channel_id": "ab",
    "model": "mean", "mode": "strict", "where": "provider", "trust": "nobody", "epsilon": 1.0,
    "delta": 0.0, "unit": "value", "values_epsilon": None, "user_epsilon": None,
    "tight_epsilon": None, "claim_valid": True, "seed": 0, "fold": None, "n_train": 90,
    "n_test": 10, "rmse": 1.0, "mae": 0.8, "precision_at_10": 0.6, "recall_at_10": 0.9,
    "f_score_at_10": 0.7, "fit_seconds": 1.0, "predict_seconds": 0.1,
}  # fmt: skip


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """A row with the given values, the others unremarkable."""

    def make(**values) -> Row:
        if values.get("channel") == "identity":
            none = {"epsilon": None, "unit": "none", "trust": "everybody", "mode": "none"}
            values = {**none, "channel_id": None, "claim_valid": None, **values}
        return Row(**{**ROW, **values})

    return make


@pytest.fixture
def ratings():
    """A small made-up crowd."""
    return synthetic(60, 90, 2000)


class Constant:
    """Predicts one number."""

    def __init__(self, number):
        self.number = number

    def predict(self, users, items):
        return np.full(len(users), self.number, np.float32)


def even(name, epsilon, scale):
    """A channel that says nothing: two symbols, equally likely."""
    half = 1 << 63
    rows = ((half, half),) * scale.n_levels
    return Channel(scale.levels, (Decimal(1), Decimal(5)), rows, epsilon)


def coins(ratings, channel, cap):
    """Reports through the channel that says nothing."""
    return Reports(
        users=ratings.users, items=ratings.items,
        symbols=np.random.default_rng(1).integers(0, 2, len(ratings)).astype(np.uint8),
        channel_of=np.zeros(len(ratings), np.uint8), channels=(channel,), scale=ratings.scale,
        user_ids=ratings.user_ids, item_ids=ratings.item_ids,
        guarantee=Guarantee(
            epsilon=channel.epsilon, unit="value", trust="nobody", released="a coin", exact=True
        ),
    )  # fmt: skip


@pytest.fixture
def tools() -> Tools:
    """The mean of the reports as a model; a device predicts its owner's own mean."""

    def fit(model, data, *, rng, **options):
        return Constant(float(data.values.mean()))

    def device_predict(fitted, own, users, items):
        total = np.bincount(own.users, own.values, own.n_users)
        return (total / np.maximum(np.bincount(own.users, minlength=own.n_users), 1))[users]

    return Tools(even, coins, fit, device_predict)
