"""The short examples run as they are, with polars and with pandas, to the same lists."""

import re
from pathlib import Path

import polars as pl
import pytest

from tacit import synthetic

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = ("clicks", "stars")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that an example reads, in the current folder."""
    monkeypatch.chdir(tmp_path)
    stars = synthetic(300, 120, 12_000).to_polars().sort("user", "item")
    stars.select("user", "item", "rating").write_csv("stars.csv")
    stars.select("user", "item").write_csv("clicks.csv")
    titles = [f"Film {number}" for number in range(1, 121)]
    pl.DataFrame({"item": range(1, 121), "title": titles}).write_csv("titles.csv")
    return tmp_path


def with_pandas(text):
    changed = text.replace("import polars as pl", "import pandas as pl")
    assert changed != text
    return changed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_polars_and_pandas_give_the_same_lists(name, files, capsys):
    text = (FOLDER / f"{name}.py").read_text()
    lists, printed = [], []
    for source in (text, with_pandas(text)):
        names = {}
        exec(source, names)
        printed.append(re.findall(r"[\d.]+", capsys.readouterr().out.splitlines()[1]))
        lists.append(names["lists"])
        assert names["model"].guarantee.fails
    assert type(lists[0]).__module__.startswith("polars")
    assert type(lists[1]).__module__.startswith("pandas")
    figure = lists[0].columns[-1]
    assert lists[0].columns == ["user", "item", "title", figure] == list(lists[1].columns)
    assert lists[0].rows() == list(lists[1].itertuples(index=False, name=None))
    assert len(lists[0]) == 15
    assert not {1, 2} & set(lists[0]["item"])
    assert lists[0]["title"].to_list() == [f"Film {item}" for item in lists[0]["item"]]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_20_lines(name):
    lines = (FOLDER / f"{name}.py").read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 20
