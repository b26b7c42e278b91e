"""Whatever a file holds: its ratings, or one sentence. Never a traceback, nothing written."""

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from damaged_files import VALID, case

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import read_reports, write_reports
from tacit.errors import TacitError
from tacit.models import Fitted
from tacit.readers import items, read, synthetic
from tacit.readers.declared import catalogue, people
from tacit.results.comparison.row import read_rows

CATALOGUES = ("u.item", "movies.dat", "movies.csv")
CASES = dict.fromkeys(VALID, 1500) | dict.fromkeys(CATALOGUES, 9000) | {"parquet": 4000}
"""Some ten seconds of each kind; six times as many are some sixty."""
FOUND = {
    "movielens-1m": (635,),
    "movielens-100k": (68,),
    "netflix": (3113,),
    "jester": (1440,),
    "libimseti": (1316,),
    "parquet": (727, 15_994),
    "movies.dat": (1337,),
    "model": (1614,),
}
"""Cases that once ended in a traceback, kept whatever the counts."""
Reader = Callable[[Path], object]


def quietly(path: Path, **options: str) -> object:
    return read(path, notify=lambda sentence: None, **options)


def on_stars(path: Path) -> object:
    return quietly(path, scale="1:5:1")


def readers(kind: str) -> tuple[Reader, ...]:
    return (items, catalogue) if kind in CATALOGUES else (quietly, on_stars, catalogue, people)


def outcome(reader: Reader, path: Path) -> str:
    """ "read" or "refused"; anything but a sentence ends the test."""
    try:
        reader(path)
    except TacitError as refusal:
        sentence = str(refusal)
        assert len(sentence.splitlines()) == 1, sentence
        assert sentence.endswith("."), sentence
        return "refused"
    return "read"


def tried(kind: str, cases: range, folder: Path) -> set[str]:
    found = set[str]()
    for seed in (*FOUND.get(kind, ()), *cases):
        name, data = case(kind, seed)
        path = folder / name
        path.write_bytes(data)
        try:
            found |= {outcome(reader, path) for reader in readers(kind)}
        except Exception as error:
            raise AssertionError(f"{kind}, case {seed}") from error
        assert [entry.name for entry in folder.iterdir()] == [name]
        path.unlink()
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", VALID)
def test_found_cases_and_a_few_more(kind, tmp_path):
    assert "refused" in tried(kind, range(15), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", VALID)
def test_ten_seconds_of_damaged_files(kind, tmp_path):
    assert tried(kind, range(CASES[kind]), tmp_path) == {"read", "refused"}


@pytest.mark.full
@pytest.mark.parametrize("kind", VALID)
def test_a_minute_of_damaged_files(kind, tmp_path):
    assert tried(kind, range(CASES[kind], 7 * CASES[kind]), tmp_path) == {"read", "refused"}


@pytest.mark.parametrize("kind", VALID)
def test_the_valid_file_is_read(kind, tmp_path):
    """Without damage: or every case above would be refused for what it is made of."""
    name, data = VALID[kind]
    (tmp_path / name).write_bytes(data)
    assert outcome(readers(kind)[0], tmp_path / name) == "read"


def written(kind: str, path: Path) -> Reader:
    """Write a valid file of our own; gives what reads it."""
    ratings = synthetic(20, 60, 400)
    channel = compile_channel("randomized-response", epsilon="1", scale=ratings.scale)
    if kind == "reports":
        write_reports(perturb(ratings, Rated(channel)), path)
        return read_reports
    fit("bias", ratings).save(path)
    return Fitted.load


@pytest.mark.parametrize("kind", ["reports", "model"])
@pytest.mark.parametrize(
    "count",
    [60, pytest.param(1500, marks=pytest.mark.long), pytest.param(9000, marks=pytest.mark.full)],
)
def test_our_own_files(kind, count, tmp_path, monkeypatch):
    path = tmp_path / kind
    reader = written(kind, path)
    assert outcome(reader, path) == "read"
    monkeypatch.setitem(VALID, kind, (kind, path.read_bytes()))
    for seed in (*FOUND.get(kind, ()), *range(count)):
        _, data = case(kind, seed)
        path.write_bytes(data)
        try:
            outcome(reader, path)
        except Exception as error:
            raise AssertionError(f"{kind}, case {seed}") from error


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", '[{"rmse": 1}]', "null", "[" * 100_000])
def test_a_result_file_that_is_none(text, tmp_path):
    path = tmp_path / "out.json"
    path.write_text(text)
    assert outcome(read_rows, path) == "refused"


def test_a_line_without_an_end_is_refused_before_it_is_all_in_memory(tmp_path):
    path = tmp_path / "u.data.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(256):
            file.write(b"1" * (1 << 20))
    tracemalloc.start()
    assert outcome(quietly, path) == "refused"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20
