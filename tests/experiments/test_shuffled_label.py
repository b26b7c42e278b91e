"""Label of a shuffled task: both epsilons by another way, and the conditions in plain words."""

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema_rs
import pytest
from rsa_numbers import modulus
from shuffled_tasks import SHUFFLER, item_task, pair_task, star_task

from tacit.errors import CertificateError
from tacit.labels.document import dumps
from tacit.labels.page import html
from tacit.labels.shuffled_task import of_shuffled_task
from tacit.privacy.shuffled_messages import shuffled_epsilon

SCHEMA = json.loads(files("tacit.labels").joinpath("schema.json").read_text("utf-8"))
FIRST = item_task()
TASKS = (FIRST, pair_task(FIRST), item_task(announced=None))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("task", TASKS, ids=["items", "pairs", "only"])
def test_both_epsilons_are_those_of_the_rounds(task):
    """Computed from the messages and dummies, for the honest devices among the bundles."""
    claim = task.certificate
    label = of_shuffled_task(task)
    content = json.loads(dumps(label))
    jsonschema_rs.validate(SCHEMA, content)
    (promise,) = content["terms"][0]["promises"]
    assert (promise["unit"], promise["trust"]) == ("user", "shuffler")
    for neighbour, epsilon in (("replaced", promise["epsilon"]), ("empty", claim.empty)):
        bound = shuffled_epsilon(claim.rounds, devices=20, delta=1e-4, neighbour=neighbour)
        assert bound <= float(epsilon) <= 1.05 * bound + 0.001
    assert float(promise["epsilon"]) > float(claim.empty)
    page = html(label)
    replaced, empty = "Profile replaced by any other one", "Profile against an empty one"
    for name, epsilon in ((replaced, claim.replaced), (empty, claim.empty)):
        sentence = f"{name}: epsilon = {epsilon} per user, delta = 0.0001."
        assert sentence in page
        assert sentence in content["deployment"]["accounting"]["composition"]
    assert content["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == claim.replaced
    assert content["deployment"]["model"]["model_name"] == "Shuffle"


def test_label_states_who_must_be_honest_and_what_is_not_hidden():
    certificate = replace(FIRST.certificate, bundles=40, honest="0.5", delta="0.0001")
    page = html(of_shuffled_task(replace(FIRST, certificate=certificate)))
    for statement in (
        "at least 20 of the 40 devices whose bundles a batch has at least",
        "<li>at least 20 bundles of each batch come from devices that follow the protocol and keep "
        "their draws secret</li>",
        "<li>each person sends one bundle per round</li>",
        "Not hidden: who takes part, and when.",
        "a shuffler that forges, drops or retains bundles",
        "The shuffler, which mixes messages that it cannot read.",
        "1970-01-01 00:33:20 UTC",
    ):
        assert statement in page


@pytest.mark.parametrize(
    ("task", "rounds", "own", "follows"),
    [(TASKS[0], "43 messages about items and 23 messages about pairs of items",
      "bundle of 43 sealed messages of 53 bytes to the shuffler https://shuffler.example. "
      "At most 3 of them name items that its user has", True),
     (TASKS[1], "43 messages about items and 30 messages about pairs of items",
      "bundle of 30 sealed messages of 53 bytes to the shuffler https://shuffler.example. "
      "At most 2 of them name pairs of items that its user has", False),
     (TASKS[2], "43 messages about items", "bundle of 43 sealed messages", False)],
    ids=["items", "pairs", "only"],
)  # fmt: skip
def test_released_messages_are_those_of_the_bundle(task, rounds, own, follows):
    label = of_shuffled_task(task)
    assert label.terms[0].through.startswith(f"{rounds}, mixed by {SHUFFLER}")
    assert own in label.leaves
    assert ("A second task" in label.leaves) == follows


def test_signs_of_star_ratings_are_described():
    first = star_task()
    for task, statement in (
        (first, "rated on the scale 1:5:1, each with a random sign whose mean is the rating"),
        (pair_task(first), "each with a sign: + if both ratings are on the same side of what"),
    ):
        assert statement in of_shuffled_task(task).leaves
        assert "sign" not in of_shuffled_task(FIRST).leaves


def test_a_task_that_claims_too_small_an_epsilon_has_no_label(run, tmp_path):
    claim = FIRST.certificate
    for change in ({"replaced": "0.1"}, {"empty": "0.1"}):
        task = replace(FIRST, certificate=replace(claim, **change))
        with pytest.raises(CertificateError, match=r"Epsilon 0\.1"):
            of_shuffled_task(task)
        (tmp_path / "task.json").write_bytes(task.document)
        status, _, notice = run("label", tmp_path / "task.json", "-o", tmp_path / "label.html")
        assert (status, "Epsilon 0.1" in notice) == (1, True)
    assert not (tmp_path / "label.html").exists()


def test_command_writes_the_label_and_refuses_another_delta(run, tmp_path):
    path, page = tmp_path / "task.json", tmp_path / "label.html"
    path.write_bytes(FIRST.document)
    status, _, notice = run("label", path, "--delta", "1e-6", "-o", page)
    assert (status, "leave out --delta" in notice, page.exists()) == (1, True, False)
    status, _, notice = run("label", path, "-o", page)
    assert (status, "the label of a task" in notice) == (0, True)
    assert page.read_text("utf-8") == html(of_shuffled_task(FIRST))
    assert page.with_suffix(".json").read_text("utf-8") == dumps(of_shuffled_task(FIRST))


def test_label_states_what_signed_tokens_prove_and_what_not():
    page = html(of_shuffled_task(item_task(signer=modulus(1))))
    for statement in (
        "a token that https://films.example has signed blindly, one per customer",
        "The provider learns who requests a token, and when.",
        "A shuffler that drops bundles can retain their tokens",
    ):
        assert statement in page
        assert statement not in html(of_shuffled_task(FIRST))
