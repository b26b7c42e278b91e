"""The real channels and models behind the grid."""

import pytest

from tacit.collection.named_plans import check_channels, plan_of
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.experiments.comparison.compare import experiment
from tacit.experiments.comparison.comparison import Comparison
from tacit.learners.learner import learner, names
from tacit.learners.settings import having, require_options
from tacit.readers import synthetic
from tacit.results.comparison.device_sample import synthetic_sample
from tacit.results.comparison.tables import accuracy, best, promises


def test_a_real_comparison_orders_as_it_must():
    comparison = Comparison(channels=["auto"], models=["bias", "mf"], epsilons=["0.3", "4"])
    ratings = synthetic(200, 150, 9000)
    rows = experiment(comparison, ratings).rows()
    error = {(row.model, row.epsilon, row.where): row.rmse for row in rows}
    assert len(error) == len(rows) == 12
    for model in ("bias", "mf"):
        assert error[model, None, "provider"] < error[model, 0.3, "provider"]
        assert error[model, 4.0, "provider"] < error[model, 0.3, "provider"]
        assert error[model, 0.3, "device"] < error[model, 0.3, "provider"]
    assert all(row.claim_valid for row in rows if row.epsilon)


def test_names_are_checked_before_any_work():
    check_channels(["auto", "identity", "laplace"], "rated")
    with pytest.raises(RequestError, match="channel must be one of auto, identity"):
        check_channels(["odd"], "rated")
    with pytest.raises(RequestError, match="model must be one of global-mean"):
        learner("odd")


@pytest.mark.parametrize(
    ("plan", "channel", "sentence"),
    [
        (
            "catalogue",
            "duchi",
            "duchi protects the value only, but the plan catalogue also protects presence",
        ),
        ("sample:9", "laplace", "choose from randomized-response, optimal, modified-laplace, or"),
        ("rated", "modified-laplace", "also protects presence, which the plan rated reveals"),
        ("all", "auto", "plan must be rated, catalogue or sample:K"),
    ],
)
def test_a_channel_has_to_serve_the_plan(plan, channel, sentence):
    with pytest.raises(RequestError, match=sentence):
        check_channels([channel], plan)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample:80"])
def test_a_comparison_over_slots_says_what_slots_and_people_are_promised(plan):
    comparison = Comparison(
        channels=["auto", "modified-laplace"],
        models=["item-mean"],
        epsilons=["3"],
        plan=plan,
        delta="1e-5",
    )
    ratings = synthetic(150, 100, 4000)
    rows = experiment(comparison, ratings).rows()
    slots = 100 if plan == "catalogue" else 80
    noisy = [row for row in rows if row.channel != "identity"]
    assert {row.plan for row in rows} == {plan}
    for row in noisy:
        assert (row.unit, row.epsilon, row.user_epsilon) == ("slot", 3, 3 * slots)
        assert row.delta == 1e-5
        assert 0 < row.tight_epsilon <= row.user_epsilon
        assert row.values_epsilon is None
        assert row.claim_valid
        assert row.rmse < 1.4
    free = next(row for row in rows if row.channel == "identity")
    assert (free.user_epsilon, free.tight_epsilon, free.unit) == (None, None, "none")


def test_a_cap_is_paid_for_in_the_slot_and_saves_the_person():
    comparison = Comparison(
        channels=["modified-laplace"], models=["item-mean"], epsilons=["2"], plan="catalogue", cap=5
    )
    rows = experiment(comparison, synthetic(100, 80, 2000)).rows()
    assert {(row.epsilon, row.user_epsilon, row.cap) for row in rows[2:]} == {(3, 15, 5)}


@pytest.mark.long
def test_private_gradients_stand_beside_channels_under_their_own_promise():
    comparison = Comparison(channels=["auto"], models=["item-mean", "pg-mf"], epsilons=["1", "9"])
    rows = experiment(comparison, synthetic(100, 80, 2000)).rows()
    mine = [row for row in rows if row.model == "pg-mf"]
    assert [(row.where, row.channel, row.unit, row.epsilon) for row in mine] == [
        ("device", None, "user", 1.0),
        ("device", None, "user", 9.0),
    ]
    assert all(row.claim_valid and row.trust == "nobody" for row in mine)
    winners = best(rows).lines
    assert [line[0] for line in winners[:2]] == ["1 per user", "1 per value"]
    assert winners[0][3:] == (f"{mine[0].rmse:.3f}", "rounds per user + pg-mf")
    assert "pg-mf" not in "".join(winners[1])
    assert ("rounds per user", "pg-mf", "device") in {
        line[:3] for line in accuracy(rows, "rmse", "").lines
    }
    assert not promises(rows).lines


def test_a_curators_trainings_per_person_stand_under_epsilon_and_delta():
    comparison = Comparison(
        channels=["auto"], models=["dpals", "dp-covariance"], epsilons=["2"], delta="1e-5"
    )
    rows = experiment(comparison, synthetic(100, 80, 2000)).rows()
    assert {(row.model, row.where, row.plan, row.channel) for row in rows} == {
        ("dpals", "device", "curator", None),
        ("dp-covariance", "device", "curator", None),
    }
    for row in rows:
        assert (row.trust, row.unit, row.epsilon, row.user_epsilon) == ("curator", "user", 2, 2)
        assert (row.delta, row.tight_epsilon, row.mode) == (1e-5, None, "strict")


OPTIONS = {"factors": 3, "item_table": None, "engine": Local(), "state": None}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", names())
def test_an_option_is_refused_by_every_learner_that_has_no_setting_of_that_name(name):
    """Never dropped: the message names the learners that have it, and they accept it."""
    known = learner(name)
    for option, value in OPTIONS.items():
        if option in known.options:
            require_options([known], [option])
            continue
        with pytest.raises(RequestError, match=r"is not a setting of .*choose from") as refused:
            require_options([known], [option])
        others = str(refused.value).partition("choose from ")[2].rstrip(".").split(", ")
        assert others == having(option)
        assert all(option in learner(other).options for other in others)
        with pytest.raises(RequestError, match=f"has no setting '{option}'"):
            known.fit(synthetic(20, 60, 500), **{option: value})


def test_options_reach_the_models_that_have_them():
    ratings = synthetic(60, 90, 2000)
    assert learner("mf").fit(ratings, factors=3).items.shape[2] == 4
    trained = learner("pg-mf").fit(ratings, epsilon="1", factors=3)
    assert trained.items.shape[2] == 4


def test_a_comparison_refuses_an_option_of_other_models_and_gives_none_to_baselines():
    request = {"channels": ["auto"], "epsilons": ["1"], "options": {"factors": 2}}
    ratings = synthetic(60, 90, 2000)
    with pytest.raises(RequestError, match=r"factors is not a setting of bias; .*mf, svd"):
        Comparison(models=["mf", "bias"], **request)
    rows = experiment(Comparison(models=["mf", "popularity"], **request), ratings).rows()
    assert {row.model for row in rows} == {"mf", "popularity"}


def sample_under(plan, scale):
    made = plan_of(plan, "randomized-response", "1", scale)
    return synthetic_sample(made, "randomized-response", "1", scale)


def test_the_sample_is_made_up_on_the_same_scale():
    scale = synthetic(20, 60, 500, "1:10:1").scale
    sample = sample_under("rated", scale)
    assert 3 < len(sample.pairs) < 40
    assert all(1 <= value <= 10 for _, *both in sample.pairs for value in both)
    assert sample.presence_public


def test_the_sample_over_slots_has_ratings_that_went_and_came():
    scale = synthetic(20, 60, 500).scale
    sample = sample_under("catalogue", scale)
    assert not sample.presence_public
    assert any(true is None for _, true, _ in sample.pairs)
    assert all(true is not None or left is not None for _, true, left in sample.pairs)
