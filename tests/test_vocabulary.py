"""Id types are inferred by one rule, and different strings never share a code."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import fit
from tacit.errors import DataError, RequestError
from tacit.ratings import Ratings
from tacit.readers import as_ratings, from_frame, item_table, items, read
from tacit.readers.declared import catalogue, people
from tacit.scale import RatingScale
from tacit.training import LIST_TRAININGS, STRICT_TRAININGS
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.value.integer_ratings import integer_ratings
from tacit.vocabulary import Vocabulary, typed_ids

SPELLINGS = ["0010", "10", "1e5", "true", "+7", "x", str(2**64), "7", "1", "01", "-0", "0"]
FOUND = ["0010", "10", "1e5", "true", "+7", "x", str(2**64)]
IN_FILES = [*FOUND[:5], " x", FOUND[6]]
CANONICAL = re.compile(r"0|-?[1-9][0-9]*")
spelled = st.sampled_from(SPELLINGS) | st.integers(-99, 99).map(str)
texts = st.lists(spelled, min_size=1, unique=True)


@given(texts)
def test_ids_are_numbers_only_where_every_one_is_a_plain_whole_number(ids):
    plain = all(CANONICAL.fullmatch(one) and abs(int(one)) < 2**63 for one in ids)
    typed = typed_ids(pl.Series("id", ids))
    assert typed.dtype == (pl.Int64 if plain else pl.String)
    assert typed.cast(pl.String).to_list() == ids


@given(texts, texts, st.booleans())
def test_a_code_is_given_to_one_spelling_alone(declared, raw, as_numbers):
    ids = typed_ids(pl.Series("id", declared)) if as_numbers else pl.Series("id", declared)
    codes = Vocabulary(ids).codes(pl.Series("raw", raw)).tolist()
    assert codes == [declared.index(one) if one in declared else -1 for one in raw]


def test_numbers_of_any_width_are_compared_as_numbers():
    known = Vocabulary(pl.Series("id", [1, 200], dtype=pl.UInt8))
    assert known.codes(pl.Series([200, 456, 1, -1])).tolist() == [1, -1, 0, -1]
    assert known.codes(pl.Series([1.0, 1.5])).tolist() == [-1, -1]
    assert known.codes(pl.Series([True])).tolist() == [-1]


@pytest.mark.parametrize("ids", [[1, 1], ["a", None]])
def test_a_vocabulary_has_each_id_once(ids):
    with pytest.raises(RequestError, match="must be unique and not null"):
        Vocabulary(pl.Series("id", ids))


def written(folder, kind, ids):
    """A file of ratings of these items by one person, in one of the formats with ids."""
    lines = {
        "u.data": "u\t{}\t4\t9",
        "ratings.dat": "u::{}::4::9",
        "libimseti.csv": "u,{},4",
        "made.csv": "u,{},4",
        "made.tsv": "u\t{}\t4",
        "quoted.csv": 'u,"{}",4',
        "ratings.csv": "u,{},4,9",
        "mv_1.txt": "{}:\nu,4,2005-09-06",
    }
    heads = {
        "made.csv": "user,item,rating",
        "made.tsv": "user\titem\trating",
        "quoted.csv": "user,item,rating",
        "ratings.csv": "userId,movieId,rating,timestamp",
    }
    path = folder / kind
    if kind == "made.parquet":
        pl.DataFrame({"user": "u", "item": ids, "rating": 4}).write_parquet(path)
    else:
        head = [heads[kind]] if kind in heads else []
        path.write_text("\n".join([*head, *map(lines[kind].format, ids)]) + "\n")
    return path


KINDS = {
    "u.data": "movielens-100k",
    "ratings.dat": "movielens-1m",
    "libimseti.csv": "libimseti",
    "ratings.csv": "movielens-csv",
    "mv_1.txt": "netflix",
    "made.csv": "table",
    "made.tsv": "table",
    "quoted.csv": "table",
    "made.parquet": "table",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_every_reader_gives_the_same_names(tmp_path, kind):
    notices: list[str] = []
    path = written(tmp_path, kind, IN_FILES)
    ratings = read(path, format=KINDS[kind], scale="1:5:1", notify=notices.append)
    assert ratings.item_ids.ids.to_list() == sorted(FOUND)
    assert any("removed leading or trailing spaces from 1 ids" in notice for notice in notices)
    plain = read(written(tmp_path, kind, ["10", "7"]), format=KINDS[kind], scale="1:5:1")
    assert plain.item_ids.ids.to_list() == [7, 10]


def test_a_late_id_of_text_makes_all_ids_text(tmp_path):
    many = [str(number) for number in range(1, 120_000)]
    path = written(tmp_path, "made.csv", [*many, "0010"])
    ratings = read(path, scale="1:5:1")
    assert ratings.n_items == 120_000
    assert "10" in ratings.item_ids.ids


def test_frames_and_arrays_give_the_same_names():
    frame = pl.DataFrame({"user": "u", "item": IN_FILES, "rating": 4})
    arrays = (["u"] * len(FOUND), IN_FILES, [4] * len(FOUND))
    for ratings in (
        from_frame(frame, scale="1:5:1"),
        from_frame(frame.to_pandas(), scale="1:5:1"),
        as_ratings(arrays, scale="1:5:1"),
    ):
        assert ratings.item_ids.ids.to_list() == sorted(FOUND)
    wide = pl.DataFrame({"user": [1], "item": pl.Series([2**64 - 1], dtype=pl.UInt64)})
    assert from_frame(wide).item_ids.ids.to_list() == [str(2**64 - 1)]


@pytest.mark.parametrize("name", ["all.csv", "all.tsv", "all.parquet", "movies.csv", "movies.dat"])
def test_every_side_file_gives_the_same_names(tmp_path, name):
    path = tmp_path / name
    if name.startswith("movies"):
        cut = "," if name.endswith("csv") else "::"
        head = ["movieId,title,genres"] if name.endswith("csv") else []
        rows = [cut.join([one, "Title", "Drama"]) for one in IN_FILES]
        path.write_text("\n".join([*head, *rows]) + "\n")
        assert items(path)["item"].to_list() == FOUND
    elif name.endswith("parquet"):
        pl.DataFrame({"item": IN_FILES, "year": 1999}).write_parquet(path)
    else:
        cut = "," if name.endswith("csv") else "\t"
        rows = [f"item{cut}year", *(f"{one}{cut}1999" for one in IN_FILES)]
        path.write_text("\n".join(rows) + "\n")
        assert item_table(path)["year"].to_list() == [1999] * len(FOUND)
        whose = tmp_path / f"people{path.suffix}"
        whose.write_text("\n".join(["user", *IN_FILES]) + "\n")
        assert people(whose).to_list() == FOUND
    assert catalogue(path)["item"].to_list() == FOUND


def test_declared_ids_never_merge_what_was_rated():
    rated = (["a", "a", "a", "b"], ["1", "01", "+1", "2"], [5, 4, 3, 1])
    ratings = as_ratings(rated, scale="1:5:1", catalogue=[1, 2, 3], notify=lambda _: None)
    assert ratings.to_polars().rows() == [("a", 1, 5.0), ("b", 2, 1.0)]
    with pytest.raises((DataError, RequestError), match="Ids must be"):
        as_ratings(rated, scale="1:5:1", catalogue=[1, "a"])


def twice() -> Ratings:
    ids = Vocabulary(pl.Series("id", [1, 2]))
    codes = np.array([0, 1, 0], np.int32)
    levels = np.array([1, 2, 3], np.uint8)
    return Ratings(codes, codes, levels, RatingScale.parse("1:5:1"), ids, ids)


@pytest.mark.parametrize("of", [CanonicalRatings.of, integer_ratings])
def test_a_pair_that_occurs_twice_is_refused_where_a_bound_rests_on_it(of):
    with pytest.raises(RequestError, match="more than once"):
        of(twice())


@pytest.mark.parametrize("name", [*LIST_TRAININGS, *STRICT_TRAININGS])
def test_no_training_takes_a_pair_twice(name):
    with pytest.raises(RequestError, match="more than once"):
        fit(name, twice(), epsilon="1", delta="1e-6", mode="strict", rng=0)


@pytest.mark.parametrize("column", ["users", "items", "levels"])
def test_codes_out_of_range_are_refused(column):
    ratings = twice().take(np.array([0, 1]))
    codes = getattr(ratings, column).copy()
    codes[0] = 200
    object.__setattr__(ratings, column, codes)
    with pytest.raises(RequestError, match=f"{column} must be codes from 0 to"):
        ratings.require_distinct_pairs()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_blank_id_in_a_declared_list_is_missing(tmp_path, kind):
    path = tmp_path / f"people.{kind}"
    frame = pl.DataFrame({"user": ["a", "  ", "b"]})
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    with pytest.raises(DataError, match="row 2: the user is missing"):
        people(path)
