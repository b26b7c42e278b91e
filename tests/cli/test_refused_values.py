"""Values that ended in a traceback, in a hang, or in another value than was typed."""

import errno

import pytest
import typer

from tacit.cli import main

DATA = "user,item,rating\na,1,5\na,2,1\nb,1,4\n"
PLAN = ("plan", "--items", 100, "--ratings-each", 30, "--person-epsilon", 4)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "data.csv", "-o", "model"),
        ("simulate", "data.csv", "--url", "http://127.0.0.1:9", "--test-share", ".1"),
        (*PLAN, "--people", 1000),
    ],
)
def test_a_negative_seed_is_refused(run, command):
    status, _, notice = run(*command, "--seed", -1)
    assert (status, "--seed" in notice) == (2, True)


@pytest.mark.parametrize("people", ["1e20000000", "1e-20000000", "-1e20000000", "1e12", "0.5"])
def test_a_number_of_people_is_bounded_before_it_is_computed(run, people):
    status, _, notice = run(*PLAN, "--people", people)
    assert (status, "--people must be an integer" in notice) == (1, True)


def test_a_folder_is_not_exported(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, notice = run("export", ".", "--to", "card")
    assert (status, notice) == (1, ". is a folder; name the file of a model.\n")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_an_output_that_cannot_be_written_is_one_sentence(run, monkeypatch, number):
    def echo(message, err=False):
        if not err:
            raise OSError(number, "No space left on device")
        print(message)

    monkeypatch.setattr(typer, "echo", echo)
    status, printed, _ = run("list", "channels")
    assert status == 1
    assert printed == "The output cannot be written: No space left on device.\n"


def test_another_error_of_the_system_is_not_hidden(monkeypatch):
    def echo(message, err=False):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(typer, "echo", echo)
    with pytest.raises(OSError, match="Bad file descriptor"):
        main(["list", "channels"])


def test_items_are_hidden_in_an_existing_folder(run, tmp_path):
    (tmp_path / "items.csv").write_text("item\n1\n")
    status, _, notice = run("models", "hide", tmp_path / "items.csv", "--publish", tmp_path / "no")
    assert (status, "--publish must be an existing folder" in notice) == (1, True)
    assert not (tmp_path / "no").exists()


def test_the_header_of_a_profile_may_be_quoted(run, tmp_path, data):
    model, plain, quoted = (tmp_path / each for each in ("model", "plain.csv", "quoted.csv"))
    assert run("fit", data, "--scale", "1:5:1", "--model", "bias", "-o", model)[0] == 0
    plain.write_text("item,rating\n1,5\n")
    quoted.write_text('"item","rating"\n"1",5\n')
    lists = [run("recommend", model, "--user", "c", "--profile", each) for each in (plain, quoted)]
    assert lists[0][0] == 0
    assert lists[0][:2] == lists[1][:2]


def test_a_delta_is_printed_as_it_was_typed(run, tmp_path):
    rows = [f"{user},{item},{1 + (user + item) % 5}" for user in range(9) for item in range(5)]
    (tmp_path / "data.csv").write_text("\n".join(["user,item,rating", *rows]))
    terms = ("--scale", "1:5:1", "--model", "dpals", "--epsilon", 1, "--delta", "1.4999999e-6")
    status, _, notice = run("fit", tmp_path / "data.csv", *terms, "-o", tmp_path / "model")
    assert (status, "delta = 1.4999999e-06" in notice) == (0, True), notice
