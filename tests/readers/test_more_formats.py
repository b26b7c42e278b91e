"""The same ratings in twelve forms that people have, and what is refused with a remedy."""

import bz2
import gzip
import json
import lzma

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array, save_npz

from tacit import DataError, RequestError, as_ratings, from_frame, read

ROWS = [("ann", "x", 4.0, 86_400), ("ann", "y", 2.0, 86_460), ("bob", "x", 5.0, 90_000)]
KEYS = {
    "amazon": ("reviewerID", "asin", "overall", "unixReviewTime"),
    "yelp": ("user_id", "business_id", "stars", "date"),
    "goodreads": ("user_id", "book_id", "rating", None),
    "plain": ("user", "item", "rating", "timestamp"),
}


def table(separator=",", header="user,item,rating,timestamp\n", times=str):
    lines = (separator.join([u, i, f"{r:g}", times(t)]) + "\n" for u, i, r, t in ROWS)
    return (header.replace(",", separator) + "".join(lines)).encode()


def objects(keys, times=int):
    lines = [
        {key: value for key, value in zip(keys, (u, i, r, times(t)), strict=True) if key}
        for u, i, r, t in ROWS
    ]
    return "".join(json.dumps({**line, "text": 'so "good"'}) + "\n" for line in lines).encode()


def minutes(seconds):
    return f"1970-01-02 {seconds % 86_400 // 3600:02}:{seconds // 60 % 60:02}"


RECBOLE = "user_id:token,item_id:token,rating:float,timestamp:float\n"
FILES = {
    "headerless csv": ("r.csv", table(header=""), {"columns": (1, 2, 3, 4)}),
    "headerless, other order": (
        "r.txt",
        "".join(f"{t}|{r:g}|{i}|{u}\n" for u, i, r, t in ROWS).encode(),
        {"columns": [4, 3, 2, 1]},
    ),
    "recbole": ("ml.inter", table("\t", RECBOLE, lambda t: f"{t}.0"), {}),
    "amazon": ("reviews.json", objects(KEYS["amazon"]), {}),
    "yelp": ("review.json.gz", gzip.compress(objects(KEYS["yelp"], minutes)), {}),
    "goodreads": ("goodreads.jsonl", objects(KEYS["goodreads"]), {}),
    "json lines": ("r.ndjson", objects(KEYS["plain"]), {}),
    "float times": ("r.csv", table(times=lambda t: f"{t}.25"), {}),
    "times in minutes": ("r.csv", table(times=minutes), {}),
    "bzip2": ("r.csv.bz2", bz2.compress(table()), {}),
    "xz": ("r.tsv.xz", lzma.compress(table("\t")), {}),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_same_ratings_are_read(kind, tmp_path):
    name, data, options = FILES[kind]
    (tmp_path / name).write_bytes(data)
    ratings = read(tmp_path / name, scale="1:5:1", **options)
    frame = ratings.to_polars()
    rows = list(zip(frame["user"], frame["item"], frame["rating"], strict=True))
    assert rows == [row[:3] for row in ROWS]
    assert (ratings.times is None) == (kind == "goodreads")
    if ratings.times is not None:
        assert ratings.times.tolist() == [time for *_, time in ROWS]


def test_sparse_matrices_number_users_and_items_from_0(tmp_path):
    matrix = csr_array(np.array([[0, 4, 2], [5, 0, 0]], np.float32))
    save_npz(tmp_path / "r.npz", matrix)
    for data in (tmp_path / "r.npz", matrix, coo_array(matrix)):
        found = as_ratings(data, scale="1:5:1").to_polars()
        assert found.select("user", "item", "rating").rows() == [(0, 1, 4), (0, 2, 2), (1, 0, 5)]
    (tmp_path / "other.npz").write_bytes((tmp_path / "r.npz").read_bytes()[:-40])
    with pytest.raises(DataError, match="is not a sparse matrix; write it by scipy"):
        read(tmp_path / "other.npz", scale="1:5:1")


def test_positions_of_user_and_item_alone_are_interactions(tmp_path):
    (tmp_path / "clicks.csv").write_bytes(table(header=""))
    ratings = read(tmp_path / "clicks.csv", columns=(1, 2))
    assert ratings.scale.has_one_level
    assert len(ratings) == 3


@pytest.mark.parametrize("columns", [(1,), (1, 1), (0, 1), (1, 2.0), (1, True), (1, 2, 3, 4, 5)])
def test_positions_are_two_to_four_different_integers(columns, tmp_path):
    (tmp_path / "r.csv").write_bytes(table(header=""))
    with pytest.raises(RequestError, match="two to four different integers from 1"):
        read(tmp_path / "r.csv", columns=columns, scale="1:5:1")


def test_positions_are_of_text_files(tmp_path):
    (tmp_path / "r.csv").write_bytes(table(header=""))
    with pytest.raises(RequestError, match="require the format table"):
        read(tmp_path / "r.csv", columns=(1, 2, 3), format="jester")
    with pytest.raises(RequestError, match="must be names, not positions"):
        from_frame(pl.DataFrame({"user": [1], "item": [2]}), columns=(1, 2))
    with pytest.raises(DataError, match="'7'"):
        read(tmp_path / "r.csv", columns=(1, 2, 7), scale="1:5:1")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"not json", "is not JSON"),
        (b"[1, 2]", "is not a JSON object"),
        (b'{"user": "u", "item": "x", "timestamp": 1}', "the rating is missing"),
        (b'{"user": "u", "item": "x", "rating": 9, "timestamp": 1}', "rating '9' is off"),
        (
            b'{"user": "u", "item": "x", "rating": 3, "timestamp": "now"}',
            "timestamp 'now' is not an",
        ),
    ],
)
def test_a_damaged_line_of_json_is_named(line, words, tmp_path):
    (tmp_path / "r.jsonl").write_bytes(objects(KEYS["plain"]) + line + b"\n")
    with pytest.raises(DataError, match=f"line 4: .*{words}"):
        read(tmp_path / "r.jsonl", scale="1:5:1")


def test_json_without_known_fields_needs_their_names(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(objects(("who", "what", "grade", "at")))
    with pytest.raises(DataError, match="user"):
        read(path, scale="1:5:1")
    names = {"user": "who", "item": "what", "rating": "grade"}
    assert len(read(path, scale="1:5:1", columns=names)) == 3


def test_a_truncated_archive_is_named(tmp_path):
    for name, data in (("r.csv.bz2", bz2.compress(table())), ("r.csv.xz", lzma.compress(table()))):
        (tmp_path / name).write_bytes(data[:-12])
        with pytest.raises(DataError, match=name.replace(".", r"\.")):
            read(tmp_path / name, scale="1:5:1")
