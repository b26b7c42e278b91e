"""Reports files are validated once, on reading: compiled loops rely on it."""

import json

import numpy as np
import polars as pl
import pytest

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import KEY, read_reports, write_reports
from tacit.errors import DataError, RequestError
from tacit.models import Fitted
from tacit.readers import synthetic


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "reports.parquet"
    ratings = synthetic(n_users=30, n_items=50, n_ratings=700, rng=0)
    channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
    write_reports(perturb(ratings, Rated(channel)), path)
    return path


def changed(stored, folder, change):
    path = folder / "changed.parquet"
    metadata = pl.read_parquet_metadata(stored)
    change(pl.read_parquet(stored)).write_parquet(path, metadata={KEY: metadata[KEY]})
    return path


FAULTS = {
    "negative symbol": pl.lit(-1).alias("symbol"),
    "large symbol": pl.lit(250).alias("symbol"),
    "negative channel": pl.lit(-1).alias("channel"),
    "large channel": pl.lit(3).alias("channel"),
    "null symbol": pl.lit(None, pl.UInt8).alias("symbol"),
    "null channel": pl.lit(None, pl.UInt8).alias("channel"),
    "symbol of text": pl.lit("1").alias("symbol"),
    "fraction": pl.lit(0.5).alias("symbol"),
    "foreign item": pl.lit(99).alias("item"),
    "null user": pl.lit(None, pl.Int64).alias("user"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_column_is_refused(stored, tmp_path, fault):
    path = changed(stored, tmp_path, lambda frame: frame.with_columns(FAULTS[fault]))
    with pytest.raises(DataError, match=r"must contain integers|does not list|is damaged"):
        read_reports(path)


def test_a_file_joined_to_itself_is_refused(stored, tmp_path):
    with pytest.raises(DataError, match="700 reports repeat a \\(user, item\\) pair"):
        read_reports(changed(stored, tmp_path, lambda frame: pl.concat([frame, frame])))


def test_a_shuffled_file_is_read(stored, tmp_path):
    path = changed(stored, tmp_path, lambda frame: frame.sample(fraction=1, shuffle=True, seed=1))
    assert len(read_reports(path)) == 700


@pytest.mark.parametrize("column", ["users", "items", "symbols", "channel_of"])
@pytest.mark.parametrize("code", [-1, 99])
def test_reports_hold_codes_in_range_wherever_they_come_from(stored, column, code):
    reports = read_reports(stored)
    codes = getattr(reports, column).astype(np.int32)
    codes[3] = code
    fields = {name: getattr(reports, name) for name in reports.__dataclass_fields__}
    with pytest.raises(RequestError, match=f"{column} must be codes from 0 to"):
        type(reports)(**(fields | {column: codes}))


@pytest.mark.parametrize("name", ["user_ids", "item_ids"])
def test_a_model_with_another_number_of_ids_than_rows_is_refused(stored, tmp_path, name):
    path = tmp_path / "model"
    fit("bias", read_reports(stored)).save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    assert json.loads(arrays["header"].tobytes())["model"] == "bias"
    with path.open("wb") as file:
        np.savez(file, **(arrays | {name: arrays[name][:-1]}))
    with pytest.raises(RequestError, match="is not a saved model"):
        Fitted.load(path)
