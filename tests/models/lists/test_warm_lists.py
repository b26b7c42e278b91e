"""A top-N model reuses what the last search chose, and searches again when that may be stale."""

from dataclasses import replace

import numpy as np
import pytest
from lists_world import world
from repeatable_words import RepeatableWordsForTestsOnly

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue
from tacit.errors import RequestError
from tacit.learners import learner
from tacit.metrics.lists import list_figures
from tacit.models import exposure_of, load
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists import ease, ease_from_reports, graph_filter, interactions
from tacit.models.lists.shrinkage import Blend
from tacit.models.published import list_model
from tacit.readers.synthetic import synthetic
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

NAMES = ("ease", "graph-filter")
USERS = 1500


@pytest.fixture(scope="module")
def split():
    """Interactions of users with one of two tastes, of 30 items each: to learn, and held out."""
    chance = np.random.default_rng(0)
    taste = chance.integers(0, 2, USERS)
    likes = np.repeat([[0.25, 0.02], [0.02, 0.25]], 30, axis=1)[taste]
    own = world(chance.random((USERS, 60)) < likes)
    held = np.random.default_rng(1).random(len(own)) < 0.3
    return own.where(~held), own.where(held)


@pytest.fixture(scope="module")
def reports(split):
    return reported(split[0], "3")


def reported(own, epsilon):
    channel = compile_channel(
        "randomized-response", epsilon=epsilon, scale=RatingScale.parse("there"), missing=True
    )
    return perturb(own, Catalogue(channel), words=RepeatableWordsForTestsOnly(1))


def of_first(data, users):
    """The same reports or ratings before the last users joined."""
    part = data.where(data.users < users)
    return replace(part, user_ids=Vocabulary(data.user_ids.ids[:users]))


@pytest.fixture
def searches(monkeypatch):
    """Names of the searches so far."""
    names = []

    def counted(owner, name):
        search = getattr(owner, name)

        def searched(*arguments):
            names.append(name)
            return search(*arguments)

        monkeypatch.setattr(owner, name, searched)

    counted(ease, "searched")
    counted(ease, "_chosen")
    counted(graph_filter, "fold_of_users")
    return names


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noisy", [True, False])
def test_a_warm_fit_has_the_accuracy_of_a_cold_one_without_a_search(
    name, noisy, split, reports, searches
):
    """In 6 seeds of the reports the NDCG@10 of two fits differed by at most .0033."""
    train, test = split
    data = reports if noisy else train
    counts = np.bincount(train.items, minlength=60)

    def ndcg(fitted):
        return list_figures(fitted.lists(train, 10), test.users, test.items, counts).ndcg

    last = learner(name).fit(of_first(data, 1470))
    cold = learner(name).fit(data)
    del searches[:]
    warm = learner(name).fit(data, warm=last)
    assert searches == []
    assert warm.tuning == last.tuning
    assert ndcg(warm) == pytest.approx(ndcg(cold), abs=0.008)


@pytest.mark.parametrize("noisy", [True, False])
def test_a_warm_fit_of_the_same_reports_has_the_same_weights(noisy, split, reports):
    """To single precision: the cold fit computes the last weights in double precision."""
    data = reports if noisy else split[0]
    cold = learner("ease").fit(data)
    warm = learner("ease").fit(data, warm=cold)
    for each in ("weights", "provider_weights")[: 1 + noisy]:
        before, after = (rows(getattr(fitted, each)) for fitted in (cold, warm))
        assert after == pytest.approx(before, abs=1e-4 * float(np.abs(before).max()))


def rows(weights):
    W = weights.rows(range(60))
    np.fill_diagonal(W, 0)
    return W


def test_a_year_of_warm_filters_does_not_drift(split):
    """Each refit makes one power iteration from the last, while users join every week.

    In 6 seeds the directions of the last refit had at least .9997 of the energy of a cold fit's.
    """
    train, settings = split[0], {"directions": 6}
    fit = learner("graph-filter").fit
    first = warm = fit(of_first(train, 800), **settings)
    for users in range(814, USERS + 1, 14):
        warm = fit(of_first(train, users), **settings, warm=warm)
    last = of_first(train, users)
    cold = fit(last, **settings)
    assert warm.tuning == first.tuning
    R = interactions(last).presence.reported.toarray()
    R = R / np.sqrt(np.maximum(R.sum(1), 1))[:, None] / np.sqrt(np.maximum(R.sum(0), 1))
    energy, best = (np.square(R @ each.weights.directions.vectors).sum() for each in (warm, cold))
    assert energy >= 0.998 * best


def test_a_model_of_popularity_stays_one_until_the_next_search(split, monkeypatch):
    """Too few users showed no taste; with twice as many the search is done again."""
    few = reported(of_first(split[0], 60), "1")
    calls = []
    for name in NAMES:
        last = learner(name).fit(few)
        popular = {"device": (1.0, 0.0), "provider": (1.0, 0.0), "regression": False}
        last = replace(last, tuning=replace(last.tuning, **popular))
        monkeypatch.setattr(ease_from_reports, "spectrum", lambda *each, **more: calls.append(each))
        warm = learner(name).fit(few, warm=last)
        monkeypatch.undo()
        assert (calls, warm.weights.directions) == ([], None)
        assert warm.weights.popularity == pytest.approx(
            interactions(few).presence.over_people(np.ones(60)) / 60, rel=1e-5
        )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_the_search_is_done_again_when_its_choice_may_be_stale(name, split, reports, searches):
    fit = learner(name).fit
    last = fit(of_first(reports, 760))
    calls = {}

    def searched(case, *arguments, **settings):
        del searches[:]
        fitted = fit(*arguments, **settings)
        calls[case] = bool(searches), fitted.tuning != settings["warm"].tuning

    searched("fewer than twice", of_first(reports, 1400), warm=last)
    searched("more than twice", reports, warm=fit(of_first(reports, 700)))
    untuned = replace(last, tuning=None)
    searched("without tuning", of_first(reports, 770), warm=untuned)
    searched("less noise", reported(of_first(split[0], 800), "3.5"), warm=last)
    expected = dict.fromkeys(calls, (True, True)) | {"fewer than twice": (False, False)}
    if name == "graph-filter":
        searched("strength", of_first(reports, 770), warm=last, strength=0.4)
        expected["strength"] = True, True
    assert calls == expected


def test_a_choice_holds_between_half_and_twice_the_reports(reports):
    presence = interactions(reports).presence
    count = presence.reported.nnz
    tuning = Tuning.of(presence)
    held = {
        scale: replace(tuning, reports=round(count * scale)).holds_for(presence)
        for scale in (0.49, 0.51, 1.0, 1.99, 2.01)
    }
    assert held == {0.49: False, 0.51: True, 1.0: True, 1.99: True, 2.01: False}
    noisier = {
        scale: replace(tuning, noise=tuning.noise * scale).holds_for(presence)
        for scale in (0.79, 0.81, 1.24, 1.26)
    }
    assert noisier == {0.79: False, 0.81: True, 1.24: True, 1.26: False}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_another_kind_or_of_lost_users_is_refused(name, reports):
    last = learner(name).fit(of_first(reports, 300))
    other = next(each for each in NAMES if each != name)
    with pytest.raises(RequestError, match=f"warm start of {other} requires a model of that kind"):
        learner(other).fit(reports, warm=last)
    with pytest.raises(RequestError, match=r"lack items or users of the warm model \(100 users\)"):
        learner(name).fit(of_first(reports, 200), warm=last)
    if name == "ease":
        with pytest.raises(RequestError, match=r"A ridge excludes warm, .* got 7"):
            learner(name).fit(reports, warm=last, ridge=7.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_has_its_tuning_and_a_published_one_does_not(name, reports, tmp_path):
    fitted = learner(name).fit(of_first(reports, 300))
    fitted.save(tmp_path / "model")
    assert load(tmp_path / "model").tuning == fitted.tuning
    untuned = replace(fitted, tuning=None)
    assert list_model(untuned).to_bytes() == list_model(fitted).to_bytes()
    untuned.save(tmp_path / "old")
    assert load(tmp_path / "old").tuning is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 1.5}, "step is '1.5'"),
        ({"noise": float("nan")}, "'nan' for a number"),
        ({"device": (1.0,)}, "two numbers each"),
        ({"settings": ("x",)}, "'x' for a number"),
        ({"regression": 1}, "regression"),
    ],
)
def test_an_invalid_tuning_is_refused(change, message, reports, tmp_path):
    fitted = learner("ease").fit(of_first(reports, 300))
    replace(fitted, tuning=replace(fitted.tuning, **change)).save(tmp_path / "model")
    with pytest.raises(RequestError, match=message):
        load(tmp_path / "model")


def test_exposure_reuses_its_search(searches):
    """On 12 data sets the correlation was at least .995."""
    ratings = synthetic(800, 60, 20_000, rng=3)
    last = exposure_of(of_first(ratings, 780))
    del searches[:]
    warm, cold = exposure_of(ratings, warm=last), exposure_of(ratings)
    assert searches == ["_chosen"]  # of the cold fit
    assert warm.tuning == last.tuning
    assert np.corrcoef(rows(warm.weights).ravel(), rows(cold.weights).ravel())[0, 1] > 0.98


def test_a_chosen_blend_is_what_is_applied(reports):
    """The stored pair is (popularity, weights), as the shrinkage reads it."""
    fitted = learner("ease").fit(reports)
    blend = Blend(*fitted.tuning.device)
    presence = interactions(reports).presence
    shares = presence.over_people(np.ones(USERS)) / USERS
    assert blend.weights > 0
    assert fitted.weights.popularity == pytest.approx(blend.popularity * shares, abs=1e-6)
