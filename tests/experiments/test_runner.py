"""A cell's rows say what was done, and its figures are those of the predictions."""

import dataclasses

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.experiments.comparison import measurement
from tacit.experiments.comparison.measurement import Measurement
from tacit.metrics.accuracy import rmse


@pytest.fixture
def measure(ratings, compared):
    """Rows of a cell by its number; `changes` are those of the comparison."""

    def rows(number, **changes):
        comparison = compared(cap=7, **changes)
        return Measurement(comparison, ratings)(comparison.cells(ratings)[number])

    return rows


def replaced(find, **changes):
    """Every learner with these changes."""
    return lambda name, mode="strict": dataclasses.replace(find(name, mode), **changes)


def test_without_privacy_the_model_sees_the_true_ratings(ratings, measure):
    provider, device = measure(0)
    held_out = np.random.default_rng(0).random(len(ratings)) < 0.1
    train, test = ratings.where(~held_out), ratings.where(held_out)
    assert provider.rmse == pytest.approx(
        rmse(test.values, np.full(len(test), train.values.mean()))
    )
    assert (provider.n_train, provider.n_test) == (len(train), len(test))
    assert (provider.epsilon, provider.unit, provider.mode) == (None, "none", "none")
    assert (provider.where, device.where) == ("provider", "device")
    counts = np.bincount(train.users, minlength=train.n_users)
    sums = np.bincount(train.users, train.values, minlength=train.n_users)
    own = np.where(counts > 0, sums / np.maximum(counts, 1), train.values.mean())
    assert device.rmse == pytest.approx(rmse(test.values, own[test.users]), rel=1e-4)
    assert provider.channel_id is None
    assert provider.claim_valid is None


def test_with_a_channel_the_rows_carry_its_promise(measure):
    provider, device = measure(2)
    assert (provider.channel, provider.epsilon, provider.unit) == ("even", 0.5, "value")
    assert (provider.trust, provider.claim_valid, provider.mode) == ("nobody", True, "strict")
    assert provider.values_epsilon == 3.5
    assert provider.user_epsilon is None
    assert provider.channel_id == device.channel_id
    assert len(provider.channel_id) == 64


def test_models_of_one_channel_are_compared_on_the_same_reports(ratings, compared, monkeypatch):
    collected, perturb = [], measurement.perturb

    def counted(*arguments):
        collected.append(arguments)
        return perturb(*arguments)

    monkeypatch.setattr(measurement, "perturb", counted)
    comparison = compared(cap=7)
    rows = Measurement(comparison, ratings)
    for cell in comparison.cells(ratings):
        rows(cell)
    assert len(collected) == 1
    assert collected[0][1].cap == 7


def test_a_model_that_no_device_can_finish_has_one_row(measure, find):
    assert len(measure(0, learner=replaced(find, where=("provider",)))) == 1


def test_a_training_sees_true_ratings_and_its_rows_carry_its_own_promise(measure, find):
    (row,) = measure(0, channels=[], models=["asks"])
    assert find("asks").settings.calls == [(row.n_train, "0.5", "1e-6")]
    assert (row.where, row.plan, row.channel, row.channel_id) == ("device", "rounds", None, None)
    assert (row.unit, row.epsilon, row.user_epsilon, row.delta) == ("user", 0.5, 0.5, 0)
    assert (row.via, row.mode, row.values_epsilon) == ("rounds per user", "strict", None)


class Predicting:
    """A model that predicts what a function of the items returns."""

    def __init__(self, predict):
        self.predict = predict

    def fit(self, data, *, rng=0):
        return self

    def predict_codes(self, users, items):
        return self.predict(items)

    def lists(self, own, length, *, where):
        return np.zeros((own.n_users, length), np.int32)


def test_predictions_are_clipped_for_errors_only(measure, find):
    wild = Predicting(lambda items: np.where(items % 2, 50.0, -50.0))
    changed = replaced(find, settings=wild, where=("provider",))
    (row,) = measure(0, learner=changed, slices=True)
    assert row.mae <= 4
    assert all(part.slice_rmse <= 4 for part in row.slices)


def test_a_model_of_lists_has_no_slices_and_says_so(measure, find):
    ranks = Predicting(None)
    changed = replaced(find, settings=ranks, predicts=False)
    rows = [measure(0, learner=changed, slices=slices)[0] for slices in (False, True)]
    assert [row.slices for row in rows] == [None, ()]
    assert all(np.isnan([row.rmse, row.rmse_of_mean]).all() for row in rows)


def test_a_prediction_that_is_no_number_is_refused(measure, find):
    broken = Predicting(lambda items: np.full(len(items), np.nan))
    with pytest.raises(RequestError, match="mean predicted"):
        measure(0, learner=replaced(find, settings=broken, where=("provider",)))


def test_relevance_may_be_declared(measure):
    strict, usual = measure(0, relevant=5.0)[0], measure(0)[0]
    assert strict.precision_at_10 < usual.precision_at_10
