"""LensKit's own battery on the scorer of lists, and what it does not ask; run where LensKit is.

`test_lenskit.py` runs it, in an environment that is made once.
"""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.operations import recommend
from lenskit.pipeline import topn_pipeline
from lenskit.testing import BasicComponentTests, ScorerTests
from lenskit.training import TrainingOptions
from lenskit_data import fixtures_of
from pydantic import ValidationError

import tacit.lenskit
from tacit import ListProfile, RequestError, synthetic
from tacit.lenskit import ReportListScorer, ReportListScorerConfig

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tasks.md"
NAMES = {"user": "user_id", "item": "item_id"}
TERMS = {"epsilon_per_slot": "4"}
RATED = synthetic(400, 100, 16_000)
FRAME = RATED.to_polars().to_pandas().rename(columns=NAMES)
DATA = from_interactions_df(FRAME.drop(columns="timestamp"))
PEOPLE = FRAME.user_id.unique()
ml_ratings, ml_ds, ml_100k, rng = fixtures_of(FRAME)


class TestLensKitsBattery(BasicComponentTests, ScorerTests):
    component = ReportListScorer
    config = ReportListScorerConfig(**TERMS)
    configs = (TERMS, {"plan": "sample:20", "model": "graph-filter"})
    can_score = "known"
    # .74 to .76 were seen over four seeds; random scores have .20.
    expected_ndcg = 0.65
    # Scores of lists order items. They are not ratings, so they have no error.
    test_batch_prediction_accuracy = None


def trained(rng=0, data=DATA, **changes):
    scorer = ReportListScorer(**TERMS | changes)
    scorer.train(data, TrainingOptions(rng=rng))
    return scorer


@pytest.fixture(scope="module")
def scorer():
    return trained()


def history(person):
    return ItemList(FRAME.item_id[person == FRAME.user_id].to_list())


def test_scores_are_those_of_the_users_device_and_nan_for_an_unknown_item(scorer):
    own, things = history(PEOPLE[3]), [*FRAME.item_id.unique()[:5], -318]
    scores = scorer(RecQuery(history_items=own), ItemList(things)).scores()
    device = ListProfile(scorer.published, own.ids().tolist())
    expected = dict(zip(scorer.published.items, device.scores, strict=True))
    assert scores[:5].tolist() == pytest.approx([expected[int(one)] for one in things[:5]])
    assert np.isnan(scores[5])


@pytest.mark.parametrize("query", [RecQuery(), RecQuery(history_items=ItemList([-318])), -1348])
def test_without_a_known_history_scores_are_popularity(scorer, query):
    items = ItemList(scorer.published.items)
    assert scorer(query, items).scores().tolist() == pytest.approx(
        scorer.published.popularity.tolist()
    )


def test_an_interaction_counts_once_whatever_its_rating(monkeypatch):
    drawn = []

    def stored(interactions, plan):
        drawn.append(interactions)
        return perturb(interactions, plan)

    perturb = tacit.lenskit.perturb
    monkeypatch.setattr(tacit.lenskit, "perturb", stored)
    trained()
    (interactions,) = drawn
    assert interactions.scale.has_one_level
    assert len(interactions) == len(FRAME)


@pytest.mark.parametrize("plan", ["catalogue", "sample:20"])
def test_the_guarantee_is_per_slot_and_hides_interactions(plan):
    promised = trained(plan=plan).fitted.guarantee
    assert (promised.epsilon, promised.unit, promised.trust) == ("4", "slot", "nobody")


def test_without_retraining_nothing_is_sent_again(scorer, monkeypatch):
    monkeypatch.setattr(tacit.lenskit, "perturb", lambda ratings, plan: pytest.fail("sent again"))
    scorer.train(DATA, TrainingOptions(retrain=False))


WRONG = [
    ({"plan": "rated"}, "plan must be catalogue or sample:K, because the plan rated protects no"),
    ({"plan": "all"}, "plan must be rated, catalogue or sample:K"),
    ({"model": "mf"}, "model must be one of"),
    ({"model": "random"}, "Expected a model that learns from reports, got RandomLists; choose"),
    ({"epsilon_per_slot": "none"}, "got 'none'"),
    ({"settings": {"hue": 3}}, "Model ease has no setting 'hue'"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG)
def test_what_cannot_be_trained_gets_a_sentence(change, sentence):
    with pytest.raises(RequestError, match=sentence):
        trained(**change)


def test_before_training_and_for_an_unknown_setting_there_is_a_sentence():
    with pytest.raises(RequestError, match="is not trained; train the pipeline first"):
        ReportListScorer(**TERMS)(1, ItemList([1]))
    with pytest.raises(ValidationError, match="epsilon"):
        ReportListScorer(epsilon="1")


def hits(model, train, test):
    pipeline = topn_pipeline(ReportListScorer(**TERMS | {"model": model}))
    pipeline.train(from_interactions_df(train))
    found = []
    for person, held in test.groupby("user_id"):
        best = recommend(pipeline, person, n=10)
        seen = train.item_id[train.user_id == person]
        assert len(best) == 10
        assert not set(best.ids()) & set(seen)
        found.append(len(set(best.ids()) & set(held.item_id)))
    return np.mean(found), pipeline.component("scorer")


def test_a_pipeline_recommends_more_of_what_was_held_out_than_chance():
    held_out = np.random.default_rng(0).random(len(FRAME)) < 0.2
    mean, scorer = hits("ease", FRAME[~held_out], FRAME[held_out])
    per_person = held_out.sum() / FRAME.user_id.nunique()
    unseen = RATED.n_items - (~held_out).sum() / FRAME.user_id.nunique()
    assert mean > 1.25 * 10 * per_person / unseen  # ten standard errors of chance
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy.published.to_bytes() == scorer.published.to_bytes()


def test_the_example_on_the_page_runs(capsys):
    examples = re.findall(r"```python\n(from lenskit.*?)```", PAGE.read_text(), re.DOTALL)
    (example,) = [one for one in examples if "ReportListScorer" in one]
    exec(example, {})
    assert "Epsilon = 2 per slot, trusting nobody" in capsys.readouterr().out
