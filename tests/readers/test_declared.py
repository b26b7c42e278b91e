"""A declared catalogue and list of people: what a release shows no longer depends on ratings."""

import numpy as np
import polars as pl
import pytest

from tacit.errors import DataError, RequestError
from tacit.readers import catalogue, from_frame, read
from tacit.readers.declared import people

ROWS = {"user": [3, 3, 9, 7], "item": [10, 40, 10, 20], "rating": [4, 2, 5, 1]}


@pytest.fixture
def told():
    return []


def test_rows_of_what_was_not_declared_are_dropped_and_counted_as_not_covered(told):
    ratings = from_frame(
        pl.DataFrame(ROWS),
        scale="1:5:1",
        catalogue=[50, 20, 10],
        people=[3, 4, 9],
        notify=told.append,
    )
    assert ratings.to_polars().rows() == [(3, 10, 4.0), (9, 10, 5.0)]
    assert ratings.item_ids.ids.to_list() == [10, 20, 50]
    assert ratings.user_ids.ids.to_list() == [3, 4, 9]
    assert ratings.undeclared == frozenset()
    (said,) = told
    assert "2 ratings of undeclared users or items were dropped" in said
    assert "no guarantee covers" in said


@pytest.mark.parametrize("declared", [["10", "20"], [10, 20]])
@pytest.mark.parametrize("kind", [str, int])
def test_ids_meet_whether_they_are_written_as_numbers_or_text(declared, kind):
    rows = ROWS | {"item": [kind(item) for item in ROWS["item"]]}
    ratings = from_frame(pl.DataFrame(rows), scale="1:5:1", catalogue=declared)
    assert ratings.item_ids.ids.to_list() == declared
    assert ratings.items.tolist() == [0, 0, 1]


def test_what_nobody_declared_is_known(tmp_path, told):
    file = tmp_path / "r.csv"
    pl.DataFrame(ROWS).write_csv(file)
    everything = {"catalogue", "people", "scale"}
    assert read(file, notify=told.append).undeclared == everything
    assert read(file, scale="1:5:1").undeclared == everything - {"scale"}
    known = read(file, scale="1:5:1", catalogue=[10, 20, 40])
    assert known.undeclared == {"people"}
    assert known.where(np.array([True, False, True, True])).undeclared == {"people"}
    assert read(_hundred_k(tmp_path)).undeclared == {"catalogue", "people"}  # its site has a scale


def _hundred_k(folder):
    file = folder / "u.data"
    file.write_text("1\t2\t3\t881250949\n")
    return file


@pytest.mark.parametrize("name", ["items.csv", "items.tsv", "items.parquet", "all.parquet"])
def test_a_catalogue_is_read_from_a_table(name, tmp_path):
    table = pl.DataFrame({"item": [4, 2, 4], "title": ["Four", "Two", "Four"]})
    file = tmp_path / name
    if name.endswith("parquet"):
        table.write_parquet(file)
    else:
        table.write_csv(file, separator="\t" if name.endswith("tsv") else ",")
    found = catalogue(file)
    assert sorted(set(found.rows())) == [(2, "Two"), (4, "Four")]


@pytest.mark.parametrize(
    ("text", "read_list", "says"),
    [
        ("user,item,rating\n1,2,3\n", catalogue, "so it contains ratings"),
        ("user,item\n1,2\n", catalogue, "so it contains ratings"),
        ("user,item,rating\n1,2,3\n", people, "so it contains ratings"),
        ("film\n1\n", catalogue, "has no column named item"),
        ("item,title\n1,One\n,Two\n", catalogue, "row 2: the item is missing"),
        ("", catalogue, "is not a table"),
    ],
)
def test_what_is_no_declaration_is_refused(text, read_list, says, tmp_path):
    file = tmp_path / "list.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=says):
        read_list(file)


@pytest.mark.parametrize(
    "declared", [{"catalogue": ["x"]}, {"people": ["x"]}, {"catalogue": [-5, -6], "people": ["x"]}]
)
def test_no_rating_needs_to_be_of_what_was_declared(declared):
    notices = []
    ratings = from_frame(pl.DataFrame(ROWS), scale="1:5:1", notify=notices.append, **declared)
    assert len(ratings) == 0
    assert ratings.undeclared == frozenset({"catalogue", "people"} - declared.keys())
    assert notices[-1].endswith("No rating remains; use the same ids in both.")
    ratings.require_distinct_pairs()
    with pytest.raises(RequestError, match="contains no rows; a model requires at least one"):
        ratings.require_rows()


def test_a_declared_list_without_ids_is_refused():
    with pytest.raises(DataError, match="An id is missing"):
        from_frame(pl.DataFrame(ROWS), scale="1:5:1", catalogue=[])
    with pytest.raises(DataError, match="An id is missing"):
        from_frame(pl.DataFrame(ROWS), scale="1:5:1", people=[])
