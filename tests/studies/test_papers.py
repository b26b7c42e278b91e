"""Every paper: its studies, its errors and its page."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from tacit import RequestError, synthetic
from tacit.cli import app
from tacit.crossdomain.domains import Domains
from tacit.reporting.page import Provenance
from tacit_studies import PAPERS
from tacit_studies.claim import Correction, PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.neera.figures_5_6 import GRADIENTS, MIXTURE, NUMBER, PROMISE
from tacit_studies.neera.figures_5_6 import claims as mixture_claims
from tacit_studies.page import provenance, report
from tacit_studies.paper import ratings_of
from tacit_studies.shared_corrections import SHARED_CORRECTIONS
from tacit_studies.verdict import ClaimVerdict
from tacit_studies.x_map.figures import errors, table
from tacit_studies.x_map.trials import Way

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "explanation" / "papers"
ERRORS = [
    *((name, one) for name, paper in PAPERS.items() for one in paper.corrections),
    *(("index", one) for one in SHARED_CORRECTIONS),
]


def run(*arguments):
    return CliRunner().invoke(app, ["paper", *map(str, arguments)])


@pytest.mark.parametrize("name", PAPERS)
def test_the_quick_studies_are_the_studies(name):
    paper = PAPERS[name]
    names = [study.name for study in paper.studies]
    assert [study.name for study in paper.quick] == names
    assert len(set(names)) == len(names)
    assert [type(study) for study in paper.quick] == [type(study) for study in paper.studies]


STUDIES = [(name, study) for name, paper in PAPERS.items() for study in paper.quick]
SECTIONS = {
    "zheng": "Zheng", "neera": "Neera et al.", "xian": "Xian et al.",
    "x-map": "Guerraoui et al., X-Map",
}  # fmt: skip
NUMBERED = re.compile(
    r"(Figure|Table|Theorem|Lemma|Corollary|Algorithm)s? ([0-9]+)((?:(?:,| and) [0-9]+)*)"
)
NOT_MEASURED = {
    ("zheng", "Figure 1"), ("neera", "Figure 1"), ("neera", "Table 1"), ("neera", "Table 2"),
}  # fmt: skip
"""Pictures, notation, and the list of data sets."""


def numbered(name):
    """Return the figures, tables and theorems that a section of the coverage page has a row for."""
    page = (PAGES / "coverage.md").read_text()
    section = page.partition(f"## {SECTIONS[name]}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)
    return {
        f"{kind} {number}"
        for row in rows
        for kind, first, others in NUMBERED.findall(row)
        for number in (first, *re.findall("[0-9]+", others))
    }


@pytest.mark.parametrize("name", PAPERS)
def test_each_figure_table_and_theorem_of_the_coverage_page_has_a_study(name):
    covered = {part for study in PAPERS[name].studies for part in study.covers}
    expected = {part for part in numbered(name) if (name, part) not in NOT_MEASURED}
    assert len(expected) >= 3
    assert expected <= covered


@pytest.mark.parametrize("name", PAPERS)
def test_the_coverage_page_names_studies_that_exist(name):
    page = (PAGES / "coverage.md").read_text()
    for paper, names in re.findall(r"`tacit paper ([a-z-]+) --only ([a-z0-9,-]+)`", page):
        assert PAPERS[paper].chosen(names.split(","))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "study"), STUDIES, ids=lambda part: getattr(part, "name", part))
def test_a_study_reads_the_ratings_or_names_its_own_data(name, study):
    """Without ratings, one that reads them fails at once, and no other is given any."""
    del name
    if study.own_data:
        return
    try:
        claims = study.find(None, Kept()).claims
    except (AttributeError, TypeError):
        return
    assert {claim.verdict for claim in claims} == {ClaimVerdict.OPEN}


class Unread:
    """Ratings that may not be read."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was read.")


def test_ratings_reach_no_study_with_its_own_data():
    paper = PAPERS["xian"]
    studies = paper.chosen(["theorem-4", "theorem-5"])
    assert [study.name for study, _ in paper.find(Unread(), studies)] == ["theorem-4", "theorem-5"]
    with pytest.raises(AssertionError, match="was read"):
        list(PAPERS["neera"].find(Unread(), PAPERS["neera"].chosen(["table-4"])))


@pytest.mark.parametrize(("name", "error"), ERRORS, ids=lambda part: getattr(part, "printed", part))
def test_each_error_is_on_the_page_and_decided_by_a_test_or_a_study(name, error):
    cells = f"| {error.printed} | {error.correct} | {error.here} |"
    assert cells in (PAGES / f"{name}.md").read_text()
    path, _, test = error.shown_by.partition(" ")
    if test:
        assert f"def {test}(" in (ROOT / path).read_text()
    else:
        assert PAPERS[name].chosen([path])


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_has_no_error_that_the_paper_does_not(name):
    page = (PAGES / f"{name}.md").read_text()
    tables = re.findall(r"\| in the paper \| what holds \| here \|\n\|[-|]+\n((?:\|.*\n)+)", page)
    assert sum(table.count("\n") for table in tables) == len(PAPERS[name].corrections)


def test_what_is_measured_on_is_one_set_or_two_domains():
    one = synthetic(40, 60, 900)
    assert PAPERS["neera"].taken([one], None) is one
    with pytest.raises(RequestError, match="The paper neera uses one set of ratings, got 2"):
        PAPERS["neera"].taken([one, one], None)
    two = PAPERS["x-map"].taken([one, replace(one, name="other")], None)
    assert isinstance(two, Domains)
    assert len(ratings_of(two)) == 2 * len(one)
    with pytest.raises(RequestError, match="requires an item table with genres"):
        PAPERS["x-map"].taken([one], None)


def test_a_page_has_every_claim_and_lets_nothing_through():
    claim = PaperClaim("a < b & c", "1 <script>", "2", ClaimVerdict.FAILS)
    paper = PAPERS["zheng"]
    odd = replace(paper, corrections=(Correction("<b>", "*really* `x`", "[here](a.md)", "t"),))
    run = Provenance.of(synthetic(40, 60, 900), "tacit <i>")
    shown = report(odd, [(paper.studies[0], StudyResult((claim,)))], run)
    assert "a &lt; b &amp; c" in shown
    assert "1 &lt;script&gt;" in shown
    assert "<strong>does not hold</strong>" in shown
    assert "Of 1 claim 1 does not hold." in shown
    assert "<td><em>really</em> <code>x</code></td><td>here</td>" in shown
    assert "<script" not in shown
    assert "tacit &lt;i&gt;" in shown
    assert "Measured on the certified tables, without ratings." in shown


def test_a_page_names_no_ratings_where_none_were_read():
    paper = PAPERS["zheng"]
    run = provenance(None, "tacit paper zheng --only theorems-1-2")
    shown = report(paper, [(paper.studies[0], StudyResult())], run)
    assert "Data" not in shown
    assert "Checksum" not in shown
    found = StudyResult((PaperClaim("w", "p", "o", ClaimVerdict.HOLDS),))
    mixed = report(
        paper, [(study, found) for study in paper.studies],
        provenance(synthetic(40, 60, 900), "tacit paper zheng"),
    )  # fmt: skip
    assert mixed.count("Measured on synthetic: 900 ratings") == 1
    assert "Measured on a synthetic Theta of 300 users by 200 items." in mixed


def test_one_theorem_from_the_command_line(tmp_path):
    page = tmp_path / "zheng.html"
    ran = run("zheng", "--only", "theorems-1-2", "--set", "epsilons=1", "--report", page)
    assert ran.exit_code == 0, ran.output
    assert re.search(r"Theorem 1: modified-laplace loses epsilon .* in 1 of 1 +holds", ran.output)
    assert "Theorem 2: randomized-response loses epsilon for each slot" in page.read_text()
    assert "Theorem 3" not in page.read_text().partition("What is wrong in the paper")[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zeng"], "paper must be one of zheng, neera, xian, x-map, got 'zeng'."),
        (["xian", "--only", "figure-3"], "A study of xian must be one of"),
        (
            ["xian", "--set", "ridge"],
            "--set must be NAME=VALUE, as in --set epsilons=0.3,1, got 'ridge'.",
        ),
        (["zheng", "--set", "ridge=1"], "No selected study has the setting 'ridge'"),
        (
            ["zheng", "--only", "theorem-3", "ratings.csv"],
            "DATA has no effect: theorem-3 read no ratings.",
        ),
        (
            ["neera", "--set", "variants=theirs", "--only", "figures-3-4-7-8"],
            "variant must be one of",
        ),
    ],
)
def test_a_wrong_request_is_a_sentence(arguments, said):
    ran = run(*arguments)
    assert said in str(ran.exception)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("paper", ["xian", "x-map"])
def test_rows_go_on_from_where_they_are(paper, tmp_path, monkeypatch):
    """A second run measures nothing: the same figures, though noise is fresh."""
    study = {"xian": "figure-2", "x-map": "similarities"}[paper]
    request = [paper, "--quick", "--only", study, "--rows", tmp_path]
    request += (
        ["--set", "epsilons=5", "--set", "noises=1", "--set", "methods=dpss,dpsaobj"]
        if paper == "xian"
        else []
    )
    first = run(*request)
    assert first.exit_code == 0, first.output
    kept = (tmp_path / f"{study}.jsonl").read_bytes()
    assert run(*request).stdout == first.stdout
    assert (tmp_path / f"{study}.jsonl").read_bytes() == kept


def test_a_system_with_a_promise_and_without_is_two_lines_of_x_maps_tables():
    """Each with its own error, and a baseline is the one without."""
    usual = {"k": None, "overlap": 1.0, "keep": 0, "mae_rounded": 0.5, "source": "a", "target": "b"}

    def row(method, mode, mae):
        values = {"method": method, "mode": mode, "mae": mae, "claim": mode}
        return SimpleNamespace(**usual, **values)

    lines = [row("nx-map (item)", "none", 0.75), row("item-average", "none", 0.7)]
    lines += [row("item-average", "strict", 0.9), row("knn-linked (item)", "none", 0.6)]
    undamped = [row("knn-linked (item)", "none", 0.8)]
    ways = [Way(cast(Any, lines), [], [], [], cast(Any, undamped))]
    cells = {line[0]: line[1] for line in table(ways, 1.0).lines}
    assert cells["item-average, none"] == "0.7000 (0.5000)"
    assert cells["item-average, strict"] == "0.9000 (0.5000)"

    def figures(method, mode):
        return errors({"a to b": ways}, (method, mode), "overlap", [1.0])

    assert figures("item-average", "none") == {"a to b, overlap 1": [0.7]}
    assert figures("item-average", "faithful") == {}
    assert figures("knn-linked (item)", "none") == {"a to b, overlap 1": [0.6]}
    assert figures("knn-linked (item)", "undamped") == {"a to b, overlap 1": [0.8]}


def test_a_lower_error_and_a_higher_f_score_are_both_for_the_mixture():
    """And on the fair axis private gradients have their own figures."""
    found = {
        (MIXTURE, NUMBER, "1"): [{"rmse": 1.2, "f_score": 0.7}] * 2,
        (GRADIENTS, NUMBER, "1"): [{"rmse": 1.0, "f_score": 0.6}] * 2,
        (GRADIENTS, PROMISE, "1"): [{"rmse": 1.3, "f_score": 0.8}] * 2,
    }
    verdicts = [claim.verdict for claim in mixture_claims(found, 4.0)][:4]
    fails, holds = ClaimVerdict.FAILS, ClaimVerdict.HOLDS
    assert verdicts == [fails, holds, holds, fails]


@pytest.mark.long
@pytest.mark.parametrize("name", PAPERS)
def test_every_study_of_a_paper_has_a_verdict_on_each_claim(name, tmp_path):
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    ran = run(name, "--quick", "--report", page, "--figures", figures)
    assert ran.exit_code == 0, ran.output
    shown = page.read_text()
    for study in PAPERS[name].quick:
        section = shown.partition(f"<h2 id={study.name}>")[2].partition("<h2")[0]
        verdicts = re.findall(r"<strong>([^<]+)</strong></td></tr>", section)
        assert verdicts, f"{study.name} has no claim"
        assert set(verdicts) <= {str(verdict) for verdict in ClaimVerdict}
    drawn = shown.count("<figure class=whole>")
    assert drawn == len(list(figures.glob("*.svg"))) > 0
    assert len(page.read_bytes()) < 2_000_000


def in_a_process(*arguments):
    """By itself: one process has one Spark, and other tests may have left theirs."""
    command = [sys.executable, "-m", "tacit", "paper", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.spark
def test_what_needs_spark_of_x_map():
    """MLlib's ALS by genre, and the speed-up of one worker over itself."""
    given = ["--set", "workers=1", "--set", "runs=1", "--set", "memory=1g"]
    given += ["--set", "worker_memory=1024"]
    alone = in_a_process("x-map", "--quick", "--only", "speedup", *given)
    assert len(re.findall(r" 1 +[0-9.]+ +1\.00\n", alone)) == 5
    genres = ["--only", "genres", "--set", "master=local[2]", "--set", "memory=1g"]
    ran = in_a_process("x-map", "--quick", *genres)
    assert re.search(r"mllib-als +0\.6729 +[0-9.]+", ran)


@pytest.mark.full
def test_x_map_on_one_worker_and_on_two():
    """A heap of 4 GB for the driver and for each worker."""
    ran = in_a_process("x-map", "--only", "speedup", "--set", "workers=1,2", "--set", "memory=4g")
    assert len(re.findall(r" 2 +[0-9.]+ +[0-9.]+\n", ran)) == 5
