"""Every script of benchmarks/ once, at a size at which its figures mean nothing: it has to run."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tacit.readers import synthetic

FOLDER = Path(__file__).parents[2] / "benchmarks"
PARTIES = {
    "accuracy": ("ours", "{csv}", "0"),
    "als": ("ours", "{npz}", "1"),
    "catalogue": ("ours", "{npz}", "4"),
    "channel": ("ours", "{csv}", "optimal", "1"),
    "completion": ("ours", "{npz}"),
    "lists": ("ours", "{split}", "held", "{folder}/lists.npy"),
    "reports": ("ours", "1000"),
    "similar": ("ours", "{npz}"),
    "svdpp": ("ours", "{csv}", "0", "0"),
    "topk": ("ours", "{npz}"),
}
"""Parties of comparisons: ours alone, since the peers' environments are not made in tests."""
SCRIPTS = {
    "collector": ("--seconds", "0.2", "--rounds", "1"),
    "dawdlers": ("--connections", "9", "--seconds", "0.3"),
    "dp_ease": ("--made", "90,110,3000", "--epsilons", "300", "--sweep"),
    "shuffled": ("{frame}", "--topics", "3"),
    "shuffled_stars": ("{csv}", "--copies", "1", "9", "--messages", "10"),
    "shuffled_page": ("--visits", "1", "--slowdown", "1"),
    "dpals": ("--ml-1m", "{csv}", "--scale", "1:5:1", "--seeds", "1", "--epsilons", "3"),
    "end_to_end": ("{csv}", "--epsilons", "3", "--runs", "1", "--model", "bias"),
    "few_ratings": ("{csv}:4", "made:2", "--epsilons", "3", "--seeds", "1"),
    "fit_size": (
        "--millions", "0.004,0.008,0.016,0.032", "--in-memory", "0.004", "--items", "300",
        "--sweeps", "2", "--rows", "{folder}/sizes.json",
    ),
    "item_features": ("{csv}", "{items}", "--epsilons", "1", "--seeds", "1"),
    "list_accuracy": ("{frame}", "--seeds", "1", "--split", "test"),
    "lists_over_http": ("--people", "60", "--draws", "2", "--plan", "sample:50"),
    "map_refit": ("--users", "60", "--rounds", "1"),
    "made": ("{csv}", "{folder}/made.npz"),
    "new_items": ("{timed}", "{items}", "--slots", "60"),
    "page_tasks": ("--visits", "1", "--slowdown", "1"),
    "peers": ("--only", "accuracy,completion,lists"),
    "person_axis": (
        "small={csv}@20@1e-6@sample", "--models", "bias,dpals", "--scale", "1:5:1",
        "--rows", "{folder}/axis", "--figure", "{folder}/f.svg",
    ),
    "pg_mf_million": ("--people", "100", "--items", "100", "--ratings", "2500"),
    "poisoning": ("{csv}", "--runs", "1", "--wide", "1", "--rows", "{folder}/poisoning"),
    "read_memory": ("--rows", "3000000", "--kind", "parquet"),
    "releases": ("{frame}", "--epsilons", "300", "--releases", "2"),
    "stars_and_presence": ("--seeds", "1"),
    "sample_flood": ("--items", "20000", "--uploads", "3", "--seconds", "0.3"),
    "store_memory": ("--millions", "0.05"),
    "warm_refit": ("{frame}", "--models", "ease,mf"),
}  # fmt: skip
SPARK = {
    "shuffled_opening": ("--messages", "20000", "--items", "50"),
    "spark_cost": ("--millions", "0.01", "--shape", "300", "120", "--json", "{folder}/spark.json"),
}
BARS = (
    "collector", "dawdlers", "end_to_end", "lists_over_http", "page_tasks", "sample_flood",
    "shuffled_page",
)  # fmt: skip
"""Scripts that exit 1 when a bar is missed; at this size they well may."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Small made-up files in every form that a script takes."""
    folder = tmp_path_factory.mktemp("made")
    ratings = synthetic(120, 160, 5000)
    frame = ratings.to_polars()
    files = {"folder": folder, "csv": folder / "small.csv", "npz": folder / "small.npz"}
    frame.write_csv(files["csv"])
    columns = {"users": ratings.users, "items": ratings.items, "ratings": ratings.values}
    np.savez(files["npz"], **columns)
    files["split"] = folder / "split.npz"
    np.savez(files["split"], **columns, test=np.arange(len(ratings.users)) % 5 == 0)
    files["frame"] = folder / "split.csv"
    frame.with_columns(test=frame["item"] % 5 == 0).write_csv(files["frame"])
    files["timed"] = folder / "timed.parquet"
    hours = 3600 * np.arange(len(frame)) * 8000 // len(frame)
    frame.sort("item").with_columns(timestamp=pl.Series(hours)).write_parquet(files["timed"])
    items = [(item, f"Film {item % 9} ({1950 + item % 50})", "War|Drama") for item in range(1, 161)]
    files["items"] = folder / "films.csv"
    pl.DataFrame(items, ("item", "title", "genres"), orient="row").write_csv(files["items"])
    return files


def ran(name, arguments, files):
    given = [argument.format(**files) for argument in arguments]
    command = [sys.executable, FOLDER / f"{name}.py", *given]
    return subprocess.run(command, cwd=files["folder"], capture_output=True, text=True)


def sound(name, run):
    allowed = (0, 1) if name in BARS else (0,)
    assert run.returncode in allowed, run.stderr[-3000:]
    assert "Traceback" not in run.stderr
    assert re.search(r"[0-9]", run.stdout) or name in ("made", "peers")


def test_no_script_is_left_out():
    runnable = {path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text()}
    assert runnable == {*PARTIES, *SCRIPTS, *SPARK}


def test_the_page_names_no_script_that_is_not_there():
    named = set(re.findall(r"`(\w+\.py)", (FOLDER / "README.md").read_text()))
    assert len(named) > 10
    assert not named - {path.name for path in FOLDER.glob("*.py")}


@pytest.mark.long
@pytest.mark.parametrize("name", [*PARTIES, *SCRIPTS])
def test_it_runs(name, made):
    sound(name, ran(name, (PARTIES | SCRIPTS)[name], made))


@pytest.mark.spark
@pytest.mark.parametrize("name", SPARK)
def test_it_runs_on_spark(name, made):
    sound(name, ran(name, SPARK[name], made))


@pytest.mark.long
@pytest.mark.parametrize("name", [*SCRIPTS, *SPARK])
def test_help_is_an_answer_and_writes_nothing(name, made, tmp_path):
    command = [sys.executable, FOLDER / f"{name}.py", "--help"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if name != "made":
        assert (run.returncode, run.stdout[:6]) == (0, "usage:")
    assert list(tmp_path.iterdir()) == []
