"""No result is written over what it was made from."""

import pytest

from tacit import compare as compare_here
from tacit.errors import RequestError
from tacit.results.records import writable

PLAN = ("plan", "--people", "1e4", "--items", "100", "--ratings-each", "9", "--person-epsilon", "4")


@pytest.fixture
def data(tmp_path, ratings):
    path = tmp_path / "made.parquet"
    ratings.to_polars().write_parquet(path)
    return path


@pytest.mark.parametrize(
    "asked",
    [
        ("compare", "{data}", "--json", "{stem}.json"),
        ("compare", "{data}", "--report", "{data}"),
        ("compare", "{data}", "--items", "{stem}.toml", "--json", "{stem}.json"),
        ("attack", "{data}", "--json", "{stem}.json"),
        ("crossdomain", "{data}", "{data}", "--json", "{stem}.json"),
        ("perturb", "{data}", "--epsilon", "1", "-o", "{data}"),
        ("fit", "{data}", "-o", "{data}"),
        ("label", "{stem}.json", "-o", "{stem}.html"),
        ("choose-epsilon", "{data}", "--figure", "{data}"),
    ],
)
def test_a_result_over_its_source_is_refused_and_loses_nothing(data, run, asked):
    stem = data.with_suffix("")
    sources = [data, *(stem.with_suffix(suffix) for suffix in (".json", ".toml"))]
    for source in sources[1:]:
        source.write_text("item,title\n1,one\n")
    before = [source.read_bytes() for source in sources]
    status, printed, said = run(*(part.format(data=data, stem=stem) for part in asked))
    assert status == 1
    assert "is an input and would be overwritten" in said
    assert printed == ""
    assert [source.read_bytes() for source in sources] == before


def test_nor_from_python_by_whatever_way_the_path_is_said(data, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError, match=r"made\.parquet is an input and would be overwritten"):
        compare_here(str(data), models="bias", epsilons=1, path="made.json")


def test_what_is_no_path_is_no_source_and_an_older_result_may_be_replaced(tmp_path, ratings):
    older = tmp_path / "out.json"
    older.write_text("[]")
    writable(older, None, read=(ratings, None, tmp_path), beside=(".parquet",))


@pytest.mark.parametrize(
    ("asked", "suffix"),
    [
        (("compare", "{data}", "--json", "{stem}.json"), ".parquet"),
        (("compare", "{data}", "--json", "{stem}.json"), ".toml"),
        (("attack", "{data}", "--json", "{stem}.json"), ".parquet"),
        (("demo", "--json", "{stem}.json"), ".parquet"),
        ((*PLAN, "--json", "{stem}.json"), ".parquet"),
        (("label", "{data}", "-o", "{stem}.html"), ".json"),
        (("label", "{data}", "-o", "{stem}.json"), ".html"),
    ],
)
def test_a_file_that_is_not_a_result_is_not_replaced_by_one_next_to_it(
    data, run, ratings, tmp_path, asked, suffix
):
    mine = tmp_path / f"mine{suffix}"
    if suffix == ".parquet":
        ratings.to_polars().write_parquet(mine)
    else:
        mine.write_text("item = 1\n")
    before = mine.read_bytes()
    status, printed, said = run(*(part.format(data=data, stem=tmp_path / "mine") for part in asked))
    assert (status, printed) == (1, "")
    assert f"{mine} is not a result and would be overwritten" in " ".join(said.split())
    assert mine.read_bytes() == before


def test_results_replace_those_of_an_earlier_run(ratings, tmp_path):
    for _ in range(2):
        compare_here(ratings, models="bias", epsilons=1, path=tmp_path / "rows.json")
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"rows.json", "rows.parquet", "rows.toml"}
