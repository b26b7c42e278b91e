"""Who did what, without a rating: two columns, weights that are ignored, a published split."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.errors import DataError, RequestError
from tacit.readers import from_frame, read, synthetic
from tacit.scale import THERE

PAIRS = [(7, 20), (3, 10), (7, 10)]
TEXT = "user,item\n7,20\n3,10\n7,10\n"
SPLIT = "user,item,test\n7,20,0\n3,10,1\n7,10,0\n"


@pytest.fixture
def notices():
    return []


def pairs(ratings):
    assert str(ratings.scale) == THERE
    assert set(ratings.levels.tolist()) == {0}
    assert ratings.to_polars().columns[:2] == ["user", "item"]
    return [row[:2] for row in ratings.to_polars().rows()]


def written(tmp_path, frame, kind):
    path = tmp_path / f"made.{kind}"
    if kind in ("csv", "tsv"):
        frame.write_csv(path, separator={"tsv": "\t"}.get(kind, ","))
    else:
        getattr(frame, {"parquet": "write_parquet", "arrow": "write_ipc"}[kind])(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("scale", [None, THERE])
def test_a_table_of_two_columns_holds_interactions(tmp_path, kind, scale, notices):
    path = written(tmp_path, pl.read_csv(TEXT.encode()), kind)
    ratings = read(path, scale=scale, notify=notices.append)
    assert pairs(ratings) == PAIRS
    assert ratings.undeclared == {"catalogue", "people"}
    assert len(notices) == (scale is None)
    assert scale or f"{path}: no rating column was found, so each row" in notices[0]


def test_times_and_names_of_columns_are_kept(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("film,timestamp,who\n20,5,eva\n10,9,bob\n")
    ratings = read(path, columns={"user": "who", "item": "film"}, notify=lambda _: None)
    assert pairs(ratings) == [("eva", 20), ("bob", 10)]
    assert ratings.times.tolist() == [5, 9]


def test_frames_of_every_kind_are_read_alike(notices):
    eager = pl.read_csv(TEXT.encode())
    for frame in (eager, eager.lazy(), pd.DataFrame(eager.to_dict(as_series=False))):
        assert pairs(from_frame(frame, notify=notices.append)) == PAIRS
    again = from_frame(from_frame(eager, scale=THERE).to_polars(), scale=THERE, notify=print)
    assert pairs(again) == PAIRS
    assert len(notices) == 3


@pytest.mark.parametrize("name", ["rating", "plays"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_weights_are_ignored_with_a_notice(tmp_path, name, kind, notices):
    frame = pl.DataFrame(PAIRS, schema=["user", "item"], orient="row")
    path = written(tmp_path, frame.with_columns(pl.Series(name, [3.5, 1e300, 0.5])), kind)
    assert pairs(read(path, scale=THERE, notify=notices.append)) == PAIRS
    assert notices == [
        f"{path}: ratings or weights are ignored, because the data are implicit feedback."
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_weights_of_zero_and_below_are_refused_unless_left_out(tmp_path, kind, notices):
    frame = pl.DataFrame(PAIRS, schema=["user", "item"], orient="row")
    path = written(tmp_path, frame.with_columns(count=pl.Series([3, -1, 0])), kind)
    with pytest.raises(DataError, match="2 of 3 weights are 0 or below"):
        read(path, scale=THERE)
    left = read(path, scale=THERE, positive_only=True, notify=notices.append)
    assert pairs(left) == PAIRS[:1]
    assert any("dropped 2 rows with a weight of 0 or below" in notice for notice in notices)


def test_a_known_format_can_be_read_as_interactions(tmp_path, notices):
    path = tmp_path / "u.data"
    path.write_text("7\t20\t4\t1\n3\t10\t1\t2\n")
    assert pairs(read(path, scale=THERE, notify=notices.append)) == PAIRS[:2]
    path = tmp_path / "jester-data-1.csv"
    path.write_text("2,0.5,99,3.5\n")
    assert pairs(read(path, scale=THERE, notify=notices.append)) == [(1, 1), (1, 3)]
    assert ["are ignored" in notice for notice in notices] == [True, True]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_third_column_of_text_is_refused(tmp_path, kind):
    frame = pl.DataFrame([(1, 2, "a"), (1, 3, "b")], schema=["user", "item", "word"], orient="row")
    path = written(tmp_path, frame, kind)
    with pytest.raises(DataError, match=r"column 'rating' must be among .* \(--implicit\)"):
        read(path)
    with pytest.raises(DataError, match=r"'a' is not a number|'word' must contain nu"):
        read(path, scale=THERE)
    more = written(tmp_path, frame.with_columns(other=1), kind)
    assert pairs(read(more, scale=THERE)) == [(1, 2), (1, 3)]


def test_stars_without_ratings_and_ratings_of_one_value_name_the_scale(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(TEXT)
    with pytest.raises(
        DataError, match=r"column 'rating' must be .* rating=NAME\), or pass scale='there'"
    ):
        read(path, scale="1:5:1")
    with pytest.raises(DataError, match="column 'stars' must be among"):
        read(path, scale=THERE, columns={"rating": "stars"})
    path.write_text("user,item,rating\n1,2,1.0\n1,3,1.0\n")
    with pytest.raises(DataError, match=r"all ratings are 1\).*or scale='there' \(--implicit\)"):
        read(path)
    path.write_text("user,item,rating\n1,2,inf\n1,3,1.0\n")
    with pytest.raises(DataError, match="line 2: rating 'inf' is not a number"):
        read(path, scale=THERE)


def test_two_of_one_pair_are_one_interaction(tmp_path, notices):
    path = tmp_path / "made.csv"
    path.write_text(TEXT + "7,20\n7,20\n")
    assert sorted(pairs(read(path, scale=THERE, notify=notices.append))) == sorted(PAIRS)
    assert "2 repeated (user, item) rows were dropped" in notices[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("truth", [[0, 1, 0], [False, True, False], [" FALSE", "True ", "0"]])
def test_a_published_split_is_read_where_it_is_asked_for(tmp_path, kind, truth):
    if kind == "parquet" and isinstance(truth[0], str):
        truth = [False, True, False]
    frame = pl.read_csv(TEXT.encode()).with_columns(test=pl.Series(truth))
    path = written(tmp_path, frame, kind)
    ratings = read(path, held_out="test", notify=lambda _: None)
    assert pairs(ratings) == PAIRS
    assert ratings.held_out.tolist() == [False, True, False]
    assert ratings.where(ratings.users == 1).held_out.tolist() == [False, False]
    assert ratings.by_person().held_out.tolist() == [True, False, False]
    assert ratings.with_catalogue([10, 11]).held_out.tolist() == [True, False]
    assert ratings.with_people([7, 8]).held_out.tolist() == [False, False]
    if kind == "parquet":
        assert read(path, scale=THERE, positive_only=True).held_out is None


def test_a_split_survives_beside_stars_and_goes_with_the_row_that_stays(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("user,item,rating,part\n1,1,5,1\n2,1,3,1\n1,1,4,0\n")
    ratings = read(path, scale="1:5:1", held_out="part", notify=lambda _: None)
    assert ratings.values.tolist() == [3, 4]
    assert ratings.held_out.tolist() == [True, False]


def test_what_says_nothing_of_a_split_is_refused(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(SPLIT.replace("10,1", "10,2"))
    with pytest.raises(DataError, match="line 3: the held-out flag '2' must be 0 or 1"):
        read(path, held_out="test")
    with pytest.raises(DataError, match="row 2: the held-out column must contain 0 or 1"):
        from_frame(pl.read_csv(path), held_out="test")
    with pytest.raises(DataError, match=r"column 'part' must be among .* name the held-out column"):
        read(path, held_out="part")
    with pytest.raises(DataError, match="'test' must contain 0 and 1"):
        from_frame(pl.read_csv(path).cast({"test": pl.String}), held_out="test")
    with pytest.raises(RequestError, match="'item' contains the item and cannot define"):
        read(path, held_out="item")
    (tmp_path / "u.data").write_text("1\t2\t3\t4\n1\t3\t1\t4\n")
    with pytest.raises(DataError, match="movielens-100k, which has no held-out column test"):
        read(tmp_path / "u.data", held_out="test")


def test_made_up_interactions_follow_tastes_and_who_rates_what_does_not():
    """The correlations of items between people: the first direction is what is popular, the next
    2.8 to 3.4 with tastes and 2.0 to 2.2 without."""

    def second_direction(scale):
        made = synthetic(2000, 300, 60_000, scale, rng=4)
        table = np.zeros((2000, 300))
        table[made.users, made.items] = 1
        return np.linalg.eigvalsh(np.corrcoef(table.T))[-2]

    assert second_direction(THERE) > 1.25 * second_direction("1:5:1")


def test_made_up_interactions_have_one_level_and_come_in_order_of_time():
    made = synthetic(50, 80, 1500, THERE, rng=4)
    assert made.scale.has_one_level
    assert not made.levels.any()
    assert len(made) == 1500
    assert (np.diff(made.times) >= 0).all()
    again = synthetic(50, 80, 1500, THERE, rng=4)
    assert (again.items == made.items).all()
