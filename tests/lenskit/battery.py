"""LensKit's own battery on the scorer, and what it does not ask; run where LensKit is.

`test_lenskit.py` runs it, in an environment that is made once.
"""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from lenskit.data import DatasetBuilder, ItemList, RecQuery, from_interactions_df
from lenskit.operations import recommend, score
from lenskit.pipeline import topn_pipeline
from lenskit.testing import BasicComponentTests, ScorerTests
from lenskit.training import TrainingOptions
from lenskit_data import fixtures_of
from pydantic import ValidationError

import tacit.lenskit
from tacit import DataError, RequestError, synthetic
from tacit.lenskit import ReportScorer, ReportScorerConfig

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tasks.md"
NAMES = {"user": "user_id", "item": "item_id"}
QUICK = {"draws": 8, "burn_in": 16}
"""Of the chain: what is measured here is not how well it has settled."""
TERMS = {"scale": "1:5:1", "epsilon_per_value": "4", "settings": QUICK}
RATED = synthetic(150, 120, 6000)
FRAME = RATED.to_polars().to_pandas().rename(columns=NAMES)
DATA = from_interactions_df(FRAME.drop(columns="timestamp"))
PEOPLE = FRAME.user_id.unique()
ml_ratings, ml_ds, ml_100k, rng = fixtures_of(FRAME)


class TestLensKitsBattery(BasicComponentTests, ScorerTests):
    component = ReportScorer
    config = ReportScorerConfig(**TERMS)
    configs = (TERMS, {"scale": "1:5:0.5", "channel": "optimal objective=information"})
    can_score = "known"
    # .88 to .99 were seen, and NDCG of .30 to .35. Predicting the mean has 1.13, chance lists .16.
    expected_rmse = (0.7, 1.1)
    expected_ndcg = 0.2


def trained(rng=0, data=DATA, **changes):
    scorer = ReportScorer(**TERMS | changes)
    scorer.train(data, TrainingOptions(rng=rng))
    return scorer


@pytest.fixture(scope="module")
def scorer():
    return trained()


def test_scores_are_the_predictions_and_nan_where_somebody_or_something_is_unknown(scorer):
    person, things = PEOPLE[3], [*FRAME.item_id.unique()[:5], -318]
    scores = scorer(int(person), ItemList(things)).scores()
    expected = scorer.fitted.predict([person] * 5, things[:5])
    assert scores.tolist()[:5] == expected.tolist()
    assert len(set(expected.tolist())) == 5
    assert np.isnan(scores[5])
    for nobody in (-1348, None, RecQuery()):
        assert np.isnan(scorer(nobody, ItemList(things)).scores()).all()


def test_an_item_that_nobody_rated_is_known_and_what_it_is_called_may_be_text():
    builder = DatasetBuilder()
    builder.add_entities("item", ["unrated", *(f"film {item}" for item in RATED.item_ids.ids)])
    named = FRAME.assign(item_id="film " + FRAME.item_id.astype(str))[[*NAMES.values(), "rating"]]
    builder.add_interactions("rating", named, entities=["user", "item"], missing="insert")
    scorer = trained(data=builder.build(), model="mf", settings={})
    scores = scorer(int(PEOPLE[0]), ItemList(["unrated", "film 1", "film -1"])).scores()
    assert np.isfinite(scores).tolist() == [True, True, False]


def test_the_guarantee_is_that_of_the_channel_and_nothing_else_is_kept(scorer):
    promised = scorer.fitted.guarantee
    assert (promised.epsilon, promised.unit, promised.trust) == ("4", "value", "nobody")
    assert set(vars(scorer)) == {"config", "fitted"}
    assert trained(epsilon_per_value=0.5).fitted.guarantee.epsilon == "0.5"
    assert '"epsilon_per_value": "4"' in repr(scorer)


def test_a_seed_starts_the_chain_and_draws_no_report(monkeypatch):
    sent = []

    def kept(ratings, plan):
        sent.append(perturb(ratings, plan))
        return sent[-1]

    perturb = tacit.lenskit.perturb
    monkeypatch.setattr(tacit.lenskit, "perturb", kept)
    trained(rng=5), trained(rng=5)
    assert (sent[0].symbols != sent[1].symbols).any()
    monkeypatch.setattr(tacit.lenskit, "perturb", lambda ratings, plan: sent[0])
    one, same, other = (trained(rng=start).fitted.items for start in (5, 5, 6))
    assert (one == same).all()
    assert (one != other).any()


def test_without_retraining_nothing_is_sent_again(scorer, monkeypatch):
    monkeypatch.setattr(tacit.lenskit, "perturb", lambda ratings, plan: pytest.fail("sent again"))
    scorer.train(DATA, TrainingOptions(retrain=False))


WRONG = [
    ({"scale": None}, RequestError, "scale is required, as in scale="),
    ({"scale": "1:4:1"}, DataError, "rating 5 is off the scale|'5'"),
    ({"model": "ease"}, RequestError, "model must be one of"),
    ({"channel": "identity"}, RequestError, "identity adds no noise"),
    ({"epsilon_per_value": "none"}, RequestError, "got 'none'"),
    ({"settings": {"hue": 3}}, RequestError, "Model channel-mf has no setting 'hue'"),
]


@pytest.mark.parametrize(("change", "error", "sentence"), WRONG)
def test_what_cannot_be_trained_gets_a_sentence(change, error, sentence):
    with pytest.raises(error, match=sentence):
        trained(**change)


def test_before_training_and_for_an_unknown_setting_there_is_a_sentence():
    with pytest.raises(RequestError, match="is not trained; train the pipeline first"):
        ReportScorer(**TERMS)(1, ItemList([1]))
    with pytest.raises(ValidationError, match="epsilon"):
        ReportScorer(epsilon="1")


def test_a_pipeline_recommends_what_people_like():
    """Of what was held out, the half scored higher is rated higher: by .6 to .7 of a level."""
    chance = np.random.default_rng(0)
    test = chance.random(len(FRAME)) < 0.2
    pipeline = topn_pipeline(ReportScorer(**TERMS))
    pipeline.train(from_interactions_df(FRAME[~test].drop(columns="timestamp")))
    gaps = []
    for person, held in FRAME[test].groupby("user_id"):
        scores = score(pipeline, person, held.item_id.to_list()).scores()
        upper = scores >= np.median(scores)
        if 0 < upper.sum() < len(upper):
            gaps.append(held.rating[upper].mean() - held.rating[~upper].mean())
        seen = FRAME.item_id[~test & (FRAME.user_id == person)]
        best = recommend(pipeline, person, n=10)
        assert len(best) == 10
        assert not set(best.ids()) & set(seen)
    assert np.mean(gaps) > 0.35  # five standard errors below what was seen
    assert pickle.loads(pickle.dumps(pipeline.component("scorer"))).fitted.model == "channel-mf"


def test_the_example_on_the_page_runs(capsys):
    examples = re.findall(r"```python\n(from lenskit.*?)```", PAGE.read_text(), re.DOTALL)
    (example,) = [one for one in examples if "ReportScorer" in one]
    exec(example, {})
    assert "Epsilon = 1 per value, trusting nobody" in capsys.readouterr().out
