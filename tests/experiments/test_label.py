"""A label says what runs: each figure is found again by another way."""

import json
import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest

from tacit import channels, fit
from tacit.channels.certificate import certify
from tacit.cli import main
from tacit.errors import RequestError
from tacit.labels.document import deployment, document, dumps
from tacit.labels.files import of_model
from tacit.labels.label import AttackFigure, Label, Terms, of_task
from tacit.labels.page import guessed, html
from tacit.labels.simulated_attacks import found_by_attackers
from tacit.models import item_model
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.training import training
from tacit.wire.tasks.task import Task

SCHEMA = json.loads(files("tacit.labels").joinpath("schema.json").read_text("utf-8"))


def asked(plan: str, *epsilons: str) -> Task:
    scale = RatingScale.parse("1:5:1")
    return Task(
        name="Films",
        scale=scale,
        plan=plan,
        items=tuple(range(30)),
        channels=tuple(
            channels.compile_channel(
                "randomized-response", epsilon=each, scale=scale, missing=plan != "rated"
            )
            for each in epsilons
        ),
        start=0,
        provider="https://films.example",
        window=3,
        retention_days=99,
    )


def valid(label) -> dict:
    told = json.loads(dumps(label))
    jsonschema_rs.validate(SCHEMA, told)
    return told


def test_what_a_task_promises_is_what_its_tables_hold():
    """The epsilon of each is recomputed from the weights that devices draw from."""
    task = asked("rated", "1", "2")
    told = valid(of_task(task, delta="1e-6"))
    assert told["address"] == task.address
    for terms, channel in zip(told["terms"], task.channels, strict=True):
        (promise,) = terms["promises"]
        ratio = max(max(c) / min(c) for c in zip(*channel.weights, strict=True))
        assert float(promise["epsilon"]) == pytest.approx(math.log(ratio), abs=1e-9)
        assert (promise["unit"], promise["exact"]) == ("value", True)
        assert certify(replace(channel, epsilon=promise["epsilon"])) is None
    assert told["keeping"] == {"epoch_seconds": 86_400, "late_epochs": 3, "days": 99}
    assert "No guarantee per user" in told["unbounded"]
    assert told["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == "2"


def test_a_whole_person_costs_what_all_slots_cost():
    told = valid(of_task(asked("sample:12", "0.5"), delta="1e-6"))
    slot, person, tight = told["terms"][0]["promises"]
    assert (slot["unit"], slot["epsilon"]) == ("slot", "0.5")
    assert (person["unit"], float(person["epsilon"])) == ("user", 12 * 0.5)
    assert told["unbounded"] is None
    assert (tight["unit"], tight["delta"]) == ("user", "1e-6")
    assert 0 < float(tight["epsilon"]) < 12 * 0.5
    everything = valid(of_task(asked("catalogue", "0.5"), delta="1e-6"))
    assert float(everything["terms"][0]["promises"][1]["epsilon"]) == 30 * 0.5


@pytest.mark.parametrize(("plan", "slots"), [("catalogue", 30), ("sample:7", 7)])
def test_label_lists_the_sum_over_channels(plan: str, slots: int):
    """A device whose maximum was raised answered for every slot through each channel."""
    label = of_task(asked(plan, "1", "2"), delta="1e-6")
    slot, person = valid(label)["terms"][-1]["promises"]
    assert (slot["unit"], slot["epsilon"]) == ("slot", "3")
    assert (person["unit"], person["epsilon"]) == ("user", str(3 * slots))
    assert "in one report through each channel" in html(label)
    entry = document(label)["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] == "3"
    assert len(entry["implementation"]["mechanisms"]) == 2


def test_guarantee_of_a_model_is_as_stated_by_the_provider(tmp_path: Path, run):
    """Whoever writes the file chooses its figures, and a reader can check none of them."""
    fitted = training("dp-bias").fit(synthetic(40, 60, 900), epsilon="2")
    claimed = replace(fitted.guarantee, epsilon="0.01", unit="user", exact=True)
    path = tmp_path / "model"
    replace(fitted, guarantee=claimed).save(path)
    label = of_model(path)
    (promise,) = label.promises
    assert not promise.exact
    assert promise.assumptions[-1] == "the guarantee is as stated by the provider"
    assert "The guarantee is as stated by the provider." in label.leaves
    assert "<td>as stated by the provider</td>" in html(label)
    assert "in integer arithmetic" not in html(label)
    status, _, message = run("label", path, "-o", tmp_path / "label.html")
    assert status == 0
    assert "Its guarantee is as stated by the provider." in message


def test_a_models_label_has_the_promise_that_it_carries(tmp_path: Path):
    ratings = synthetic(40, 60, 900)
    for name, fitted in (
        ("private", training("dp-bias").fit(ratings, epsilon="2")),
        ("free", fit("bias", ratings)),
    ):
        path = tmp_path / name
        fitted.save(path)
        told = valid(of_model(path))
        assert told["terms"][0]["promises"][0]["epsilon"] == fitted.guarantee.epsilon
        assert (told["deployment"] is None) == (fitted.guarantee == NO_PRIVACY)
        items = tmp_path / f"{name}.items"
        items.write_bytes(item_model(fitted).to_bytes())
        published = valid(of_model(items))
        assert published["terms"][0]["promises"] == told["terms"][0]["promises"]


def test_a_claim_that_fails_is_no_deployment_and_is_said_first(tmp_path: Path):
    ratings = synthetic(40, 60, 900)
    fitted = training("dpsaobj", "faithful").fit(ratings, epsilon="10")
    path = tmp_path / "published"
    fitted.save(path)
    label = of_model(path)
    assert valid(label)["deployment"] is None
    page = html(label)
    assert page.index("Claimed but not satisfied") < page.index("<table")
    assert "does not hold" in page


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0"), ("0.5", "0.1"), ("3", "1e-6")])
def test_a_guess_is_as_good_as_the_best_test_between_two_laws(epsilon: str, delta: str):
    """The attaining pair: with delta one sees which it is, else randomized response."""
    e, d = float(epsilon), float(delta)
    told = math.exp(e) * (1 - d) / (1 + math.exp(e))
    law, other = (d, told, 1 - d - told, 0.0), (0.0, 1 - d - told, told, d)
    right = sum(map(max, zip(law, other, strict=True))) / 2
    one = replace(NO_PRIVACY, epsilon=epsilon, delta=delta, unit="user")
    assert 0 <= float(guessed(one)[:-2]) - 100 * right < 0.1


def test_what_was_found_is_on_the_page_with_whom_it_is_of():
    found = AttackFigure(
        attack="linkage", through="epsilon 1", knows="Four items.", setting="4 items",
        figure="top-1", value=0.125, baseline=0.01, data="100 made-up people.",
    )  # fmt: skip
    label = of_task(asked("rated", "1"), delta="1e-6", found=(found,))
    assert valid(label)["found"][0]["value"] == 0.125
    assert all(said in html(label) for said in ("0.125", "0.010", "100 made-up people."))
    assert "No attack was run" in html(of_task(asked("rated", "1"), delta="1e-6"))


def test_a_title_is_text_on_the_page():
    task = replace(asked("rated", "1"), name="<script>x</script>")
    assert "<script>" not in html(of_task(task, delta="1e-6"))


def test_the_verb_writes_a_page_and_its_json(tmp_path: Path, capsys):
    task = asked("rated", "1")
    (tmp_path / "task.json").write_bytes(task.document)
    with pytest.raises(SystemExit):
        main(["label", str(tmp_path / "task.json"), "-o", str(tmp_path / "label.html")])
    told = json.loads((tmp_path / "label.json").read_text())
    found = found_by_attackers(task)
    assert told == json.loads(json.dumps(document(of_task(task, delta="1e-6", found=found))))
    assert (tmp_path / "label.html").read_text().startswith("<!doctype html>")
    assert "the label of a task" in capsys.readouterr().err


def test_an_empty_file_has_no_label(tmp_path: Path, capsys):
    (tmp_path / "nothing").touch()
    with pytest.raises(SystemExit) as ended:
        main(["label", str(tmp_path / "nothing"), "-o", str(tmp_path / "label.html")])
    assert ended.value.code == 1
    assert "is empty" in capsys.readouterr().err


@pytest.mark.parametrize("delta", ["1e-6x", "", "0", "1", "-1e-6", "nan"])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises(RequestError, match="delta must be between 0 and 1, such as 1e-6, got"):
        of_task(asked("rated", "1"), delta=delta)


def labelled(*promises: Guarantee) -> Label:
    terms = tuple(Terms(through="channel", promises=(each,)) for each in promises)
    return Label(
        kind="result", name="r", address="ab", asked_by=None, leaves="nothing", terms=terms,
        unbounded=None, keeping=None,
    )  # fmt: skip


def claim(epsilon: str | None, unit: str, fails: str | None = None) -> Guarantee:
    trust = "curator" if unit == "user" else "nobody"
    return Guarantee(epsilon=epsilon, unit=unit, trust=trust, released="reports", fails=fails)


def test_an_entry_of_the_registry_states_the_weakest_guarantee():
    """The smallest unit, and there the largest epsilon, in whichever order they come."""
    strong, weak = claim("0.5", "user"), claim("8", "value")
    for promises in ((strong, claim("1", "value"), weak), (weak, strong)):
        loss = deployment(labelled(*promises))["privacy_loss"]
        assert loss["privacy_unit"] == "Event-level"
        assert loss["privacy_parameters"]["epsilon"] == "8"


def test_without_privacy_or_with_a_claim_that_fails_there_is_no_entry():
    for other in (claim("5", "value", "refuted"), NO_PRIVACY):
        assert deployment(labelled(claim("1", "value"), other)) is None
    assert deployment(labelled()) is None
