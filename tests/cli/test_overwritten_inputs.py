"""Outputs of all commands: none may replace an input of the command, or another output."""

import re
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
import typer.main
from shuffled_tasks import item_task

from tacit.cli import app
from tacit.cli.outputs import OUTPUTS, UPDATED
from tacit.errors import RequestError
from tacit.results.records import writable
from tacit.shuffler.task_key import TaskKey

WRITES = re.compile(r"\b(file to write|[Ww]rite .* to (this|a) file|to write)\b|to this file")
VALUES = {"closes": "2031-05-01T12:00", "to": "card", "epsilon": "1", "scale": "1:5:1"}
"""Valid values of required parameters that are not numbers."""


def commands(command, *path):
    """Yield the leaves of the command tree with their names."""
    if hasattr(command, "commands"):
        inner = command.commands | {
            name: command.get_command(None, name)
            for name in command.list_commands(None)
            if name not in command.commands
        }
        for name, each in inner.items():
            yield from commands(each, *path, name)
    else:
        yield path, command


def is_path(parameter) -> bool:
    return parameter.name == "db" or "Path" in str(parameter.type_descriptor.annotation)


TREE = dict(commands(typer.main.get_command(app)))
WRITING = {
    path: [each for each in command.params if is_path(each) and each.name in OUTPUTS]
    for path, command in TREE.items()
}
CASES = [
    pytest.param(path, output, each, id=f"{'-'.join(path)}-{output.name}-{each.name}")
    for path, outputs in WRITING.items()
    for output in outputs
    for each in TREE[path].params
    if is_path(each) and each is not output and each.name not in UPDATED
]


def argument(parameter, value) -> list[str]:
    is_option = parameter.param_type_name == "option"
    return [parameter.opts[0], str(value)] if is_option else [str(value)]


def call(path, same, tmp_path, target) -> list[str]:
    """Return a command line whose parameters `same` are one file, with its required ones."""
    typed: list[str] = []
    for each in TREE[path].params:
        if each in same:
            typed += argument(each, target)
        elif each.required:
            value = tmp_path / each.name if is_path(each) else VALUES.get(each.name, "1")
            typed += argument(each, value)
    return [*path, *typed]


@pytest.mark.parametrize(("path", "output", "other"), CASES)
def test_no_command_replaces_its_input(run, tmp_path, path, output, other):
    target = tmp_path / "same.csv"
    target.write_text("item,title\n1,one\n")
    status, _, notice = run(*call(path, (output, other), tmp_path, target))
    assert (status, "would be overwritten" in notice) == (1, True), notice
    assert target.read_text() == "item,title\n1,one\n"
    assert [each.name for each in tmp_path.iterdir()] == ["same.csv"]


def test_each_file_that_a_command_writes_is_checked():
    assert len(CASES) > 60
    for path, command in TREE.items():
        for each in command.params:
            if is_path(each) and WRITES.search(getattr(each, "help", None) or ""):
                assert each.name in OUTPUTS, (path, each.name)


@pytest.mark.parametrize(
    ("outputs", "beside"),
    [
        (("a.json", "a.json"), ()),
        (("a.json", "./a.json"), ()),
        (("a.json", "a.parquet"), (".parquet",)),
        (("a.parquet",), (".parquet",)),
    ],
)
def test_outputs_of_one_call_are_different_files(tmp_path, monkeypatch, outputs, beside):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError, match="is the name of two results"):
        writable(*map(Path, outputs), beside=beside)
    writable(Path("a.json"), None, Path("b.json"), beside=(".parquet",))


def test_a_signing_key_is_another_file_than_the_task_and_its_key(run, tmp_path):
    items = tmp_path / "items.csv"
    items.write_text("item,title\n1,one\n2,two\n")
    origins = ("--provider", "https://a.example", "--shuffler", "https://b.example")
    terms = ("--epsilon", "4", "--bundles", "50000", "--closes", "2031-05-01T12:00", "--signed")
    for key, output in (("a.key", "a.pem"), ("a.pem", "a.json")):
        files = ("--key", tmp_path / key, "-o", tmp_path / output)
        status, _, notice = run("shuffled", "task", items, *origins, *terms, *files)
        assert (status, "is the name of two results" in notice) == (1, True)
    assert list(tmp_path.iterdir()) == [items]


def test_a_downloaded_batch_does_not_replace_the_task(run, tmp_path):
    task, key = tmp_path / "counts.json.batch", TaskKey.generate()
    document = item_task(key=key.public).document
    task.write_bytes(document)
    key.save(tmp_path / "key")
    files = ("--key", tmp_path / "key", "--token", "a", "-o", tmp_path / "counts.json")
    status, _, notice = run("shuffled", "count", task, *files)
    assert (status, "would be overwritten" in notice) == (1, True)
    assert task.read_bytes() == document


@pytest.mark.parametrize("named", [False, True])
def test_a_split_does_not_replace_what_it_reads(run, tmp_path, named):
    items = [f"i{each}" for each in range(8)]
    ratings = [("a", item, 1 + index % 5) for index, item in enumerate(items)]
    data, table = tmp_path / "source.parquet", tmp_path / "items.parquet"
    schema = ["user", "item", "rating"]
    pl.DataFrame(ratings, schema=schema, orient="row").write_parquet(data)
    genres = ["Drama" if each % 2 else "War" for each in range(8)]
    pl.DataFrame({"item": items, "title": items, "genres": genres}).write_parquet(table)
    if not named:
        data = data.rename(tmp_path / "ratings.parquet")
    before = data.read_bytes(), table.read_bytes()
    files = SimpleNamespace(items=("--items", table) if named else (), output=("-o", tmp_path))
    split = ("split-domains", data, "--by-genre", "--scale", "1:5:1")
    status, _, notice = run(*split, *files.items, *files.output)
    assert (status, "is an input and would be overwritten" in notice) == (1, True)
    assert (data.read_bytes(), table.read_bytes()) == before
    assert run(*split, "--items", table, "-o", tmp_path / "halves")[0] == 0
