"""Readers return one row per line, whatever quotes a line contains."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.readers import read
from tacit.readers.text import Delimited

FIELDS = ("user", "item", "rating", None)
letters = st.text(alphabet='ab",7 ', min_size=1, max_size=8).filter(lambda t: t.strip(' "'))


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_inch_marks_lose_no_row(tmp_path, suffix):
    cut = "," if suffix == "csv" else "\t"
    path = tmp_path / f"made.{suffix}"
    marked = {100: '7" single', 1100: '12" single'}
    rows = [cut.join(["user", "item", "rating", "title"])]
    rows += [
        cut.join([f"u{k % 40}", f"i{k}", str(1 + k % 5), marked.get(k, "t")]) for k in range(1200)
    ]
    path.write_text("\n".join(rows) + "\n")
    assert len(read(path, scale="1:5:1")) == 1200


@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=6), st.booleans())
def test_rows_are_those_of_the_standard_parser(pairs, all_quoted):
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(out, quoting=quoting, lineterminator="\n")
    writer.writerows((user, item, 3, f'{item}"') for user, item in pairs)
    frame = Delimited(",", FIELDS, None).parse(out.getvalue().encode())
    assert frame.select("user", "item").rows() == pairs


def test_a_quoted_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "made.csv"
    path.write_bytes(b'user,item,rating\n"a","b",3\n"caf\xe9","b",3\n')
    with pytest.raises(DataError, match=r"line 3: byte 0xe9 is not UTF-8"):
        read(path)
