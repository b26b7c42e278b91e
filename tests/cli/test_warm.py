"""`fit --warm` starts from the last model, unless reports were deleted since."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from repeatable_words import RepeatableWordsForTestsOnly
from stored_rows import store_reports

from tacit.cli.learning.warm import WarmModel, measured_fit
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import write_reports
from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.published_models import PublishedModels
from tacit.learners.learner import learner
from tacit.models import Fitted, load
from tacit.models.least_squares.half_steps import HalfSteps
from tacit.models.least_squares.mf import WARM_SWEEPS
from tacit.publishing.held_out import is_held_out
from tacit.readers.synthetic import synthetic

USERS, ITEMS = 120, 40


@pytest.fixture
def task(ask):
    return ask(epsilons=("4",), items=range(1, ITEMS + 1), provider="https://films.example")


@pytest.fixture
def reports(task):
    ratings = synthetic(USERS, ITEMS, 2_000, rng=2, fewest=5)
    return perturb(ratings, Rated(task.channels[0]), words=RepeatableWordsForTestsOnly(1))


@pytest.fixture
def fit(task, reports, tmp_path, run):
    """Fit from a store that receives more reports; `store(first, last)` adds some of them."""
    path, people = tmp_path / "reports.db", [bytes([number]) * 16 for number in range(USERS)]

    def store(first, last):
        store_reports(path, task, reports, people, range(first, last))

    def fitted(*arguments):
        model = tmp_path / "model"
        return run("fit", "--db", path, "--seed", "3", *arguments, "-o", model)

    fitted.store, fitted.people, fitted.path = store, people, path
    return fitted


def test_a_model_is_continued_with_new_reports(fit, tmp_path, monkeypatch):
    fit.store(0, 1800)
    assert fit("--model", "mf", "--factors", "3")[0] == 0
    last = load(tmp_path / "model")
    fit.store(1800, 2000)
    sweeps, run = [], HalfSteps.run
    monkeypatch.setattr(HalfSteps, "run", lambda self, n: sweeps.append(n) or run(self, n))
    status, _, message = fit("--warm", tmp_path / "model")
    assert (status, "mf from 2,000 rows" in message) == (0, True)
    assert sweeps == [WARM_SWEEPS]
    again = load(tmp_path / "model")
    assert len(again.user_ids) == USERS >= len(last.user_ids)
    assert again.items.shape[2] == 1 + 3


def test_a_fit_is_cold_after_an_erasure(fit, tmp_path):
    fit.store(0, 2000)
    fit("--model", "mf")
    with closing(open_store(str(fit.path))) as store:
        store.erase(1, fit.people[7], 4)
    status, _, message = fit("--model", "mf", "--warm", tmp_path / "model")
    assert status == 0
    assert "1 users of" in message
    assert "deleted or expired, so the model is fitted from scratch" in message
    warm = load(tmp_path / "model")
    assert fit("--model", "mf")[0] == 0
    cold = load(tmp_path / "model")
    assert np.array_equal(warm.people, cold.people)
    assert np.array_equal(warm.items, cold.items)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["ease", "graph-filter"])
def test_a_top_n_model_reuses_its_search_and_says_when_it_does_not(fit, tmp_path, name):
    fit.store(0, 1800)
    model, published = tmp_path / "model", ("--publish", tmp_path / "models", "--force")
    assert fit("--model", name, *published)[0] == 0
    start, check = tmp_path / "model.warm", tmp_path / "model.measured"
    last, measured = load(start), load(check)
    assert last.presence.reported.nnz == measured.presence.reported.nnz == 0
    fit.store(1800, 2000)
    status, _, message = fit("--warm", model, *published)
    assert (status, f"{name} from 2,000 rows" in message) == (0, True)
    assert "from scratch" not in message
    assert load(start).tuning == last.tuning
    assert load(check).tuning == measured.tuning
    replace(last, tuning=replace(last.tuning, reports=500)).save(start)
    status, _, message = fit("--warm", model)
    assert (status, "changed too much since the search of" in message) == (0, True)
    assert load(start).tuning.reports == 2000
    start.unlink()
    status, _, message = fit("--model", name, "--warm", model)
    assert (status, "was saved without model.warm, which has what" in message) == (0, True)
    assert load(start).tuning.reports == 2000


def test_a_top_n_model_is_fitted_from_scratch_after_an_erasure(fit, tmp_path):
    fit.store(0, 2000)
    fit("--model", "ease")
    with closing(open_store(str(fit.path))) as store:
        store.erase(1, fit.people[7], 4)
    status, _, message = fit("--warm", tmp_path / "model")
    assert (status, "1 users of" in message) == (0, True)
    assert "deleted or expired, so the model is fitted from scratch" in message


def test_exposure_of_a_warm_rating_model_reuses_its_search(fit, tmp_path):
    fit.store(0, 1800)
    assert fit("--model", "mf")[0] == 0
    last = load(tmp_path / "model").exposure
    fit.store(1800, 2000)
    assert fit("--warm", tmp_path / "model")[0] == 0
    assert load(tmp_path / "model").exposure.tuning == last.tuning is not None


def test_a_model_in_closed_form_is_computed_again_and_its_exposure_is_warm(fit, tmp_path):
    fit.store(0, 1800)
    assert fit("--model", "bias")[0] == 0
    last = load(tmp_path / "model").exposure
    fit.store(1800, 2000)
    status, _, message = fit("--warm", tmp_path / "model")
    assert (status, "bias from 2,000 rows" in message) == (0, True)
    assert "bias is computed from all reports each time, and only its exposure is warm" in message
    warm = load(tmp_path / "model")
    assert warm.exposure.tuning == last.tuning is not None
    assert fit("--model", "bias")[0] == 0
    assert np.array_equal(load(tmp_path / "model").items, warm.items)


def test_popularity_is_computed_again(fit, tmp_path):
    fit.store(0, 1800)
    assert fit("--model", "popularity")[0] == 0
    fit.store(1800, 2000)
    status, _, message = fit("--warm", tmp_path / "model")
    assert (status, "popularity from 2,000 rows" in message) == (0, True)
    assert "popularity is computed from all reports each time." in message
    warm = load(tmp_path / "model").popularity
    assert fit("--model", "popularity")[0] == 0
    assert load(tmp_path / "model").popularity == warm


def test_a_check_starts_from_the_last_check(fit, task, reports, tmp_path):
    fit.store(0, 1800)
    published = ("--publish", tmp_path / "models", "--force")
    assert fit("--model", "mf", *published)[0] == 0
    first = load(tmp_path / "model.measured")
    fit.store(1800, 2000)
    assert fit("--warm", tmp_path / "model", *published)[0] == 0
    second = load(tmp_path / "model.measured")
    assert not np.array_equal(first.items, second.items)
    assert len(PublishedModels(tmp_path / "models").publications(task.address)) == 2


def test_a_check_never_starts_from_a_model_of_the_reports_that_it_holds_out(reports, tmp_path):
    """It starts from the file next to --warm, whose fit had none of them, or from nothing."""
    chosen, calls = learner("mf"), []
    part = reports.where(~is_held_out(reports))

    def fit(data, **settings):
        calls.append(settings)
        return chosen.fit(data, **settings)

    everything = chosen.fit(reports)
    everything.save(tmp_path / "last")
    warm = WarmModel(tmp_path / "last", everything)
    measured_fit(fit, warm, tmp_path / "new", chosen)(part)
    assert calls.pop() == {}
    Fitted.load(tmp_path / "new.measured").save(tmp_path / "last.measured")
    measured_fit(fit, warm, tmp_path / "new", chosen)(part)
    start = calls.pop()["warm"]
    assert np.array_equal(start.items, Fitted.load(tmp_path / "last.measured").items)
    assert not np.array_equal(start.items, everything.items)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--model", "completion"),
            "completion does not support --warm: it is fitted from scratch",
        ),
        (("--model", "bias"), "bias requires a model of that kind, got mf"),
        (("--model", "ease"), "ease requires a model of that kind, got mf"),
        (("--model", "mf-plain"), "requires a model of that kind, got mf"),
        (("--factors", "4"), "--warm excludes --factors"),
        (("--state", "folder"), "--warm excludes --state"),
    ],
)
def test_what_has_no_warm_start_is_refused(fit, tmp_path, arguments, message):
    fit.store(0, 2000)
    fit("--model", "mf")
    status, _, errors = fit("--warm", tmp_path / "model", *arguments)
    assert status == 1
    assert message in errors


def test_ratings_and_trainers_have_no_warm_start(fit, run, tmp_path, reports):
    fit.store(0, 2000)
    fit("--model", "mf")
    model = tmp_path / "model"
    synthetic(50, 40, 1_000, rng=1).to_polars().write_csv(tmp_path / "ratings.csv")
    warm = ("--warm", model, "-o", tmp_path / "other")
    status, _, message = run("fit", tmp_path / "ratings.csv", "--scale", "1:5:1", *warm)
    assert (status, "--warm requires reports" in message) == (1, True)
    trainer = ("--model", "dpals", "--epsilon", "3", "--scale", "1:5:1")
    status, _, message = run("fit", tmp_path / "ratings.csv", *trainer, *warm)
    assert (status, "its guarantee holds for fits from scratch" in message) == (1, True)
    (tmp_path / "notes").write_text("no model")
    status, _, message = run(
        "fit", tmp_path / "ratings.csv", "--warm", tmp_path / "notes", *warm[2:]
    )
    assert status == 1
    write_reports(reports, tmp_path / "reports.parquet")
    status, _, message = run("fit", tmp_path / "reports.parquet", *warm)  # other user ids
    assert (status, "120 users of" in message) == (0, True)
