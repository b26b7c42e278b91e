"""The same ratings in sixteen forms that people have, and what is refused with a remedy."""

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array, save_npz

from tacit import DataError, RequestError, as_ratings, from_frame, read, synthetic

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


def archive(name, data):
    """A tar archive of one file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        about = tarfile.TarInfo(name)
        about.size = len(data)
        made.addfile(about, io.BytesIO(data))
    return file.getvalue()


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
    "tar": ("r.tar", archive("folder/r.csv", table()), {}),
    "compressed tar": ("r.tgz", gzip.compress(archive("r.csv", table())), {}),
    "pivot": ("wide.csv", b"name,x,y\nann,4,2\nbob,5,\n", {"format": "pivot"}),
    "pivot of titles": ("w.tsv", b'\tx\t"y"\n"ann"\t4\t2.0\nbob\t5\tNaN\n', {"format": "pivot"}),
}
UNTIMED = ("goodreads", "pivot", "pivot of titles")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", FILES)
def test_the_same_ratings_are_read(kind, tmp_path):
    name, data, options = FILES[kind]
    (tmp_path / name).write_bytes(data)
    ratings = read(tmp_path / name, scale="1:5:1", **options)
    frame = ratings.to_polars()
    rows = list(zip(frame["user"], frame["item"], frame["rating"], strict=True))
    assert rows == [row[:3] for row in ROWS]
    assert (ratings.times is None) == (kind in UNTIMED)
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (",x,x\nann,1,2\n", "line 1: item 'x' occurs twice; give each column its own item"),
        (",x,\nann,1,2\n", "line 1: an item has no name"),
        (",x,y\nann,1,2\n,1,2\n", "line 3: the user is empty"),
        (",x,y\nann,1,2\nbob,1\n", "line 3: the line has 2 fields, expected 3"),
        (',x,y\nann,1,2\n"bob",1\n', "line 3: the line has 2 fields, expected 3"),
        (",x,y\nann,1,0\n", "line 2: rating '0' is off the scale 1:5:1"),
        (",x,y\nann,1,inf\n", "line 2: rating 'inf' is not a number"),
        (",x,y\nann,1,two\n", "line 2: rating 'two' is not a number"),
    ],
)
def test_a_damaged_pivot_table_is_named(text, words, tmp_path):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read(tmp_path / "r.csv", scale="1:5:1", format="pivot")


def test_a_pivot_table_of_pandas_with_a_long_header_is_read(tmp_path):
    made = synthetic(40, 5_000, 2_000, fewest=50)
    frame = made.to_polars().to_pandas()
    frame["item"] = "item number " + frame["item"].astype(str)
    frame.pivot(index="user", columns="item", values="rating").to_csv(tmp_path / "r.csv")
    found = read(tmp_path / "r.csv", scale="1:5:1", format="pivot").to_polars()
    expected = pl.from_pandas(frame).select(found.columns)
    assert found.sort("user", "item").equals(expected.sort("user", "item"))
    with pytest.raises(RequestError, match="columns apply to other formats than pivot"):
        read(tmp_path / "r.csv", scale="1:5:1", format="pivot", columns={"user": "who"})


@pytest.mark.parametrize("name", ["r.tar", "r.tar.gz"])
def test_a_damaged_tar_archive_is_named(name, tmp_path):
    rows = "".join(f"u{n % 977},{n},3,{n * n}\n" for n in range(3_000))
    whole = archive("r.csv", b"user,item,rating,timestamp\n" + rows.encode())
    data = gzip.compress(whole) if name.endswith("gz") else whole
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=re.escape(name)):
        read(tmp_path / name, scale="1:5:1")


def test_a_link_in_an_archive_is_not_followed(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        link = tarfile.TarInfo("r.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    (tmp_path / "r.tar").write_bytes(file.getvalue())
    with pytest.raises(DataError, match="contains no ratings in a known format"):
        read(tmp_path / "r.tar", scale="1:5:1")


def test_indices_of_a_damaged_sparse_matrix_are_not_expanded(tmp_path):
    """Compiled code of SciPy writes beyond its arrays for such row ends."""
    np.savez(
        tmp_path / "r.npz", format=np.array(b"csr"), shape=np.array([2, 4]), data=np.ones(3),
        indptr=np.array([0, 5_000_000, 3], np.int32), indices=np.zeros(3, np.int32),
    )  # fmt: skip
    with pytest.raises(DataError, match="is not a sparse matrix"):
        read(tmp_path / "r.npz", scale="1:5:1")


def test_repeated_entries_of_a_sparse_matrix_are_repeated_rows():
    """Not their sum, as SciPy converts them."""
    notices = list[str]()
    entries = ([1.0, 2.0, 3.0], ([0, 0, 1], [0, 0, 1]))
    found = as_ratings(coo_array(entries, shape=(2, 2)), scale="1:5:1", notify=notices.append)
    assert found.values.tolist() == [2, 3]
    assert "1 repeated (user, item) rows were dropped" in notices[0]


def test_levels_far_from_zero_are_read_exactly():
    ratings = [20_000_001, 20_000_002, 20_000_003]
    found = as_ratings(([1, 2, 3], [1, 2, 3], ratings), scale="20000000:20000010:1")
    assert found.levels.tolist() == [1, 2, 3]
