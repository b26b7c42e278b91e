"""The real channels and models behind the grid."""

import pytest

from tacit.errors import RequestError
from tacit.evaluation import tools
from tacit.evaluation.comparison import Comparison
from tacit.evaluation.journal import Journal
from tacit.evaluation.sample import made_up
from tacit.readers import synthetic


def test_a_real_comparison_orders_as_it_must():
    comparison = Comparison(channels=["auto"], models=["bias", "mf"], epsilons=["0.3", "4"])
    ratings = synthetic(200, 150, 9000)
    rows = comparison.run(ratings, tools.tools(), Journal(None), lambda *state: None)
    error = {(row.model, row.epsilon, row.where): row.rmse for row in rows}
    assert len(error) == len(rows) == 12
    for model in ("bias", "mf"):
        assert error[model, None, "provider"] < error[model, 0.3, "provider"]
        assert error[model, 4.0, "provider"] < error[model, 0.3, "provider"]
        assert error[model, 0.3, "device"] < error[model, 0.3, "provider"]
    assert all(row.claim_valid for row in rows if row.epsilon)


def test_names_are_checked_before_any_work():
    tools.check(["auto", "identity", "laplace"], ["bias", "channel-mf"])
    with pytest.raises(RequestError, match="no channel 'odd'; choose from auto, identity"):
        tools.check(["odd"], [])
    with pytest.raises(RequestError, match="no model 'odd'; choose from global-mean"):
        tools.check([], ["odd"])


def test_options_reach_the_models_that_have_them():
    ratings = synthetic(60, 90, 2000)
    assert tools.fit("mf", ratings, rng=0, factors=3).items.shape[2] == 4
    assert tools.fit("bias", ratings, rng=0, factors=3).items.shape[2] == 1


def test_the_sample_is_made_up_on_the_same_scale():
    scale = synthetic(20, 60, 500, "1:10:1").scale
    sample = made_up(scale, "randomized-response", "1", tools.tools())
    assert 3 < len(sample.pairs) < 40
    assert all(1 <= value <= 10 for _, *both in sample.pairs for value in both)
