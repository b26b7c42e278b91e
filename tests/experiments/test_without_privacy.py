"""Figures beside the row without privacy: exact, of the right row, and unknown where it is not."""

import dataclasses
import json
import math

import numpy as np
import polars as pl
import pytest

from tacit.experiments.comparison.compare import experiment
from tacit.experiments.comparison.measurement import with_baseline_columns
from tacit.experiments.experiment import Journal
from tacit.metrics.accuracy import Slice
from tacit.metrics.split import SplitProtocol
from tacit.readers import from_frame
from tacit.results.comparison.row import ResultRow


def part(by="activity", decile=1, rmse=1.0):
    known = {"fewest": 1, "most": 9, "members": 5, "tested": 7}
    return Slice(by=by, decile=decile, slice_rmse=rmse, **known)


@pytest.fixture
def device(make_row):
    """A device's row that does not know its efficiency yet; the mean has an RMSE of 1.5."""
    unknown = {"where": "device", "information_efficiency": math.nan}
    return lambda **values: make_row(**{**unknown, **values})


def efficiencies(rows):
    return [
        None if math.isnan(x := row.information_efficiency) else x
        for row in with_baseline_columns(rows)
    ]


def test_efficiency_is_the_share_of_the_distance_from_the_mean(device):
    free = device(channel="identity", rmse=0.5)
    rows = [free, *(device(rmse=rmse) for rmse in (0.75, 1.5, 1.75, 0.25))]
    assert efficiencies(rows) == [1, 0.75, 0, -0.25, 1.25]


def test_efficiency_is_beside_the_same_model_seed_and_fold(device):
    free = [
        device(channel="identity", rmse=0.5),
        device(channel="identity", rmse=1.0, seed=1),
        device(channel="identity", rmse=1.25, fold=1),
        device(channel="identity", rmse=1.375, model="other"),
    ]
    rows = [device(rmse=1.25), device(rmse=1.25, seed=1), device(rmse=1.25, fold=1),
            device(rmse=1.25, model="other")]  # fmt: skip
    assert efficiencies([*rows, *free])[:4] == [0.25, 0.5, 1, 2]


def test_efficiency_is_unknown_where_there_is_nothing_to_compare_with(device):
    provider = device(where="provider", rmse=1.0)
    free = {"channel": "identity", "rmse": 0.5}
    assert efficiencies([device(where="provider", **free), provider]) == [None, None]
    assert efficiencies([device(where="provider", **free), device()]) == [None, None]
    assert efficiencies([device(**free, model="m"), device(channel=None, model="t")])[1] is None
    for useless in (1.5, 1.75, math.nan):
        assert efficiencies([device(channel="identity", rmse=useless), device()]) == [None] * 2


def test_a_slice_costs_what_it_is_above_the_same_slice_without_privacy(make_row):
    free = make_row(
        channel="identity", slices=(part(rmse=0.5), part(decile=2), part("popularity", rmse=0.75))
    )
    row = make_row(slices=(part(rmse=0.75), part("popularity"), part(decile=9)))
    alone = make_row(model="alone", slices=(part(),))
    found = [
        [p.privacy_cost for p in made.slices] for made in with_baseline_columns([row, free, alone])
    ]
    assert found == [[0.25, 0.25, None], [0, 0, 0], [None]]
    assert with_baseline_columns([make_row()])[0].slices is None


@pytest.fixture(scope="module")
def ratings():
    """Users who rate all items alike, so that their devices predict better than the mean."""
    users, items = np.divmod(np.arange(60 * 25), 25)
    frame = pl.DataFrame({"user": users, "item": items, "rating": 1 + (users + (items < 2)) % 5})
    return from_frame(frame, scale="1:5:1", name="made")


@pytest.fixture
def request_of(ratings, compared, find):
    """Runs a comparison with two seeds, with slices or without, on a journal."""

    def run(journal, slices, **changes):
        run.measured = 0

        class Counting:
            def fit(self, data, *, rng=0):
                run.measured += 1
                if run.measured == changes.get("stop"):
                    raise KeyboardInterrupt
                return find("mean").settings.fit(data, rng=rng)

        def learner(name, mode="strict"):
            return dataclasses.replace(find(name), settings=Counting())

        comparison = compared(
            models=["mean"], epsilons=["1"], slices=slices, protocol=SplitProtocol(seeds=2),
            learner=learner,
        )  # fmt: skip
        declared = experiment(comparison, ratings)
        rows = declared.rows(journal)
        assert declared.finished(journal) == rows
        return rows

    return run


def test_a_run_that_goes_on_has_the_figures_of_one_that_was_not_stopped(request_of, tmp_path):
    """The row without privacy is in the journal, the others are not."""
    path = tmp_path / "journal"
    with pytest.raises(KeyboardInterrupt):
        request_of(Journal(path, ResultRow), True, stop=2)
    rows = request_of(Journal(path, ResultRow), True)
    assert request_of.measured == 3
    devices = [row for row in rows if row.where == "device"]
    assert [row.information_efficiency for row in devices] == pytest.approx([1, 1] * 2)
    assert [p.privacy_cost for row in devices for p in row.slices] == pytest.approx(
        [0] * sum(len(row.slices) for row in devices), abs=1e-6
    )
    mean = [row for row in rows if row.where == "provider" and row.channel == "identity"]
    assert [row.rmse for row in mean] == pytest.approx([row.rmse_of_mean for row in mean])
    assert all(math.isnan(row.information_efficiency) for row in mean)
    costs = [p.privacy_cost for row in rows if row.channel == "even" for p in row.slices]
    assert None not in costs
    assert max(costs) > 0


@pytest.mark.parametrize("first", [False, True])
def test_rows_with_slices_are_not_taken_for_rows_without(request_of, tmp_path, first):
    path = tmp_path / "journal"
    request_of(Journal(path, ResultRow), first)
    rows = request_of(Journal(path, ResultRow), not first)
    assert request_of.measured == 4
    assert all((row.slices is None) == first for row in rows)
    request_of(Journal(path, ResultRow), first)
    assert request_of.measured == 0
    assert len(path.read_text().splitlines()) == 8


def test_a_request_without_slices_is_written_as_it_always_was(ratings, compared):
    """So that no journal of an unfinished run is lost to an option that it does not use."""
    requests = [compared(slices=slices, rank_by="rating") for slices in (False, True)]
    settings = [request.cells(ratings)[0].settings for request in requests]
    assert json.loads(settings[0].split("; ", 1)[1]) == {"delta": "1e-6", "relevant": None}
    assert settings[0] != settings[1]
