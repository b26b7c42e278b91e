"""What is measured says which of it is from outside, and from where."""

import json
from types import SimpleNamespace

import pytest
from outside_texts import CHANNEL, MODEL

from tacit import compare
from tacit.experiments.attacks import AttackRequest
from tacit.experiments.comparison.request import asked, protocol
from tacit.models import Baseline
from tacit.readers import synthetic
from tacit.results.attacks.rows import AttackRow
from tacit.results.comparison.row import read_rows

pytestmark = pytest.mark.usefixtures("blank_pictures")


def test_a_comparison_says_where_its_members_are_from(install, run, data, tmp_path):
    install("fake_plain", MODEL + CHANNEL, channels="again = fake_plain:Again",
            models="plain = fake_plain:Plain")  # fmt: skip
    what = ("--scale", "1:5:1", "--channel", "again", "--model", "plain,bias", "--epsilon", 1)
    files = ("--json", tmp_path / "rows.json", "--report", tmp_path / "page.html")
    status, out, _ = run("compare", data, *what, *files)
    sentence = "whose guarantees Tacit does not verify: plain of fake_plain 1.2, "
    assert status == 0
    assert sentence + "again of fake_plain 1.2." in out
    assert sentence in (tmp_path / "page.html").read_text()
    found = {(row.channel, row.model): row.plugins for row in read_rows(tmp_path / "rows.json")}
    assert found["identity", "bias"] is None
    assert found["identity", "plain"] == "plain of fake_plain 1.2"
    assert found["again", "plain"] == "again of fake_plain 1.2, plain of fake_plain 1.2"
    run("label", tmp_path / "rows.json", "-o", tmp_path / "label.html")
    assert sentence in (tmp_path / "label.json").read_text()


def test_an_attack_says_where_its_channel_is_from(install, run, data, tmp_path):
    install("fake_plain", CHANNEL, channels="again = fake_plain:Again")
    asked = ("--attack", "reconstruction", "--plan", "rated", "--channel", "again,duchi")
    files = ("--json", tmp_path / "rows.json", "--report", tmp_path / "page.html")
    status, out, _ = run("attack", data, "--scale", "1:5:1", *asked, "--epsilon", 1, *files)
    sentence = "whose guarantees Tacit does not verify: again of fake_plain 1.2."
    assert status == 0
    assert sentence in out
    assert sentence in (tmp_path / "page.html").read_text()
    found = [AttackRow.from_dict(row) for row in json.loads((tmp_path / "rows.json").read_text())]
    assert {(row.channel, row.plugins) for row in found} == {
        ("again", "again of fake_plain 1.2"), ("duchi", None), ("identity", None)
    }  # fmt: skip


def test_an_object_of_the_same_name_is_ones_own(install):
    install("fake_plain", MODEL, models="plain = fake_plain:Plain")
    own = SimpleNamespace(name="plain", fit=Baseline().fit)
    found = compare(synthetic(40, 60, 900), models=[own], epsilons=1)
    assert {row.plugins for row in found.rows} == {None}
    named = compare(synthetic(40, 60, 900), models="plain", epsilons=1)
    assert {row.plugins for row in named.rows} == {None, "plain of fake_plain 1.2"}  # beside floors


def test_a_fitted_model_says_which_channel_of_a_plug_in_it_was_fitted_through(
    install, run, data, tmp_path
):
    install("fake_plain", CHANNEL, channels="again = fake_plain:Again")
    fitted = ("fit", data, "--scale", "1:5:1", "--model", "bias", "-o")
    said = "(plug-ins: again of fake_plain 1.2). Epsilon = 1 per value"
    assert said in run(*fitted, tmp_path / "one", "--epsilon", 1, "--channel", "again")[2]
    assert "plug-ins" not in run(*fitted, tmp_path / "two")[2]


def test_no_row_of_another_version_is_kept(install):
    install("fake_plain", MODEL, models="plain = fake_plain:Plain")
    ratings = synthetic(40, 60, 900)

    def settings(models):
        split = protocol("random", None, None, 1)
        request = asked(channels="auto", models=models, epsilons="1", protocol=split)
        return request.comparison.cells(ratings)[0].settings

    assert json.loads(settings("plain,bias").partition("; ")[2])["plugins"] == [
        "plain of fake_plain 1.2"
    ]
    assert "plugins" not in settings("bias")
    install("fake_again", CHANNEL, channels="again = fake_again:Again")
    known = AttackRequest(attacks=("order",), channels=("again",)).cells(ratings)[0].settings
    assert json.loads(known)[2:] == ["again of fake_again 1.2"]
