"""Figures of lists in result rows: what the maker of a list may leave out, and who is measured."""

import json
import math

import numpy as np
import polars as pl
import pytest

from tacit import compare, from_frame, synthetic
from tacit.collection.named_plans import plan_of
from tacit.collection.perturb import perturb
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.experiments import metric_columns
from tacit.experiments.comparison.comparison import Comparison
from tacit.experiments.metric_columns import cold_users, list_columns
from tacit.metrics.lists import list_figures
from tacit.models import LIST_MODELS, MODELS
from tacit.results.comparison.report import report
from tacit.results.comparison.row import ADDED, LISTS, ResultRow, read_rows
from tacit.results.comparison.tables import as_text
from tacit.results.records import save

pytestmark = pytest.mark.usefixtures("blank_pictures")

LEFT_OUT = "Top-N metrics exclude {} with a test rating but no training"


@pytest.fixture
def parts(ratings):
    """Training and test ratings; the last three users are tested and have no training rating."""
    test = np.random.default_rng(3).random(len(ratings)) < 0.3
    test |= ratings.users >= ratings.n_users - 3
    return ratings.where(~test), ratings.where(test)


def recorded(asked, lists_of=lambda own, length: np.zeros((own.n_users, length), np.int32)):
    """A lister that notes what it is given."""

    def lister(own, length):
        asked.append(own)
        return lists_of(own, length)

    return lister


def drawn(own, length):
    chance = np.random.default_rng(1)
    rows = [chance.permutation(own.n_items)[:length] for _ in range(own.n_users)]
    return np.array(rows, np.int32)


def niche(train, lists, test):
    """NDCG@20 of the quarter of users whose items are least popular, one user at a time."""
    counts = np.bincount(train.items, minlength=train.n_items)
    users = np.unique(train.users)
    popularity = [counts[train.items[train.users == user]].mean() for user in users]
    few = users[popularity <= np.quantile(popularity, 0.25)]
    each = [
        list_figures(lists[[user]], np.zeros_like(held), held, counts).ndcg
        for user in few
        if len(held := test.items[test.users == user])
    ]
    return {"niche_ndcg_at_20": pytest.approx(np.mean(each))}


def test_users_without_a_training_row_are_in_no_figure(parts):
    """All six figures are those of the other users' lists, whatever the left-out ones hold."""
    train, test = parts
    found = list_columns(recorded([], drawn), train, test, "device")
    known = test.where(test.users < train.n_users - 3)
    counts = np.bincount(train.items, minlength=train.n_items)
    rows = drawn(train, 20)[: train.n_users - 3]
    expected = list_figures(rows, known.users, known.items, counts)
    assert found == metric_columns.figure_columns(expected) | niche(train, rows, known)
    assert (cold_users(train, test), cold_users(train, known)) == (3, None)


def test_of_large_data_some_users_are_measured(parts, monkeypatch):
    train, test = parts
    monkeypatch.setattr(metric_columns, "MOST_SCORES", train.n_items * (train.n_users // 2))
    asked = []
    found = list_columns(recorded(asked, drawn), train, test, "provider")
    assert set(asked[0].users % 2) == {0}
    some = np.unique(asked[0].users)
    held = test.where(np.isin(test.users, some))
    places = np.searchsorted(some, held.users).astype(np.int32)
    counts = np.bincount(train.items, minlength=train.n_items)
    lists = drawn(train, 20)
    kept = list_figures(lists[some], places, held.items, counts,
                        counted=train.n_users - 3)  # fmt: skip
    assert found == metric_columns.figure_columns(kept) | niche(train, lists, held)


@pytest.mark.parametrize(("plan", "cap"), [("rated", 7), ("rated", None), ("catalogue", None)])
def test_a_provider_is_given_the_rows_that_were_reported(parts, plan, cap):
    """Where presence is hidden the rows say whose lists to make, and are left out of none."""
    train, test = parts
    reports = perturb(train, plan_of(plan, "randomized-response", "2", train.scale, cap))
    asked = []
    for where in ("provider", "device", "curator"):
        list_columns(recorded(asked), train, test, where, reports=reports)
    provider, *others = asked
    assert all(len(own) == len(train) for own in others)
    capped = [min(7, count) for count in np.bincount(train.users)]
    assert np.bincount(provider.users).tolist() == (
        capped if cap else np.bincount(train.users).tolist()
    )
    if plan == "rated":
        assert cells(provider) == cells(reports)


def cells(rows):
    return set(zip(rows.users.tolist(), rows.items.tolist(), strict=True))


@pytest.fixture(scope="module")
def compared():
    """Every list model, and stars, on reports that hide presence."""
    found = compare(
        synthetic(300, 100, 7000), models=["mf", *LIST_MODELS.own], epsilons=(1, 4),
        plan="catalogue", channels="randomized-response", test_share=0.2,
    )  # fmt: skip
    return found.frame


def test_a_provider_that_sees_no_presence_has_the_worse_figures(compared):
    """It recommends items that users have, and its rows are noisy: by .055 at the least."""
    private = compared.filter(pl.col("epsilon").is_not_null())
    wide = private.pivot("where", index=["model", "epsilon"], values="ndcg_at_20")
    assert set(wide["model"]) == {"mf", "popularity", "ease", "graph-filter"}
    by_presence = wide.filter(pl.col("model") != "mf")
    assert (by_presence["provider"] < by_presence["device"]).all()


def test_without_privacy_popularity_is_the_same_at_both_places(compared):
    free = compared.filter(pl.col("epsilon").is_null(), model="popularity")
    assert sorted(free["where"]) == ["device", "provider"]
    assert free.select(LISTS).n_unique() == 1
    assert compared.filter(model="random")["where"].to_list() == ["provider"]


def few_ratings():
    """40 users with ten ratings in order of time, and 20 with one."""
    made = synthetic(60, 60, 1800).to_polars().with_columns(row=pl.int_range(pl.len()).over("user"))
    kept = made.filter(pl.col("row") < pl.when(pl.col("user") <= 40).then(10).otherwise(1))
    return from_frame(kept.with_columns(timestamp="row").drop("row"), scale="1:5:1")


def test_every_model_leaves_out_the_same_users_and_rows_say_how_many(tmp_path):
    """`random` among them: all have at most a hit for each of the 40 users who are measured."""
    names = [name for name in MODELS.own if "channel" not in name]
    found = compare(few_ratings(), models=[*names, *LIST_MODELS.own], epsilons=3, split="last",
                    relevant=1)  # fmt: skip
    assert set(found.frame["cold_users"]) == {20}
    hits = 40 * np.array(found.frame["hit_rate_at_20"])
    assert hits == pytest.approx(hits.round())
    assert LEFT_OUT.format("20 users") in str(found)
    of_one = [row for row in found.rows if row.model == "bias"]
    assert LEFT_OUT.format("20 users") in report(of_one)
    save(found.rows, tmp_path / "rows.json", ResultRow)
    assert read_rows(tmp_path / "rows.json")[0].cold_users == 20
    assert json.loads((tmp_path / "rows.json").read_text())[0]["cold_users"] == 20


def test_the_notice_counts_over_splits_and_is_absent_for_none(make_row):
    rows = [make_row(cold_users=count, seed=seed) for seed, count in enumerate((3, 1, None))]
    assert LEFT_OUT.format("1 to 3 users") in as_text(rows)
    assert LEFT_OUT.format("1 user") in as_text(rows[1:])
    assert "Left out" not in as_text(rows[2:])
    assert "cold_users" not in rows[2].to_dict()


def test_popularity_does_not_stop_devices_from_running_on_an_engine():
    request = {"channels": ["auto"], "epsilons": ["1"], "engine": Local(2)}
    Comparison(models=["mf", "random", "popularity"], **request)
    with pytest.raises(RequestError, match="Devices with ease can only be simulated in this"):
        Comparison(models=["ease"], **request)


def test_without_lists_no_row_has_a_top_n_metric(parts):
    train, _ = parts
    result = compare(synthetic(60, 50, 1200), models="bias", epsilons=1, lists=False)
    rows = result.rows
    assert all(math.isnan(getattr(row, name)) for row in rows for name in (*LISTS, *ADDED))
    assert all(row.rmse > 0 for row in rows if row.model == "bias")
    assert "NDCG" not in str(result)
    with pytest.raises(RequestError, match="no metric is left for top-N models"):
        compare(train, models="popularity", epsilons=1, lists=False)
