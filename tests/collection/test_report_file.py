"""Reports on disk: what was drawn comes back, and nothing is believed."""

import json

import numpy as np
import polars as pl
import pytest

from tacit.channels import compile_channel
from tacit.collection.named_plans import plan
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import KEY, read_reports, write_perturbed, write_reports
from tacit.errors import CertificateError, DataError
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

STARS = RatingScale.parse("1:5:1")


@pytest.fixture
def reports():
    channels = tuple(compile_channel("bounded-laplace", epsilon=e, scale=STARS) for e in ("1", "3"))
    user_ids, users = Vocabulary.of(pl.Series(["b", "a", "c", "a"]))
    item_ids, items = Vocabulary.of(pl.Series([30, 10, 20, 20]))
    truth = Ratings(users, items, np.array([0, 1, 2, 4], np.uint8), STARS, user_ids, item_ids)
    return perturb(truth, Rated(channels))


def test_round_trip(reports, tmp_path):
    write_reports(reports, tmp_path / "r.parquet")
    again = read_reports(tmp_path / "r.parquet")
    for column in ("users", "items", "symbols", "channel_of", "values"):
        assert (getattr(again, column) == getattr(reports, column)).all()
    assert again.user_ids.ids.to_list() == ["a", "b", "c"]
    for same in ("channels", "scale", "guarantee", "plan", "name"):
        assert getattr(again, same) == getattr(reports, same)


@pytest.mark.parametrize("name", ["catalogue", "sample:3", "rated"])
def test_a_stream_writes_what_perturb_and_write_would(name, tmp_path, monkeypatch):
    """Block by block, everybody listed, even who sent nothing; and the same reports per person."""
    monkeypatch.setattr("tacit.collection.slots.BLOCK", 16)
    hides = name != "rated"
    channel = compile_channel("randomized-response", epsilon="3", scale=STARS, missing=hides)
    users = np.repeat(np.arange(9, dtype=np.int32), 2)
    items = np.tile(np.array([1, 4], np.int32), 9)
    ids = Vocabulary(pl.Series("id", [f"p{k}" for k in range(12)]))
    truth = Ratings(
        users, items, np.full(18, 4, np.uint8), STARS, ids, Vocabulary(pl.Series("id", range(5)))
    )
    done = []
    chosen, path = plan(name, channel), tmp_path / "s.parquet"
    written = write_perturbed(truth, chosen, path, done.append)
    again = read_reports(path)
    whole = perturb(truth, chosen)
    assert len(again) == written
    assert again.symbols.dtype == whole.symbols.dtype
    assert again.user_ids.ids.to_list() == truth.user_ids.ids.to_list()
    assert again.item_ids.ids.to_list() == [0, 1, 2, 3, 4]
    for same in ("channels", "scale", "guarantee", "plan", "name"):
        assert getattr(again, same) == getattr(whole, same)
    if name != "catalogue":
        assert (again.users == whole.users).all()
        assert (again.items == whole.items).all()
    assert not hides or done == [min(k, 12) for k in range(done[0], 12 + done[0], done[0])]
    assert (np.diff(again.users) >= 0).all()


def test_a_stream_that_fails_leaves_no_file(tmp_path):
    def fails(people):
        raise OSError("the disk is full")

    channel = compile_channel("randomized-response", epsilon="3", scale=STARS, missing=True)
    _, codes = Vocabulary.of(pl.Series([1, 2]))
    ids = Vocabulary(pl.Series("id", [1, 2]))
    truth = Ratings(codes, codes, np.zeros(2, np.uint8), STARS, ids, ids)
    with pytest.raises(Exception, match="the disk is full"):
        write_perturbed(truth, plan("catalogue", channel), tmp_path / "s.parquet", fails)
    assert list(tmp_path.iterdir()) == []


def test_no_true_rating_is_written(reports, tmp_path):
    write_reports(reports, tmp_path / "r.parquet")
    assert pl.read_parquet(tmp_path / "r.parquet").columns == ["user", "item", "symbol", "channel"]


def test_ids_take_as_few_bytes_as_they_need(tmp_path):
    ids = [Vocabulary(pl.Series("id", ids, pl.Int64)) for ids in ([1, 127], [1, 30_000])]
    codes = np.arange(2, dtype=np.int32)
    truth = Ratings(codes, codes, np.zeros(2, np.uint8), STARS, *ids)
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    write_reports(perturb(truth, Rated(channel)), tmp_path / "r.parquet")
    kinds = pl.read_parquet_schema(tmp_path / "r.parquet")
    assert (kinds["user"], kinds["item"]) == (pl.Int8, pl.Int16)


def test_other_files_are_refused(reports, tmp_path):
    (tmp_path / "text").write_text("user,item\n")
    with pytest.raises(DataError, match="not a Parquet file of reports"):
        read_reports(tmp_path / "text")
    with pytest.raises(DataError, match="not a Parquet file of reports"):
        read_reports(tmp_path / "absent")
    pl.DataFrame({"user": [1]}).write_parquet(tmp_path / "plain")
    with pytest.raises(DataError, match=r"/plain contains no reports: its metadata have no header"):
        read_reports(tmp_path / "plain")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "tacit-reports-0"}, "contains no reports: its metadata have no header"),
        ({"users": []}, "contains no reports: its metadata have no header"),
        ({"channels": []}, "contains no reports: its metadata have no header"),
        ({"scale": "1:5:0"}, r"is damaged \(.*1:5:0.*\); run `tacit perturb` again"),
    ],
)
def test_a_header_that_is_none_is_refused(changes, said, reports, tmp_path):
    path = tmp_path / "r.parquet"
    write_reports(reports, path)
    header = json.loads(pl.read_parquet_metadata(path)[KEY]) | changes
    pl.read_parquet(path).write_parquet(path, metadata={KEY: json.dumps(header)})
    with pytest.raises(DataError, match=f"/r.parquet {said}"):
        read_reports(path)


def test_a_forged_symbol_or_channel_is_refused(reports, tmp_path):
    path = tmp_path / "r.parquet"
    write_reports(reports, path)
    header = pl.read_parquet_metadata(path)[KEY]
    frame = pl.read_parquet(path)
    frame.with_columns(pl.lit(64).cast(pl.UInt8).alias("symbol")).write_parquet(
        path, metadata={KEY: header}
    )
    with pytest.raises(DataError, match="'symbol' must contain integers from 0 to 63"):
        read_reports(path)
    forged = json.loads(header)
    forged["channels"][0]["epsilon"] = "0.5"
    frame.write_parquet(path, metadata={KEY: json.dumps(forged)})
    with pytest.raises(CertificateError, match="claim a larger epsilon"):
        read_reports(path)


def test_codes_are_the_same_however_many_ids_are_looked_up_at_once(monkeypatch):
    known = Vocabulary(pl.Series("id", ["a", "b", "c", "d"]))
    raw = pl.Series(np.random.default_rng(0).choice(["a", "b", "c", "d", "nobody"], 50))
    expected = [["a", "b", "c", "d"].index(each) if each != "nobody" else -1 for each in raw]
    for at_once in (1, 7, 50, 51):
        monkeypatch.setattr("tacit.vocabulary.LOOKED_UP", at_once)
        assert known.codes(raw).tolist() == expected
