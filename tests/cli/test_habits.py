"""What somebody sees who tries: lists of names, causes, and refusals before the work."""

import socket

import pytest

from tacit.channels import MECHANISMS
from tacit.collector.http.server import listening
from tacit.errors import RequestError
from tacit.models import LIST_MODELS, MODELS
from tacit.readers import FORMATS, synthetic
from tacit.readers.download import DATASETS
from tacit.training import LIST_TRAININGS, names


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "made.csv"
    synthetic(40, 60, 900).to_polars().write_csv(file)
    return file


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("channels", MECHANISMS),
        ("models", [*MODELS, *LIST_MODELS]),
        ("trainers", [*names(), *LIST_TRAININGS]),
        ("readers", FORMATS),
        ("datasets", DATASETS),
    ],
)
def test_what_there_is_has_a_line_each(run, kind, known):
    status, out, _ = run("list", kind)
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert status == 0
    assert [name for name, _ in lines] == list(known)
    assert len({text for _, text in lines}) == len(lines)


def test_a_list_of_something_else_is_refused(run):
    status, _, said = run("list", "metrics")
    assert (status, said) == (
        1,
        "The list must be one of channels, models, trainers, readers, datasets, got 'metrics'.\n",
    )


def test_a_channel_need_not_be_named(run, data, tmp_path):
    status, _, said = run(
        "perturb", data, "--epsilon", 1, "--scale", "1:5:1", "-o", tmp_path / "r.parquet"
    )
    assert status == 0
    assert "Epsilon = 1 per value" in said


def test_a_single_epsilon_is_refused_before_anything_is_read(run):
    status, _, said = run("choose-epsilon", "nowhere.csv", "--epsilon", 2)
    assert status == 1
    assert said == "A trade-off requires at least two epsilons, as in 0.5,1,3, got 2.\n"


def test_the_systems_that_the_mode_leaves_out_are_named(run, data):
    both = ("crossdomain", data, data, "--model", "x-map,item-average", "--scale", "1:5:1")
    said = run(*both, "--mode", "faithful", "--epsilon", 1)[2]
    assert "Not run in mode faithful: item-average (strict). Use --mode both to run them" in said
    assert "Left out" not in run(*both, "--mode", "both", "--epsilon", "zero")[2]


def test_why_a_collector_cannot_be_reached_is_said(run, data):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        status, _, said = run("simulate", data, "--url", url, "--scale", "1:5:1")
    assert (status, said) == (1, f"The collector at {url} cannot be reached: Connection refused.\n")


def test_why_a_database_does_not_open_is_said_and_no_password(run):
    psycopg = pytest.importorskip("psycopg")
    from tacit.collector.storage.postgres import cause
    from tacit.collector.storage.postgres_reader import PostgresReader

    with pytest.raises(RequestError, match=r"^The database cannot be opened: Connection refused"):
        PostgresReader("postgresql://me:secret@127.0.0.1:1/x")
    assert cause(psycopg.ProgrammingError("invalid token: 'secret'")) == "ProgrammingError"


def test_a_port_that_is_taken_is_said_before_anything_is_opened(run, tmp_path):
    with listening("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        status, _, said = run("serve", "--folder", tmp_path / "served", "--port", port)
    assert status == 1
    assert said == (
        f"The collector cannot listen on 127.0.0.1 port {port} (Address already in use); choose "
        "another --port or --host.\n"
    )
