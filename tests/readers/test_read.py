"""Each format comes out as the ratings that went in, in file order."""

import gzip
import zipfile
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import DataError, RequestError
from tacit.readers import FORMATS, catalogue, from_frame, item_table, items, read, titles

ROWS = [(7, 20, 4, 881250949), (3, 10, 1, 881250950), (7, 10, 5, 881250940)]
TABS = "".join("\t".join(map(str, row)) + "\n" for row in ROWS)
COLONS = "".join("::".join(map(str, row)) + "\n" for row in ROWS)
CSV = "userId,movieId,rating,timestamp\n" + "".join(",".join(map(str, r)) + "\n" for r in ROWS)
PLAIN = "user,item,rating\n7,20,4\n3,10,1\n7,10,5\n"


def rows(ratings):
    return ratings.to_polars().rows()


@pytest.fixture
def notices():
    return []


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("file", "text", "scale"),
    [
        ("u.data", TABS, "1:5:1"),
        ("ratings.dat", COLONS, "1:5:1"),
        ("ratings.csv", CSV, "0.5:5:0.5"),
    ],
)
@pytest.mark.parametrize("pack", ["plain", "gzip", "zip", "crlf", "no-last-newline", "mark"])
def test_movielens_in_every_dress(tmp_path, file, text, scale, pack, notices):
    path = tmp_path / file
    data = {"crlf": text.replace("\n", "\r\n"), "no-last-newline": text.rstrip()}.get(pack, text)
    if pack == "gzip":
        path = tmp_path / (file + ".gz")
        path.write_bytes(gzip.compress(data.encode()))
    elif pack == "zip":
        path = tmp_path / "packed.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"inside/{file}", data)
            archive.writestr("inside/README", "not ratings")
    else:
        path.write_bytes(b"\xef\xbb\xbf" * (pack == "mark") + data.encode())
    ratings = read(path, notify=notices.append)
    assert rows(ratings) == [(u, i, float(r), t) for u, i, r, t in ROWS]
    assert str(ratings.scale) == scale
    assert notices == []


def test_a_known_format_may_have_another_name_or_be_forced(tmp_path):
    path = tmp_path / "anything.log"
    path.write_text(TABS)
    assert len(read(path)) == 3
    assert len(read(path, format="movielens-100k")) == 3
    with pytest.raises(RequestError, match=r"format must be one of .*, got 'csv'"):
        read(path, format="csv")


def test_a_declared_scale_wins(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text("1::2::3.5::4\n1::3::0.5::4\n")
    assert str(read(path, scale="0.5:5:0.5").scale) == "0.5:5:0.5"


def test_netflix_folder_and_combined_files(tmp_path):
    folder = tmp_path / "training_set"
    folder.mkdir()
    (folder / "mv_0000001.txt").write_text("1:\n8,3,2005-09-06\n9,5,2005-05-13\n")
    (folder / "mv_0000002.txt").write_text("2:\n8,1,1999-12-31\n")
    (tmp_path / "combined_data_1.txt").write_text("1:\n8,3,2005-09-06\n9,5,2005-05-13\n2:\n")
    (tmp_path / "combined_data_2.txt").write_text("2:\n8,1,1999-12-31\n")
    day = int(datetime(1999, 12, 31, tzinfo=UTC).timestamp())
    by_movie = read(folder)
    assert [row[:3] for row in rows(by_movie)] == [(8, 1, 3.0), (9, 1, 5.0), (8, 2, 1.0)]
    assert rows(by_movie)[2][3] == day
    folder.rename(tmp_path / "elsewhere")
    assert rows(read(tmp_path)) == rows(by_movie)


def test_netflix_customer_that_looks_like_a_movie_is_refused(tmp_path):
    """Otherwise all ratings after it would be of another movie."""
    path = tmp_path / "mv_1.txt"
    path.write_text("1:\n10,3,2005-09-06\n12:,4,2005-09-06\n11,5,2005-09-06\n")
    with pytest.raises(DataError, match=r"line 3.* '12:' ends in a colon"):
        read(path, format="netflix")


def test_jester_zero_is_a_rating_and_99_is_not(tmp_path, notices):
    path = tmp_path / "jester-data-1.csv"
    path.write_text("2,0,99,-3.5\n0,99,99,99\n1,99,9.96,99\n")
    ratings = read(path, notify=notices.append)
    assert rows(ratings) == [(1, 1, 0.0), (1, 3, -3.0), (3, 2, 10.0)]
    assert "rounded (nearest)" in notices[0]
    assert "-10:10:1" in notices[0]
    finer = read(path, scale="-10:10:0.5", notify=notices.append)
    assert finer.values.tolist() == [0.0, -3.5, 10.0]


def test_jester_parts_are_one_crowd(tmp_path):
    for part in (1, 2):
        (tmp_path / f"jester-data-{part}.csv").write_text("1,1.5,99\n2,-2.5,3.5\n")
    ratings = read(tmp_path, notify=lambda _: None)
    assert ratings.n_users == 4
    assert ratings.user_ids.ids.to_list() == [1, 2, 3, 4]


def test_stochastic_rounding_keeps_the_mean(tmp_path, notices):
    path = tmp_path / "jester.csv"
    path.write_text("1,2.3,99\n" * 20_000)
    ratings = read(path, rounding="stochastic", notify=notices.append)
    assert set(ratings.values.tolist()) == {2.0, 3.0}
    # Five standard errors of a mean of 20,000 coins: one false alarm in a million.
    assert abs(ratings.values.mean() - 2.3) < 5 * (0.21 / 20_000) ** 0.5
    assert "rounded (stochastic)" in notices[0]


def test_libimseti(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text("1,133,8\n1,720,6\n")
    ratings = read(path)
    assert str(ratings.scale) == "1:10:1"
    assert rows(ratings) == [(1, 133, 8.0), (1, 720, 6.0)]


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolon", "parquet", "arrow", "csv.gz"])
def test_tables_of_every_kind(tmp_path, kind, notices):
    frame = pl.read_csv(PLAIN.encode()).with_columns(title=pl.lit('a "quoted", title'))
    path = tmp_path / f"made.{'csv' if kind == 'semicolon' else kind}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "arrow":
        frame.write_ipc(path)
    else:
        text = frame.write_csv(separator={"tsv": "\t", "semicolon": ";"}.get(kind, ","))
        path.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    ratings = read(path, notify=notices.append)
    assert rows(ratings) == [(7, 20, 4.0), (3, 10, 1.0), (7, 10, 5.0)]
    assert len(notices) == 1
    assert "scale 1:5:1 was inferred" in notices[0]


def test_ids_may_be_text(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("item,who,rating\nB007,éva,4\n12,bob,2\nB007,bob,5\n")
    ratings = read(path, columns={"user": "who"}, scale="1:5:1")
    assert rows(ratings) == [("éva", "B007", 4.0), ("bob", "12", 2.0), ("bob", "B007", 5.0)]
    assert ratings.user_ids.ids.to_list() == ["bob", "éva"]
    assert ratings.user_ids.code("éva") == 1
    assert ratings.user_ids.code(12) == -1


def test_leading_zeros_make_ids_text(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("user,item,rating\n07,1,4\n7,1,2\n")
    assert read(path, scale="1:5:1").user_ids.ids.to_list() == ["07", "7"]


def test_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(PLAIN.replace("\n", "\n\n") + "\n\n")
    assert len(read(path, scale="1:5:1")) == 3


def test_two_data_sets_in_a_folder_are_both_named(tmp_path):
    (tmp_path / "u.data").write_text(TABS)
    (tmp_path / "ratings.csv").write_text(CSV)
    (tmp_path / "tags.csv").write_text("userId,movieId,tag,timestamp\n")
    with pytest.raises(DataError) as refusal:
        read(tmp_path)
    assert "u.data" in str(refusal.value)
    assert "ratings.csv" in str(refusal.value)
    assert "tags.csv" not in str(refusal.value)


def test_a_folder_without_ratings_and_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="no ratings in a known format"):
        read(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "nothing.csv")


def test_folder_of_a_movielens_release_is_one_data_set(tmp_path):
    (tmp_path / "u.data").write_text(TABS)
    for name in ("u1.base", "u1.test", "ua.base"):
        (tmp_path / name).write_text(TABS)
    (tmp_path / "u.item").write_bytes("1|Les Misérables (1995)|01-Jan-1995\n".encode("latin-1"))
    assert len(read(tmp_path)) == 3
    expected = [(1, "Les Misérables (1995)")]
    assert titles(tmp_path).rows() == expected
    assert titles(tmp_path / "u.data").rows() == expected
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ml/movies.csv", 'movieId,title,genres\n7,"Seven, a (1995)",Crime\n')
    assert titles(tmp_path / "all.zip").rows() == [(7, "Seven, a (1995)")]
    (tmp_path / "u.item").write_text("one\n")
    with pytest.raises(DataError, match=r"u.item, line 1: 'one' is not item"):
        titles(tmp_path / "u.item")
    with pytest.raises(DataError, match=r"no item file \(u.item"):
        titles(__file__)


def test_titles_are_never_of_another_file(tmp_path):
    """Next to an item file, only an existing file of ratings may be named in its place."""
    (tmp_path / "movies.csv").write_text("movieId,title,genres\n1,One,A\n")
    (tmp_path / "stars.csv").write_text("user,item,rating\n1,1,5\n")
    (tmp_path / "own.csv").write_text("item,title\n1,Uno\n")
    (tmp_path / "ids.csv").write_text("item\n1\n")
    (tmp_path / "readme.txt").write_text("A note.\n")
    assert titles(tmp_path / "stars.csv").rows() == [(1, "One")]
    assert titles(tmp_path / "own.csv").rows() == [(1, "Uno")]
    with pytest.raises(DataError, match="has no titles; name a table with columns item and title"):
        titles(tmp_path / "ids.csv")
    for read_items in (titles, catalogue, items, item_table):
        with pytest.raises(DataError, match=r"readme\.txt: no item file"):
            read_items(tmp_path / "readme.txt")
        for absent in ("movie.csv", "movies.txt", "u.item"):
            with pytest.raises(DataError, match=f"{absent} does not exist; "):
                read_items(tmp_path / absent)


def test_genres_are_found_next_to_ratings_with_other_columns(tmp_path, run):
    (tmp_path / "movies.csv").write_text("movieId,title,genres\n1,One,A\n2,Two,B\n")
    data = tmp_path / "stars.csv"
    data.write_text("who,what,how\n1,1,5\n1,2,4\n2,1,3\n")
    asked = ("split-domains", data, "--by-genre", "-o", tmp_path / "halves", "--scale", "1:5:1")
    status, _, said = run(*asked, "--columns", "user=who,item=what,rating=how")
    assert status == 0, said


def test_repeats_keep_the_latest_time_or_the_last_row(tmp_path, notices):
    timed = tmp_path / "u.data"
    timed.write_text("1\t1\t5\t200\n2\t1\t3\t9\n1\t1\t1\t100\n1\t1\t4\t200\n")
    assert rows(read(timed, notify=notices.append)) == [(2, 1, 3.0, 9), (1, 1, 4.0, 200)]
    assert "2 repeated" in notices[0]
    plain = tmp_path / "made.csv"
    plain.write_text("user,item,rating\n1,1,5\n2,1,3\n1,1,2\n")
    ratings = read(plain, scale="1:5:1", notify=notices.append)
    assert rows(ratings) == [(2, 1, 3.0), (1, 1, 2.0)]
    assert "1 repeated" in notices[1]


pairs = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 5), st.integers(0, 3))


@settings(max_examples=60)
@given(st.lists(pairs, min_size=1, max_size=40), st.booleans())
def test_repeats_against_a_dictionary(made, timed):
    """The naive twin: a dictionary that keeps, for each pair, the row that wins."""
    winner = {}
    for place, (user, item, rating, time) in enumerate(made):
        key = (time if timed else 0, place)
        if (user, item) not in winner or key >= winner[user, item][0]:
            winner[user, item] = (key, (user, item, float(rating)))
    names = ["user", "item", "rating", "timestamp"][: 4 if timed else 3]
    frame = pl.DataFrame([row[: len(names)] for row in made], schema=names, orient="row")
    ratings = from_frame(frame, scale="1:5:1", notify=lambda _: None)
    expected = [row for _, row in sorted(winner.values(), key=lambda won: won[0][1])]
    assert [row[:3] for row in rows(ratings)] == expected


def test_frames_of_polars_and_pandas_agree():
    columns = {"who": ["b", "a", "b"], "what": [3, 1, 1], "rating": [5.0, 3.5, 0.5]}
    stamps = pd.to_datetime(["2001-01-01", "2002-01-01", "2003-01-01"])
    options = {"columns": {"user": "who", "item": "what"}, "scale": "0.5:5:0.5"}
    eager = pl.DataFrame(columns).with_columns(timestamp=pl.Series(stamps.to_numpy()))
    frames = [eager, eager.lazy(), pd.DataFrame(columns).assign(timestamp=stamps)]
    first, *others = [from_frame(frame, **options) for frame in frames]
    assert rows(first)[0] == ("b", 3, 5.0, 978307200)
    for other in others:
        assert rows(other) == rows(first)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.text('ab,"é;7', min_size=1, max_size=4), st.integers(0, 9)), min_size=2)
)
def test_any_text_ids_survive_a_csv(tmp_path_factory, made):
    made = list(dict.fromkeys((f"x{user}", item) for user, item in made))
    frame = pl.DataFrame(
        {"user": [u for u, _ in made], "item": [i for _, i in made], "rating": [3.0] * len(made)}
    )
    path = tmp_path_factory.mktemp("text") / "made.csv"
    frame.write_csv(path)
    assert rows(read(path, scale="1:5:1")) == frame.rows()


def test_wide_scales_take_two_bytes():
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [0.0, 1000.0]})
    ratings = from_frame(frame, scale="0:1000:1")
    assert ratings.levels.dtype == np.uint16
    assert ratings.levels.tolist() == [0, 1000]


def test_every_format_declares_a_scale_or_none():
    of_any_site = {"table", "recbole", "json-lines", "sparse", "pivot"}
    assert {name for name, f in FORMATS.items() if f.scale is None} == of_any_site
