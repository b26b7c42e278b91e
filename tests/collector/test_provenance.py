"""A task whose catalogue was taken from ratings says so, and so does all that is made from it."""

import json
from contextlib import closing

import pytest
from page_contract import contract

from tacit.collection.report_file import read_reports, write_reports
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.labels.files import of_model
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import PARTS
from tacit.readers import synthetic
from tacit.wire.item_model import ItemModel
from tacit.wire.tasks.loading import loads

GAP = ("the catalogue",)
SENTENCE = "Not covered: the catalogue, inferred from the ratings because not declared."
PLANS = ("rated", "catalogue", "sample:20")


@pytest.fixture
def write_task(run, tmp_path):
    """Write a task by the command line, from a file of ratings or from a declared catalogue."""

    def write(plan: str, source: str = "ratings.csv"):
        ratings = synthetic(n_users=12, n_items=40, n_ratings=240, rng=1)
        ratings.to_polars().write_csv(tmp_path / "ratings.csv")
        lines = [f"{item},Film {item}" for item in ratings.item_ids.ids]
        (tmp_path / "items.csv").write_text("\n".join(["item,title", *lines]))
        arguments = ("--provider", "https://films.example", "--plan", plan, "--epsilon", "2")
        status, _, message = run("task", tmp_path / source, *arguments, "-o", tmp_path / "t.json")
        assert status == 0, message
        return loads((tmp_path / "t.json").read_bytes())

    return write


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_reports_models_and_labels_keep_what_the_task_does_not_cover(
    plan, write_task, collector, clock, report, send, run, tmp_path
):
    task = write_task(plan)
    assert task.uncovered == GAP
    clock.now = task.start + 20 * task.epoch_seconds
    client = collector(task)
    assert send(client, task, *(report(task) for _ in range(30))).status_code == 200
    store, model = tmp_path / "reports.db", tmp_path / "model"
    with closing(open_reader(str(store))) as reader:
        reports = stored_reports.reports(reader)
    assert reports.guarantee.uncovered == GAP
    write_reports(reports, tmp_path / "reports.parquet")
    assert read_reports(tmp_path / "reports.parquet").guarantee == reports.guarantee
    # Symbols are random, so the model may be worse than popularity.
    published = ("--publish", tmp_path / "served", "--least", "1", "--force")
    status, _, message = run("fit", "--db", store, "--model", "bias", "-o", model, *published)
    assert status == 0, message
    assert SENTENCE in message
    assert Fitted.load(model).guarantee.uncovered == GAP
    (item_model,) = (tmp_path / "served").glob("*.items")
    assert ItemModel.from_bytes(item_model.read_bytes()).guarantee.uncovered == GAP
    for path in (model, item_model):
        assert of_model(path).uncovered == GAP


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_label_and_page_print_what_the_task_does_not_cover(plan, write_task, run, tmp_path):
    task = write_task(plan)
    assert run("label", tmp_path / "t.json", "-o", tmp_path / "label.html")[0] == 0
    label = json.loads((tmp_path / "label.json").read_text())
    for promise in (one for terms in label["terms"] for one in terms["promises"]):
        assert promise["uncovered"] == list(GAP)
        assert SENTENCE in promise["sentence"]
    assert "<h2>Not covered by the guarantee</h2>" in (tmp_path / "label.html").read_text()
    assert contract(task)["Not covered"] == (
        "Inferred from ratings, not declared: the catalogue. No epsilon covers what this reveals "
        "of those ratings."
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_a_declared_catalogue_is_covered(plan, write_task, run, tmp_path):
    task = write_task(plan, "items.csv")
    assert task.uncovered == ()
    assert b"uncovered" not in task.document
    assert run("label", tmp_path / "t.json", "-o", tmp_path / "label.html")[0] == 0
    assert "not covered" not in (tmp_path / "label.html").read_text()
    assert "Not covered" not in contract(task)


def test_page_lists_every_part(ask):
    task = ask("rated", provider="https://films.example", uncovered=tuple(PARTS.values()))
    assert ", ".join(PARTS.values()) in contract(task)["Not covered"]
