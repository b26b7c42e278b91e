"""Tables as people have them: dates, decimal commas, MovieLens' names, and names of their own."""

import datetime

import polars as pl
import pytest

from tacit.errors import DataError
from tacit.readers import from_frame, read
from tacit.readers.format import is_iso, unix_seconds

TIMES = (
    "2024-05-01",
    "2024-05-01 12:00:00",
    "2024-05-01T12:00:00.25Z",
    "2024-05-01T14:00:00+02:00",
)
SECONDS = [1714521600, 1714564800, 1714564800, 1714564800]


def table(tmp_path, text, name="r.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_dates_and_times_are_unix_seconds(tmp_path):
    rows = "".join(f"1,{item},{item},{time}\n" for item, time in enumerate(TIMES, 1))
    path = table(tmp_path, "user,item,rating,timestamp\n" + rows)
    assert read(path, scale="1:5:1").times.tolist() == SECONDS
    frame = pl.DataFrame({"user": 1, "item": range(4), "rating": 3, "timestamp": TIMES})
    assert from_frame(frame, scale="1:5:1").times.tolist() == SECONDS
    days = frame.with_columns(timestamp=pl.lit(datetime.date(2024, 5, 1)))
    assert from_frame(days, scale="1:5:1").times.tolist() == SECONDS[:1] * 4


def test_a_date_that_is_none_is_named(tmp_path):
    head = "user,item,rating,timestamp\n1,1,3,2024-05-01\n"
    path = table(
        tmp_path, head + "1,2,3,2024-05-02\n" * 9000 + "1,3,3,2024-13-01\n1,4,3,2024-05-01\n"
    )
    with pytest.raises(DataError, match=r"line 9003: timestamp '2024-13-01' is not a date such as"):
        read(path, scale="1:5:1")
    frame = pl.DataFrame({"user": [1], "item": [1], "rating": [3], "timestamp": ["May"]})
    with pytest.raises(DataError, match="the timestamp is missing, or not a date such as 2024"):
        from_frame(frame, scale="1:5:1")


def test_a_rating_may_have_a_decimal_comma(tmp_path):
    path = table(tmp_path, "user;item;rating\n1;1;3,5\n1;2;4\n2;1;0,5\n")
    assert read(path, scale="0.5:5:0.5").values.tolist() == [3.5, 4, 0.5]
    with pytest.raises(DataError, match=r"line 3: rating '9.5' is off the scale"):
        read(table(tmp_path, "user;item;rating\n1;1;3,5\n1;2;9,5\n2;1;4,5\n"), scale="0.5:5:0.5")


def test_the_names_of_movielens_need_no_time_and_no_renaming(tmp_path):
    path = table(tmp_path, "userId,movieId,rating\n7,8,3\n", "mine.csv")
    assert read(path, scale="1:5:1").item_ids.ids.to_list() == [8]
    frame = pl.DataFrame({"userId": [7], "movieId": [8]})
    assert from_frame(frame).scale.has_one_level


def test_a_scale_of_movielens_needs_a_file_named_as_in_movielens(tmp_path):
    rows = "userId,movieId,rating,timestamp\n7,8,3,1\n7,9,5,2024-01-01\n"
    theirs = table(tmp_path, rows.replace("2024-01-01", "2"), "ratings.csv")
    assert str(read(theirs).scale) == "0.5:5:0.5"
    other = table(tmp_path, rows.replace("2024-01-01", "2"), "mine.csv")
    assert str(read(other).scale) == "3:5:1"
    assert "scale" in read(other).undeclared
    text = rows.replace("2024-01-01", "2").replace("7,", "u7,")
    assert read(table(tmp_path, text, "ratings.csv")).user_ids.ids.to_list() == ["u7"]
    dates = table(tmp_path, rows.replace("3,1", "3,2024-01-02"), "ratings.csv")
    assert str(read(dates).scale) == "0.5:5:0.5"


@pytest.mark.parametrize("line", ["{},{},{}", "{}\t{}\t{}\t9"])
def test_lines_without_a_header_have_no_scale_of_their_own(tmp_path, line):
    notices: list[str] = []
    path = tmp_path / "mine.csv"
    path.write_text(
        "".join(line.format(u, i, 1 + (u + i) % 5) + "\n" for u in (1, 2, 3) for i in (4, 5, 6))
    )
    ratings = read(path, notify=notices.append)
    assert str(ratings.scale) == "1:5:1"
    assert "scale" in ratings.undeclared
    assert "was inferred" in notices[0]


def test_a_declared_format_has_its_scale_whatever_the_file_is_called(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("1\t2\t3\t9\n")
    assert str(read(path, format="movielens-100k").scale) == "1:5:1"


def test_two_columns_of_one_name_are_refused(tmp_path):
    with pytest.raises(
        DataError, match="line 1: column 'item' occurs 2 times; rename the duplicates"
    ):
        read(table(tmp_path, "user,item,item,rating\n1,2,3,4\n"))


def test_all_columns_that_are_not_there_are_named_at_once(tmp_path):
    with pytest.raises(DataError) as raised:
        read(table(tmp_path, "who,what,stars\n1,2,3\n"))
    assert str(raised.value).endswith(
        "line 1: columns 'user', 'item', 'rating' must be among 'who, what, stars'; name the "
        "columns, as in columns={'user': 'NAME', 'item': 'NAME', 'rating': 'NAME'} of as_ratings "
        "(--columns user=NAME,item=NAME,rating=NAME), or pass scale='there' (--implicit) if each "
        "row is an interaction."
    )


@pytest.mark.parametrize(
    "text", [*TIMES, "2024-02-30", "2024-05-01T25:00:00", "2024-05-01T12:00", "2024-5-1", "May"]
)
def test_the_slow_look_and_the_fast_one_agree(text):
    fast = pl.DataFrame({"at": [text]}).select(unix_seconds("at"))["at"]
    assert is_iso(text) is (fast.null_count() == 0)


@pytest.mark.parametrize("names", [("userId", "movieId"), ("user_id", "item_id")])
def test_usual_names_of_columns_need_no_option(tmp_path, names):
    path = table(tmp_path, ",".join([*names, "stars", "rating"]) + "\n7,20,1,4\n3,10,1,5\n")
    assert read(path, scale="1:5:1").to_polars().rows() == [(7, 20, 4.0), (3, 10, 5.0)]
    with pytest.raises(DataError, match="'user'"):
        read(table(tmp_path, "users,items,rating\n7,20,4\n"))


def test_an_inferred_scale_is_said_as_it_is_declared(tmp_path):
    notices = []
    read(table(tmp_path, "user,item,rating\n7,20,4\n3,10,1\n"), notify=notices.append)
    assert notices[0].endswith(
        "the scale 1:4:1 was inferred from the ratings; pass scale='1:4:1' (--scale 1:4:1) to fix "
        "it."
    )
