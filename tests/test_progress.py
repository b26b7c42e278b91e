"""How far long work is: a bar on a terminal, a line in a notebook, nothing in a file."""

import builtins
import re

import pytest
from numba import njit
from numba.core import event

from tacit import compare, fit, synthetic
from tacit.progress import CompilationNotice, bar, share

MADE = synthetic(60, 50, 1200)


class ZMQInteractiveShell:
    """What a notebook's shell is called."""


@pytest.fixture
def notebook(monkeypatch):
    """As if there were a notebook around."""
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)


@pytest.fixture
def terminal(monkeypatch):
    """As if standard error were a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def test_a_notebook_sees_one_line_however_many_steps_there_are(notebook, capsys):
    with bar("working") as progress:
        for done in range(100_001):
            progress("step", done, 100_000)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("\n")
    shown = said.rstrip("\n").split("\r")[1:]
    assert len(shown) == 101
    assert shown[0] == f"working [{'-' * 20}] 0 %"
    assert shown[50] == f"working [{'#' * 10}{'-' * 10}] 50 %"
    assert shown[-1] == f"working [{'#' * 20}] 100 %"
    assert shown == sorted(shown, key=lambda line: int(line.split()[-2]))


def test_a_share_and_work_without_a_step_are_shown_too(notebook, capsys):
    with share("fitting") as advance:
        advance(0.25)
        advance(0.2501)
    assert capsys.readouterr().err == f"\rfitting [{'#' * 5}{'-' * 15}] 25 %\n"
    with bar("nothing") as progress:
        progress("", 0, 0)
    assert capsys.readouterr().err == f"\rnothing [{'-' * 20}] 0 %\n"


def test_compare_says_how_far_it_is_in_a_notebook(notebook, capsys):
    compare(MADE, models="bias", epsilons=1)
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"(\rcomparing \[#*-*\] \d+ %)+\n", said.err)
    assert said.err.endswith(" 100 %\n")


def test_nothing_is_said_into_a_file(capsys):
    compare(MADE, models="bias", epsilons=1)
    assert capsys.readouterr() == ("", "")


def test_fit_shows_on_a_terminal_how_far_it_is(terminal, run, tmp_path):
    MADE.to_polars().write_csv(tmp_path / "made.csv")
    status, printed, said = run(
        "fit", tmp_path / "made.csv", "--scale", "1:5:1", "--model", "mf", "-o", tmp_path / "model"
    )
    seen = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said)
    assert (status, printed) == (0, "")
    assert re.search(r"fitting .*100/100", seen)


def test_fit_shows_no_bar_in_a_file(run, tmp_path):
    MADE.to_polars().write_csv(tmp_path / "made.csv")
    _, _, said = run(
        "fit", tmp_path / "made.csv", "--scale", "1:5:1", "--model", "mf", "-o", tmp_path / "model"
    )
    assert "fitting" not in said


def test_a_compilation_is_announced_once_and_only_if_it_is_of_tacit():
    shown = []

    def doubled(number):
        return 2 * number

    def compiled(module):
        doubled.__module__ = module
        assert njit(doubled)(2) == 4

    with event.install_listener("numba:compile", CompilationNotice(shown.append)):
        compiled("somebody_elses.kernels")
        assert shown == []
        compiled("tacit.kernels.some")
        compiled("tacit.kernels.other")
    assert shown == ["Compiling kernels; later runs load them from the cache."]


def test_fit_shows_progress_in_a_notebook_unless_it_is_off(notebook, capsys):
    fit("mf", MADE)
    assert re.fullmatch(r"(\rfitting \[#*-*\] \d+ %)+\n", capsys.readouterr().err)
    fit("mf", MADE, progress=False)
    assert capsys.readouterr() == ("", "")


def test_fit_calls_a_progress_callback_with_rising_shares():
    shares = []
    fit("svd", MADE, progress=shares.append)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] == 1
