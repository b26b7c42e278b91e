"""A package that pip installs beside Tacit: its members run, and each fault is found."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.readers import synthetic
from tacit.results.comparison.row import read_rows

pytestmark = pytest.mark.long
EXAMPLE = Path(__file__).parent / "example"
WHERE = "tacit-example 0.3.1"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that pip installed the package in, without a network."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index"]
    flags = ["--no-build-isolation", "--no-deps", "--target", folder]
    ran = subprocess.run([*pip, *flags, EXAMPLE], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture
def tacit(installed, tmp_path):
    """Run a command of a fresh process that has the package on its path."""

    def command(*words, **asked):
        path = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.run(
            [sys.executable, "-m", "tacit", *map(str, words)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path), **asked},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return command


@pytest.fixture
def bars(tmp_path):
    """Made-up ratings in the form that the package's reader alone knows."""
    file = tmp_path / "made.bars"
    synthetic(60, 50, 1200).to_polars().select("user", "item", "rating").write_csv(
        file, separator="!", include_header=False
    )
    return file


def test_its_members_run_side_by_side_and_results_say_where_they_are_from(tacit, bars, tmp_path):
    models = ("--channel", "exponential", "--model", "three-factors,item-bias,bias")
    files = ("--json", tmp_path / "rows.json", "--report", tmp_path / "page.html")
    ran = tacit("compare", bars, *models, "--epsilon", 1, *files)
    assert ran.returncode == 0, ran.stderr
    said = f"does not verify: three-factors of {WHERE}, exponential of {WHERE}, item-bias"
    assert said in ran.stdout
    assert said in (tmp_path / "page.html").read_text()
    rows = read_rows(tmp_path / "rows.json")
    assert {row.plugins for row in rows if row.model == "bias"} == {None, f"exponential of {WHERE}"}
    assert {row.plugins for row in rows if row.model == "item-bias"} == {f"item-bias of {WHERE}"}
    assert {row.unit for row in rows if row.model == "item-bias"} == {"value"}


@pytest.mark.parametrize(
    ("member", "kind"),
    [
        ("channels:Exponential", "channel"),
        ("models:ThreeFactors", "model"),
        ("trainings:ItemBias", "trainer"),
    ],
)
def test_a_sound_member_holds_every_claim(tacit, member, kind):
    ran = tacit("check", f"tacit_example.{member}")
    assert ran.returncode == 0, ran.stdout
    assert re.search(rf"a {kind}: (\d+) of \1 claims hold", ran.stdout)


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("Understated", "claim a larger epsilon"),
        ("Moody", "The model depends on the order of the reports."),
        ("Untidy", "The model changed the evidence that it was fitted to."),
        ("Indiscreet", "releases change by at most their declared"),
    ],
)
def test_each_fault_is_found(tacit, name, claim):
    ran = tacit("check", f"tacit_example.faulty:{name}")
    assert ran.returncode == 1
    failed = re.findall(r"^FAILS  .*\n.*", ran.stdout, re.MULTILINE)
    assert any(claim in each for each in failed), ran.stdout


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (("--channel", "understated"), "claim a larger epsilon"),
        (("--model", "unimportable"), f"The model 'unimportable' of {WHERE} cannot be loaded ("),
        (("--model", "mf"), f"The model 'mf' of {WHERE} has the name of a built-in entry"),
        (("--format", "unreadable"), f"The reader 'unreadable' of {WHERE} cannot be loaded ("),
    ],
)
def test_what_cannot_be_used_is_refused_by_a_sentence(tacit, bars, choice, said):
    ran = tacit("compare", bars, "--epsilon", 1, "--model", "bias", *choice)
    assert ran.returncode == 1
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_they_are_listed_and_offered(tacit):
    listed = tacit("list", "models").stdout
    assert f"\nthree-factors        Matrix factorization with three factors; of {WHERE}" in listed
    assert "No module named 'no_package_has_this_name'" in listed
    assert f"exponential, a channel of {WHERE}" in " ".join(tacit("fit", "--help").stdout.split())


FILE = """
from tacit.plugins import register
from tacit_example.models import ThreeFactors

class Named(ThreeFactors):
    name = "three-of-a-file"

register("models", "three-of-a-file", Named)
"""


def test_the_tab_key_offers_those_of_packages_and_of_files(tacit, tmp_path):
    (tmp_path / "attempt.py").write_text(FILE)
    line = "tacit --plugin attempt.py compare --model bias,thr"
    offered = tacit(_TACIT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD="5").stdout
    assert offered.split() == ["bias,three-factors", "bias,three-of-a-file"]
