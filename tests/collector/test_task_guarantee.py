"""Label, `fit --db`, models and the page state one guarantee of a task, and the ledger keeps it."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from fake_collector import FakeCollector
from page_contract import contract

from tacit.collection.task_guarantee import CHANGED, LINKED, RATED_SINCE, task_guarantee
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.device.client import Client
from tacit.labels.label import of_task
from tacit.models.fitted import Fitted

PLANS = ("rated", "catalogue", "sample:3")
ROOT = Path(__file__).parents[2]
ON_THE_PAGE = {
    "which items each user rated": "which items you rated",
    "who takes part": "That you take part",
    "the catalogue": "of the catalogue",
    "the channels": "Choices: epsilon =",
    LINKED: "All your answers to this question are sent under one random pseudonym",
    CHANGED: "whether an answer changed, and when",
    RATED_SINCE: "which items you rated between two reports",
}
"""What a guarantee calls public, as the page says it to the person whose reports they are."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_label_fit_and_stored_reports_state_one_sentence(
    plan, ask, collector, report, send, run, tmp_path
):
    task = ask(plan, provider="https://films.example")
    client = collector(task)
    assert send(client, task, *(report(task) for _ in range(30))).status_code == 200
    (tmp_path / "task.json").write_bytes(task.document)
    assert run("label", tmp_path / "task.json", "-o", tmp_path / "label.html")[0] == 0
    label = json.loads((tmp_path / "label.json").read_text())
    sentence = label["terms"][0]["promises"][0]["sentence"]
    store, model = tmp_path / "reports.db", tmp_path / "model"
    bare = ("fit", "--db", store, "--model", "bias", "--without-exposure", "-o", model)
    status, _, messages = run(*bare)
    assert status == 0, messages
    assert sentence in messages
    with closing(open_reader(str(store))) as reader:
        assert stored_reports.reports(reader).guarantee.sentence == sentence
    assert Fitted.load(model).guarantee.sentence == sentence
    assert run("fit", "--db", store, "--model", "bias", "-o", model)[0] == 0
    exposed = Fitted.load(model).guarantee.sentence
    assert exposed.startswith(sentence.removesuffix("."))
    assert ("rated together" in exposed) == (plan == "rated")
    assert task_guarantee(task).sentence == sentence


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_page_says_everything_that_the_guarantee_calls_public(plan, ask):
    task = ask(plan, provider="https://films.example")
    shown = "\n".join(contract(task).values())
    missing = [each for each in task_guarantee(task).public if ON_THE_PAGE[each] not in shown]
    assert missing == []


@pytest.mark.parametrize("plan", PLANS)
def test_every_guarantee_of_a_task_names_what_later_reports_show(plan, ask):
    task = ask(plan, ("1", "2"), provider="https://films.example")
    changed = CHANGED if plan == "rated" else RATED_SINCE
    label = of_task(task, delta="1e-6")
    for one in (*label.promises, task_guarantee(task), task_guarantee(task, [0])):
        assert changed in one.public
        assert changed in one.sentence


def test_docs_say_what_later_reports_show():
    text = (ROOT / "docs" / "explanation" / "presence.md").read_text("utf-8")
    assert RATED_SINCE in " ".join(text.split()).replace("Which", "which")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("plan", "slots"), [("catalogue", 6), ("sample:3", 3), ("rated", 4)])
def test_ledger_of_a_device_never_exceeds_the_label(plan, slots, ask, tmp_path):
    """Each new maximum answers every slot again. A maximum that returns costs nothing more."""
    task = ask(plan, ("1", "2", "4"), provider="https://films.example")
    promises = [one for one in of_task(task, delta="1e-6").promises if one.delta == "0"]
    if plan == "rated":  # n ratings of a user together cost n epsilon, by the label
        bound = slots * max(float(one.epsilon) for one in promises)
    else:
        bound = max(float(one.epsilon) for one in promises if one.unit == "user")
    path, transport, spent = tmp_path / "me.db", FakeCollector([task]), []
    for day, maximum in enumerate(("1", "2", "1", "4", "2", "4", "9")):
        clock = lambda day=day: 1_000 + day * task.epoch_seconds  # noqa: E731
        settings = {"most_epsilon": maximum, "lifetime": "500"}
        with Client(path, task.provider, transport=transport, clock=clock, **settings) as device:
            for item in task.items[:4]:
                device.rate(item, 3)
            device.sync()
            spent.append(device.ledger.spent / 10**9)
    assert max(spent) <= bound
    assert spent[-1] == (slots * 1 if plan == "rated" else bound)
