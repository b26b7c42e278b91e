"""`tacit.compare`: what the command line does, from Python, on whatever ratings are in."""

# Sentences stand on a line each, as they are said.
# ruff: noqa: E501

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit import as_ratings, compare, compile_channel, fit, perturb, synthetic
from tacit.collection.plans import Rated
from tacit.engines.engine import Local
from tacit.errors import TacitError
from tacit.models import MF, Baseline

pytestmark = pytest.mark.usefixtures("blank_pictures")

MADE = synthetic(60, 50, 1200)
FRAME = MADE.to_polars().select("user", "item", "rating")
COLUMNS = tuple(column.to_numpy() for column in FRAME)
CHANNEL = compile_channel("randomized-response", epsilon=1, scale="1:5:1")
CHANCE = ("fit_seconds", "predict_seconds")


@pytest.fixture(scope="module")
def found():
    """A comparison small enough to look at."""
    return compare(FRAME, models="bias,mf", epsilons=[0.5, 1], scale="1:5:1")


def test_rows_are_those_of_the_command_line(run, tmp_path):
    data, out = tmp_path / "frame.csv", tmp_path / "out.json"
    FRAME.write_csv(data)
    words = ("--channel", "identity", "--model", "bias,mf", "--epsilon", "1", "--seeds", 2)
    status, printed, _ = run("compare", data, *words, "--scale", "1:5:1", "--json", out)
    assert status == 0
    same = compare(data, channels="identity", models=["bias", "mf"], epsilons=1, seeds=2,
                   scale="1:5:1", path=tmp_path / "python.json")  # fmt: skip
    theirs = pl.DataFrame(json.loads(out.read_text()), infer_schema_length=None).drop(CHANCE)
    assert same.frame.drop(CHANCE).rows() == theirs.select(same.frame.drop(CHANCE).columns).rows()
    assert str(same) + "\n" == printed
    written = json.loads((tmp_path / "python.json").read_text())
    assert len(written) == len(same)
    assert not list(tmp_path.glob("*.journal"))


class Counting(Local):
    """An engine that says how often it was asked."""

    asked = 0

    def over(self, kernel, blocks, shared):
        Counting.asked += len(blocks)
        return super().over(kernel, blocks, shared)


@pytest.mark.sampled(3)
def test_devices_on_an_engine_change_no_figure(engine):
    """Of ratings and lists, each fold, beside floors and slices; by objects as by names."""
    request = {"channels": "identity", "models": ["bias", MF(factors=2)], "epsilons": 1}
    request |= {"folds": 2, "slices": True}
    here, there = compare(MADE, **request), compare(MADE, **request, engine=engine)
    assert there.frame.drop(CHANCE).rows() == here.frame.drop(CHANCE).rows()


def test_it_is_the_engine_that_predicts_and_makes_lists():
    """Two blocks for ratings and two for lists; what a provider predicts stays here."""
    compare(MADE, channels="identity", models="mf", epsilons=1, engine=Counting(2))
    assert Counting.asked == 2 + 2


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        FRAME.lazy(),
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        COLUMNS,
        MADE,
        dict(FRAME.to_dict()),
    ],
    ids=lambda given: type(given).__name__,
)
def test_whatever_ratings_are_in_they_are_the_same(given):
    scale = None if given is MADE else "1:5:1"
    same = as_ratings(given, scale=scale)
    assert same.to_polars().select("user", "item", "rating").equals(FRAME)
    assert len(perturb(given, Rated(CHANNEL))) == len(MADE)


def test_models_trainings_and_channels_take_them_too():
    codes = np.array([0, 1], np.int32)
    expected = fit("bias", MADE).predict_codes(codes, codes)
    assert fit("bias", FRAME.to_pandas()).predict_codes(codes, codes).tolist() == expected.tolist()
    assert fit("dp-bias", COLUMNS, epsilon=2.0).guarantee.epsilon == "2"
    for wide in (
        fit("bias", FRAME, scale="0:9:1"),
        fit("dp-bias", FRAME, epsilon=2, scale="0:9:1"),
    ):
        assert str(wide.scale) == "0:9:1"
    assert str(fit("bias", perturb(FRAME, Rated(CHANNEL)), scale="1:5:1").scale) == "1:5:1"
    assert compile_channel("duchi", epsilon=0.1, scale="1:5:1").epsilon == "0.1"


def test_a_comparison_goes_on_where_it_stopped(tmp_path, monkeypatch):
    from tacit.experiments.comparison.measurement import Measurement

    measured, whole = [], Measurement.__call__

    def interrupted(self, cell):
        if len(measured) == 3:
            raise KeyboardInterrupt
        measured.append(cell.key)
        return whole(self, cell)

    request = {"models": "bias", "epsilons": [1, 2], "path": tmp_path / "out.json"}
    monkeypatch.setattr(Measurement, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(MADE, **request)
    again = []
    monkeypatch.setattr(
        Measurement, "__call__", lambda self, e: (again.append(e.key), whole(self, e))[1]
    )
    done = compare(MADE, **request)
    assert not set(measured) & set(again)
    assert len(measured) + len(again) == len(done.request.cells(MADE))


def test_objects_stand_beside_names():
    settings = MF(factors=2)
    done = compare(MADE, channels=["auto", CHANNEL], models=["bias", settings], epsilons=[1, 2])
    named = f"table {CHANNEL.id[:12]}"
    own = done.frame.filter(channel=named)
    assert set(own["channel_id"]) == {CHANNEL.id}
    assert set(own["epsilon"]) == {1.0}
    assert set(done.frame.filter(channel="auto")["epsilon"]) == {1.0, 2.0}
    assert {"bias", "mf with factors=2"} < set(done.frame["model"])


def test_a_result_is_a_frame_a_figure_and_a_page(found, tmp_path):
    assert found.frame.height == len(found) == len(found.to_pandas())
    assert isinstance(found.to_pandas(), pd.DataFrame)
    titles = [axes.get_title(loc="left") for axes in found.figure().axes if axes.get_visible()]
    assert titles == ["bias", "mf"]
    page = found.report(tmp_path / "report.html")
    assert "Reports of one device" in page.read_text()
    assert any("Epsilon = 0.5 or 1 per value" in each for each in found.promises)


KINDS = (
    "a path, a polars or pandas frame, an Arrow table, a tuple of arrays (user, item, rating), a "
    "sparse matrix, or Ratings"
)
ODD = FRAME.rename({"user": "who"})
WRONG = [
    (3, {}, f"data must be {KINDS}, got int."),
    (None, {}, f"data must be {KINDS}, got NoneType."),
    ("nowhere.csv", {}, f"The path nowhere.csv does not exist; pass {KINDS}."),
    (ODD, {}, "frame, line 1: column 'user' must be among 'who, item, rating'; name the "
     "columns, as in columns={'user': 'NAME'} of as_ratings (--columns user=NAME)."),
    (FRAME.head(0), {}, "frame contains no ratings; name a file with at least one row."),
    (([1, 2],), {}, "data must be a tuple of arrays (user, item, rating), optionally followed by "
     "a time in Unix seconds, got a tuple of 1."),
    (([1, 2], [1], [3, 4]), {}, "The columns must have the same length, got 2 of user, 1 of item, "
     "2 of rating."),
    (FRAME, {"scale": "1:4:1"}, re.compile(r"frame, row \d+: rating '5' is off the scale 1:4:1; ")),
    (FRAME, {"scale": "1-5"}, "The rating scale '1-5' is not of the form low:high:step, such as "
     "1:5:1."),
    (FRAME, {"columns": {"who": "user"}}, "The name of a column must be one of ('user', 'item', "
     "'rating', 'timestamp'), got 'who'."),
    (FRAME, {"format": "netflix"}, "format applies to files only, got netflix; leave it out."),
    (MADE, {"scale": "1:9:1"}, "data is already a Ratings object, on the scale 1:5:1; leave out scale."),
    (MADE, {"epsilons": 0}, "epsilon must be a positive decimal, as in 0.5, got 0."),
    (MADE, {"epsilons": [1, -2.5]}, "epsilon must be a positive decimal, as in 0.5, got -2.5."),
    (MADE, {"epsilons": "1,two"}, "epsilon must be a positive decimal, as in 0.5, got 'two'."),
    (MADE, {"epsilons": float("nan")}, "epsilon must be a positive decimal, as in 0.5, got nan."),
    (MADE, {"epsilons": float("inf")}, "epsilon must be a positive decimal, as in 0.5, got inf."),
    (MADE, {"epsilons": True}, "epsilon must be a positive decimal, as in 0.5, got True."),
    (MADE, {"epsilons": None}, "epsilon must be a positive decimal, as in 0.5, got None."),
    (MADE, {"epsilons": []}, "epsilon must contain at least one value, as in 0.5, 1, 3."),
    (MADE, {"channels": "otpimal"}, re.compile("channel must be one of auto, ")),
    (MADE, {"channels": 3}, "channel must be a name, an object or a list of them, got 3."),
    (MADE, {"channels": ""}, "channel must contain at least one name, such as auto."),
    (MADE, {"channels": "modified-laplace"}, re.compile("The channel modified-laplace also protects ")),
    (MADE, {"channels": CHANNEL, "epsilons": 2}, f"The channel table {CHANNEL.id[:12]} has epsilon "
     "1 per value, which is not among 2; add it to the epsilons."),
    (MADE, {"channels": CHANNEL, "epsilons": 1, "plan": "catalogue"}, "The channel table "
     f"{CHANNEL.id[:12]} does not protect presence, but the plan catalogue does; choose another channel or plan."),
    (synthetic(60, 50, 1200, scale="1:9:1"), {"channels": CHANNEL, "epsilons": 1}, "The channel table "
     f"{CHANNEL.id[:12]} is not on the scale 1:9:1; compile it for that scale."),
    (MADE, {"models": "channel-fm"}, re.compile("model must be one of ")),
    (MADE, {"models": [Baseline]}, re.compile("model must be a name, an object or a list of them, got the class ")),
    (MADE, {"models": []}, "model must contain at least one name, such as channel-mf."),
    (MADE, {"plan": "all"}, "plan must be rated, catalogue or sample:K with K slots per user, "
     "as in sample:200, got 'all'."),
    (MADE, {"plan": 7}, "plan must be a string, got 7."),
    (MADE, {"cap": 0}, "cap must be an integer of at least 1, got 0."),
    (MADE, {"cap": "3"}, "cap must be an integer, got '3'."),
    (MADE, {"folds": 2.5}, "folds must be an integer, got 2.5."),
    (MADE, {"folds": 5, "test_share": 0.1}, "folds and test_share cannot be combined; leave out one of "
     "them."),
    (MADE, {"test_share": 2}, "test_share must be between 0 and 1, got 2."),
    (MADE, {"test_share": "0.1"}, "test_share must be a number such as 0.1, got '0.1'."),
    (MADE, {"seeds": 0}, re.compile("seeds must be at least 1 and folds at least 2, got 0 seeds")),
    (MADE, {"split": "odd"}, "split must be random, time, last or column:NAME, got 'odd'."),
    (MADE, {"mode": "lax"}, "mode must be one of strict, faithful, both, got 'lax'."),
    (MADE, {"delta": 2}, "delta must be between 0 and 1, such as 1e-6, got 2."),
    (MADE, {"delta": "small"}, "delta must be a number such as 1e-6, got 'small'."),
    (MADE, {"path": "nowhere/out.json"}, "nowhere/out.json cannot be written; name a file in an "
     "existing folder."),
]  # fmt: skip


@pytest.mark.parametrize(("data", "request_", "sentence"), WRONG)
def test_each_mistake_gets_its_sentence(data, request_, sentence):
    with pytest.raises(TacitError) as raised:
        compare(data, **request_)
    said = str(raised.value)
    assert said == sentence if isinstance(sentence, str) else sentence.match(said), said


def test_the_two_questions_of_a_result_that_have_no_answer(found):
    with pytest.raises(TacitError, match="metric must be one of rmse, mae"):
        found.figure("rsme")
    with pytest.raises(TacitError, match=r"nowhere/r\.html cannot be written"):
        found.report("nowhere/r.html")


def test_an_arrow_table_of_another_shape_is_refused_in_a_sentence():
    with pytest.raises(TacitError, match="column 'item' must be among 'user'; name the columns"):
        compare(pa.table({"user": [1, 2]}))


def test_it_is_at_hand():
    assert tacit.compare is compare
