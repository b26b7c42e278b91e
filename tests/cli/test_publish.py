"""`fit --publish` refuses models of few reports and bad models, and `models` goes back."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from repeatable_words import RepeatableWordsForTestsOnly
from stored_rows import store_reports

from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collector.storage.published_models import PublishedModels
from tacit.readers.synthetic import synthetic
from tacit.wire.item_model import ItemModel

STORE = Path(__file__).parent.parent / "formats" / "0.1.0" / "rated.collector.db"
USERS, ITEMS, ROWS = 800, 60, 24_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize("least", [None, "305", "306", "1000"])
def test_a_model_of_fewer_reports_than_the_least_is_not_published(tmp_path, run, least):
    store, model = shutil.copy(STORE, tmp_path), tmp_path / "model"
    asked = () if least is None else ("--least", least)
    served = tmp_path / "served"
    command = ("fit", "--db", store, "--model", "bias", "--publish", served, "-o", model)
    status, _, said = run(*command, *asked)
    published = list(served.glob("*.items"))
    assert model.exists()
    if least in (None, "305"):
        assert (status, len(published)) == (0, 1)
        assert "was not measured" in said  # 12 users
    else:
        assert (status, published) == (1, [])
        assert "reports, got 305. The model was saved and not published" in said
        assert run(*command, *asked, "--force")[0] == 0
        assert list(served.glob("*.items"))


@pytest.fixture
def task(ask):
    return ask(epsilons=("8",), items=range(1, ITEMS + 1))


@pytest.fixture
def fit(task, tmp_path, run):
    """Fit and publish a model from a store. The gain of `bias` is 7 to 9 standard errors."""
    ratings = synthetic(USERS, ITEMS, ROWS, rng=2, fewest=5)
    sent = perturb(ratings, Rated(task.channels[0]), words=RepeatableWordsForTestsOnly(1))
    chance = np.random.default_rng(1)
    people = [chance.bytes(16) for _ in range(sent.n_users)]
    store = tmp_path / "reports.db"
    store_reports(store, task, sent, people, range(len(sent)))

    def fitted(model, *options):
        served = tmp_path / "served"
        command = ("fit", "--db", store, "--model", model, "--publish", served)
        return run(*command, "-o", tmp_path / "model", *options)

    return fitted


def newest(tmp_path, task):
    return PublishedModels(tmp_path / "served").newest(task.address)


def test_a_model_that_is_worse_than_popularity_is_refused_with_its_gain(fit, task, tmp_path):
    status, _, message = fit("global-mean")
    assert (status, newest(tmp_path, task)) == (1, None)
    assert "worse than popularity: its gain over popularity is -0." in message
    assert (tmp_path / "model").exists()
    status, _, message = fit("global-mean", "--force")
    assert status == 0
    assert re.search(r"Gain over popularity on held-out reports of 7\d\d users: -0\.", message)
    assert newest(tmp_path, task)


def test_a_model_that_is_worse_than_the_last_is_refused_with_both_gains(fit, task, tmp_path):
    assert fit("bias")[0] == 0
    last = newest(tmp_path, task)
    status, _, message = fit("item-mean")
    assert (status, newest(tmp_path, task)) == (1, last)
    (publication,) = PublishedModels(tmp_path / "served").publications(task.address)
    assert publication.gain > 3 * publication.error > 0
    assert (publication.learner, publication.reports) == ("bias", ROWS)
    assert "is 0.0000 in squared error" in message
    assert f"that of the last model, bias, was {publication.gain:.4f}." in message
    # The same model again is as good.
    assert fit("bias")[0] == 0
    # Lists and ratings have no common figure.
    assert fit("popularity")[0] == 0
    assert newest(tmp_path, task) != last


def test_a_dry_run_checks_and_publishes_nothing(fit, task, tmp_path):
    status, _, message = fit("bias", "--dry-run")
    assert (status, newest(tmp_path, task)) == (0, None)
    assert "Gain over popularity" in message
    assert fit("global-mean", "--dry-run")[0] == 1
    assert not (tmp_path / "served").exists()


@pytest.mark.parametrize("option", ["--force", "--dry-run"])
def test_options_of_publishing_alone_are_refused(run, tmp_path, option):
    status, _, message = run("fit", "--db", STORE, "-o", tmp_path / "model", option)
    assert (status, message) == (1, f"{option} requires --publish.\n")


@pytest.mark.parametrize("verb", ["list", "rollback"])
def test_a_folder_without_models_is_not_one_that_is_missing(run, tmp_path, verb):
    (tmp_path / "file").touch()
    for absent in ("nowhere", "file"):
        status, out, said = run("models", verb, "--publish", tmp_path / absent)
        assert (status, out) == (1, "")
        assert f"--publish must be an existing folder, got {tmp_path / absent}." in said


def test_models_are_listed_and_rolled_back(fit, run, task, tmp_path):
    served = tmp_path / "served"
    addresses = []
    for model, options in (("bias", ()), ("mf", ("--factors", "2", "--force"))):
        assert fit(model, *options)[0] == 0
        addresses.append(newest(tmp_path, task))
    first, second = addresses
    _, out, _ = run("models", "list", "--publish", served)
    lines = out.splitlines()
    assert lines[0] == f"task {task.address}"
    assert lines[1].startswith(f"  * {second[:12]}, 0 h, mf, 24,000 reports, gain ")
    assert lines[2].startswith(f"    {first[:12]}, 0 h, bias, 24,000 reports, gain 0.")
    status, _, message = run("models", "rollback", "--publish", served)
    assert (status, newest(tmp_path, task)) == (0, first)
    assert f"Devices get {first} (bias, " in message
    rows = json.loads(run("models", "list", "--publish", served, "--json")[1])[task.address]
    assert [(row["model"], row["current"]) for row in rows] == [(second, False), (first, True)]
    folder = PublishedModels(served)
    assert folder.published_at(task.address) == pytest.approx(rows[1]["at"], abs=1e-3)
    status, _, message = run("models", "rollback", "--publish", served)
    assert (status, newest(tmp_path, task)) == (1, first)
    assert "has no record of an earlier model" in message
    assert run("models", "rollback", "--publish", served, "--to", second)[0] == 0
    assert newest(tmp_path, task) == second


def test_a_model_of_another_task_or_without_its_file_is_not_served_again(fit, run, task, tmp_path):
    served = tmp_path / "served"
    fit("bias")
    first = newest(tmp_path, task)
    fit("item-mean", "--force")
    second, other = newest(tmp_path, task), "ab" * 32
    shutil.copy(served / f"{first}.items", served / f"{other}.items")
    status, _, message = run("models", "rollback", "--publish", served, "--to", other)
    assert status == 1
    assert f"has no record of the model {other}; its 2 publications" in message
    (served / f"{first}.items").write_bytes(b"damaged")
    status, _, message = run("models", "rollback", "--publish", served)
    assert (status, newest(tmp_path, task)) == (1, second)
    assert "missing or damaged" in message
    os.remove(served / f"{first}.items")
    assert run("models", "rollback", "--publish", served)[0] == 1


def test_tasks_with_different_models_are_rolled_back_one_by_one(fit, run, task, tmp_path):
    served = tmp_path / "served"
    fit("bias")
    first = newest(tmp_path, task)
    fit("mf", "--factors", "2", "--force")
    (served / f"{'cd' * 32}.newest").write_text(first)
    status, _, message = run("models", "rollback", "--publish", served)
    assert status == 1
    assert "choose one with --task" in message
    assert run("models", "rollback", "--publish", served, "--task", task.address)[0] == 0
    assert newest(tmp_path, task) == first
    status, _, message = run("models", "rollback", "--publish", served, "--task", "ef" * 32)
    assert status == 1
    assert "The folder has no model of the task" in message


def test_a_damaged_record_is_named_and_not_overwritten(fit, run, task, tmp_path):
    fit("bias")
    record = tmp_path / "served" / f"{task.address}.history"
    record.write_text(record.read_text().replace("tacit-publications-1", "tacit-publications-2"))
    before, last = record.read_text(), newest(tmp_path, task)
    for status, _, message in (
        fit("bias"),
        run("models", "list", "--publish", tmp_path / "served"),
        run("models", "rollback", "--publish", tmp_path / "served"),
    ):
        assert status == 1
        assert f"{task.address}.history is damaged; delete it" in message
    assert (record.read_text(), newest(tmp_path, task)) == (before, last)


def hidden_in(tmp_path, task):
    folder = PublishedModels(tmp_path / "served")
    model = ItemModel.from_bytes(folder.model(folder.newest(task.address)))
    return [model.items[index] for index in model.hidden]


def table(tmp_path, *items):
    path = tmp_path / "hidden.csv"
    path.write_text("\n".join(["item", *map(str, items)]) + "\n")
    return path


def test_hidden_items_stay_hidden_in_all_later_models(fit, run, task, tmp_path):
    served = tmp_path / "served"
    fit("bias")
    first = newest(tmp_path, task)
    at = PublishedModels(served).published_at(task.address)
    status, _, message = run("models", "hide", table(tmp_path, 7, 3, 9999), "--publish", served)
    assert (status, message) == (0, "3 items are hidden in 1 published models.\n")
    assert hidden_in(tmp_path, task) == [3, 7]
    assert newest(tmp_path, task) != first  # so that devices fetch it
    assert PublishedModels(served).published_at(task.address) == pytest.approx(at, abs=1e-3)
    fit("mf", "--factors", "2", "--force")
    assert hidden_in(tmp_path, task) == [3, 7]
    status, out, _ = run("models", "list", "--publish", served)
    assert out.splitlines()[0] == "3 items are hidden"
    assert [line[:3] for line in out.splitlines()[2:]] == ["  *", "   "]
    run("models", "hide", table(tmp_path, 5), "--publish", served)
    assert hidden_in(tmp_path, task) == [5]
    # An earlier model obeys the list of today, not that of its time.
    assert run("models", "rollback", "--publish", served)[0] == 0
    assert hidden_in(tmp_path, task) == [5]
    assert PublishedModels(served).current(task.address).learner == "bias"
    run("models", "hide", table(tmp_path), "--publish", served)
    assert (hidden_in(tmp_path, task), newest(tmp_path, task)) == ([], first)


def test_fit_replaces_the_hidden_items_if_it_publishes(fit, run, task, tmp_path):
    assert fit("bias", "--hide", table(tmp_path, 2))[0] == 0
    assert hidden_in(tmp_path, task) == [2]
    fit("item-mean", "--hide", table(tmp_path, 4))  # refused
    fit("bias", "--hide", tmp_path / "hidden.csv", "--dry-run")
    assert hidden_in(tmp_path, task) == [2]
    fit("bias", "--hide", tmp_path / "hidden.csv")
    assert hidden_in(tmp_path, task) == [4]


def test_a_damaged_list_of_hidden_items_is_named(fit, run, task, tmp_path):
    fit("bias", "--hide", table(tmp_path, 2))
    (tmp_path / "served" / "hidden.json").write_text('{"format":"tacit-hidden-1","items":[null]}')
    status, _, message = fit("bias")
    assert status == 1
    assert "hidden.json is damaged; write it again" in message
    assert run("models", "hide", table(tmp_path, 2), "--publish", tmp_path / "served")[0] == 0


def test_recommendations_of_a_model_file_leave_out_hidden_items(fit, run, tmp_path):
    fit("bias")
    model = tmp_path / "model"
    profile = tmp_path / "mine.csv"
    profile.write_text("item,rating\n1,5\n2,3\n")
    best = run("recommend", model, "--user", "x", "-n", "4")[1].split()[::2]
    hidden = table(tmp_path, *best[:2])
    left = run("recommend", model, "--user", "x", "-n", "2", "--hide", hidden)[1].split()[::2]
    assert left == best[2:]
    mine = ("recommend", model, "--user", "x", "--profile", profile)
    best = run(*mine, "-n", "4")[1].split()[::2]
    hidden = table(tmp_path, best[0], best[2], 1)
    left = run(*mine, "-n", "2", "--hide", hidden)[1].split()[::2]
    assert left == [best[1], best[3]]
    output = tmp_path / "lists.csv"
    run("recommend", model, "--all", "-n", "3", "-o", output, "--hide", hidden)
    lists = pl.read_csv(output)
    assert len(lists) == 3 * USERS
    assert not set(lists["item"]) & {int(best[0]), int(best[2]), 1}
