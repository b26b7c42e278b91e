"""The result file says the same in JSON and Parquet, and keeps its keys."""

import json
import math

import polars as pl
import pytest

from tacit.errors import DataError
from tacit.metrics.accuracy import Slice
from tacit.results.comparison.row import KEYS, ResultRow, read_rows
from tacit.results.records import save

CONTRACT = (
    "dataset, plan, cap, channel, channel_id, model, mode, where, trust, epsilon, delta, unit, "
    "values_epsilon, user_epsilon, tight_epsilon, claim_valid, uncovered, seed, fold, n_train, "
    "n_test, rmse, mae, rmse_of_mean, information_efficiency, "
    "precision_at_10, recall_at_10, f_score_at_10, "
    "ndcg_at_20, recall_at_20, mrr, hit_rate_at_20, coverage_at_20, popularity_at_20, "
    "niche_ndcg_at_20, fit_seconds, predict_seconds"
)


def test_the_keys_are_the_contract():
    assert ", ".join(KEYS) == CONTRACT


def test_rows_survive_the_file(tmp_path, make_row):
    rows = [
        make_row(),
        make_row(channel="identity", seed=2, fold=3),
        make_row(channel=None, trust="curator", f_score_at_10=float("nan")),
    ]
    path = tmp_path / "out.json"
    save(rows, path, ResultRow)
    back = read_rows(path)
    assert back[:2] == rows[:2]
    assert math.isnan(back[2].f_score_at_10)
    written = json.loads(path.read_text())
    assert [tuple(row) for row in written] == [KEYS] * 3
    assert written[2]["f_score_at_10"] is None
    assert pl.read_parquet(tmp_path / "out.parquet").to_dicts() == written
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.json", "out.parquet"]


def test_slices_are_a_key_of_the_rows_that_have_them_alone(tmp_path, make_row):
    part = {"by": "activity", "decile": 3, "fewest": 4, "most": 6, "members": 2, "tested": 5,
            "slice_rmse": 0.75, "privacy_cost": None}  # fmt: skip
    rows = [make_row(slices=(Slice(**part), Slice(**{**part, "privacy_cost": 0.25}))),
            make_row(slices=()), make_row()]  # fmt: skip
    path = tmp_path / "out.json"
    save(rows, path, ResultRow)
    assert read_rows(path) == rows
    written = json.loads(path.read_text())
    assert written[0]["slices"] == [part, {**part, "privacy_cost": 0.25}]
    assert [tuple(row) for row in written[1:]] == [(*KEYS, "slices"), KEYS]
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table["slices"].to_list() == [written[0]["slices"], [], None]
    one_a_line = table.head(1).explode("slices", empty_as_null=False).unnest("slices")
    assert one_a_line["privacy_cost"].to_list() == [None, 0.25]


def test_an_empty_list_is_a_result_file_too(tmp_path):
    save([], tmp_path / "out.json", ResultRow)
    assert read_rows(tmp_path / "out.json") == []


def test_a_slice_of_other_keys_is_refused(tmp_path, make_row):
    path = tmp_path / "out.json"
    path.write_text(json.dumps([{**make_row().to_dict(), "slices": [{"by": "age"}]}]))
    with pytest.raises(DataError, match="run the comparison again"):
        read_rows(path)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"dataset": "x"}]', "not json"])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "out.json"
    path.write_text(text)
    with pytest.raises(DataError, match="run the comparison again"):
        read_rows(path)
