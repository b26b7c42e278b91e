"""A cell's rows say what was done, and its figures are those of the predictions."""

import dataclasses

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.experiments import grid
from tacit.experiments.comparison.comparison import ComparisonRunner
from tacit.metrics.accuracy import rmse
from tacit.metrics.split import SplitProtocol


@pytest.fixture
def cells(ratings):
    return grid.experiments(
        ratings,
        SplitProtocol(),
        channels=["even"],
        models=["mean", "other"],
        epsilons=["0.5"],
        cap=7,
    )


def test_without_privacy_the_model_sees_the_true_ratings(ratings, cells, tools):
    provider, device = ComparisonRunner(ratings, SplitProtocol(), tools)(cells[0])
    held_out = np.random.default_rng(0).random(len(ratings)) < 0.1
    train, test = ratings.where(~held_out), ratings.where(held_out)
    assert provider.rmse == pytest.approx(
        rmse(test.values, np.full(len(test), train.values.mean()))
    )
    assert (provider.n_train, provider.n_test) == (len(train), len(test))
    assert (provider.epsilon, provider.unit, provider.mode) == (None, "none", "none")
    assert (provider.where, device.where) == ("provider", "device")
    assert device.rmse < provider.rmse
    assert provider.channel_id is None
    assert provider.claim_valid is None


def test_with_a_channel_the_rows_carry_its_promise(ratings, cells, tools):
    provider, device = ComparisonRunner(ratings, SplitProtocol(), tools)(cells[2])
    assert (provider.channel, provider.epsilon, provider.unit) == ("even", 0.5, "value")
    assert (provider.trust, provider.claim_valid, provider.mode) == ("nobody", True, "strict")
    assert provider.values_epsilon == 3.5
    assert provider.user_epsilon is None
    assert provider.channel_id == device.channel_id
    assert len(provider.channel_id) == 64


def test_models_of_one_channel_are_compared_on_the_same_reports(ratings, cells, tools):
    collected = []

    def perturb(*given):
        collected.append(given)
        return tools.perturb(*given)

    runner = ComparisonRunner(ratings, SplitProtocol(), dataclasses.replace(tools, perturb=perturb))
    for cell in cells:
        runner(cell)
    assert len(collected) == 1
    assert collected[0][1].cap == 7


def test_a_model_that_no_device_can_finish_has_one_row(ratings, cells, tools):
    alone = dataclasses.replace(tools, where=lambda model: ("provider",))
    assert len(ComparisonRunner(ratings, SplitProtocol(), alone)(cells[0])) == 1


def test_a_training_sees_true_ratings_and_its_rows_carry_its_own_promise(ratings, tools):
    asked = []

    def train(model, given, *, epsilon, rng, mode, delta, **options):
        asked.append((model, len(given), epsilon, mode, delta))
        return tools.train(model, given, epsilon=epsilon, rng=rng, mode=mode, delta=delta)

    cell = grid.experiments(
        ratings,
        SplitProtocol(),
        channels=[],
        models=[],
        trainings=[("asks", "strict")],
        epsilons=["0.5"],
    )[0]
    home = dataclasses.replace(tools, train=train, where=lambda model: ("device",))
    (row,) = ComparisonRunner(ratings, SplitProtocol(), home)(cell)
    assert asked == [("asks", row.n_train, "0.5", "strict", "1e-6")]
    assert (row.where, row.plan, row.channel, row.channel_id) == ("device", "rounds", None, None)
    assert (row.unit, row.epsilon, row.user_epsilon, row.delta) == ("user", 0.5, 0.5, 0)
    assert (row.via, row.mode, row.values_epsilon) == ("rounds per user", "strict", None)


def test_predictions_are_clipped_for_errors_only(ratings, cells, tools):
    def fit(model, data, *, rng, **options):
        class Wild:
            def predict_codes(self, users, items):
                return np.where(items % 2, 50.0, -50.0)

        return Wild()

    wild = dataclasses.replace(tools, fit=fit)
    row = ComparisonRunner(ratings, SplitProtocol(), wild, slices=True)(cells[0])[0]
    assert row.mae <= 4
    assert all(part.slice_rmse <= 4 for part in row.slices)


def test_a_model_of_lists_has_no_slices_and_says_so(ratings, cells, tools):
    lists = dataclasses.replace(tools, rates=lambda model: False)
    asked = [
        ComparisonRunner(ratings, SplitProtocol(), lists, slices=s)(cells[0])[0] for s in (0, 1)
    ]
    assert [row.slices for row in asked] == [None, ()]
    assert all(np.isnan([row.rmse, row.rmse_of_mean]).all() for row in asked)


def test_a_prediction_that_is_no_number_is_refused(ratings, cells, tools):
    def fit(model, data, *, rng, **options):
        class Broken:
            def predict_codes(self, users, items):
                return np.full(len(users), np.nan)

        return Broken()

    with pytest.raises(RequestError, match="mean predicted"):
        ComparisonRunner(ratings, SplitProtocol(), dataclasses.replace(tools, fit=fit))(cells[0])


def test_relevance_may_be_declared(ratings, cells, tools):
    strict = ComparisonRunner(ratings, SplitProtocol(), tools, relevant=5.0)(cells[0])[0]
    usual = ComparisonRunner(ratings, SplitProtocol(), tools)(cells[0])[0]
    assert strict.precision_at_10 < usual.precision_at_10
