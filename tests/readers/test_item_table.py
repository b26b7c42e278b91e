"""Tables that say what items are: every column of them, of any form, and no ratings."""

from pathlib import Path

import polars as pl
import pytest

from tacit.errors import DataError
from tacit.readers import item_table

ROWS = {"item": [3, 1], "genres": ["War|Drama", "Drama"], "year": [1990, None]}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_table_keeps_all_its_columns_and_their_kinds(tmp_path: Path, suffix: str) -> None:
    file, frame = tmp_path / f"films{suffix}", pl.DataFrame(ROWS)
    if suffix == ".parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file, separator="\t" if suffix == ".tsv" else ",")
    assert item_table(file).to_dict(as_series=False) == ROWS


def test_what_a_release_carries_beside_ratings_is_one(tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_text("1::Toy Story (1995)::Animation|Comedy\n")
    expected = [{"item": 1, "title": "Toy Story (1995)", "genres": ["Animation", "Comedy"]}]
    assert item_table(tmp_path / "movies.dat").to_dicts() == expected
    assert item_table(tmp_path).to_dicts() == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item\n3\n", "has an item column only"),
        ("user,item,rating\n1,3,4\n", "column user, so it contains ratings"),
        ("film,year\n3,1990\n", "no column named item"),
        ("item,year\n,1990\n", "row 1: the item is missing"),
    ],
)
def test_a_table_that_describes_nothing_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "films.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        item_table(tmp_path / "films.csv")
