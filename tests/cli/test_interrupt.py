"""Ctrl-C keeps what is finished, and the same command goes on from there."""

import json
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.readers import synthetic

SCRIPT = Path(__file__).with_name("interrupted.py")


GRID = ("--channel", "randomized-response", "--model", "m", "--epsilon", "1,2,3", "--seeds", "2")


def rows(path):
    written = json.loads(path.read_text())
    return [(row["seed"], row["epsilon"], row["where"]) for row in written]


@pytest.mark.long
def test_an_interrupted_comparison_is_resumed(tmp_path, monkeypatch, run):
    data, out, page = tmp_path / "made.csv", tmp_path / "out.json", tmp_path / "out.html"
    synthetic(40, 60, 1000).to_polars().write_csv(data)
    asked = ["compare", str(data), *GRID, "--scale", "1:5:1"]
    asked += ["--json", str(out), "--report", str(page)]

    running = subprocess.Popen(
        [sys.executable, str(SCRIPT), "3", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "waiting\n"
    running.send_signal(signal.SIGINT)
    shown, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Interrupted after 6 rows" in said
    assert "Traceback" not in said
    assert "RMSE" in shown
    first = json.loads(out.read_text())
    assert [row["seed"] for row in first] == [0] * 6
    assert not page.exists()

    never = runpy.run_path(str(SCRIPT))["learner"](15)
    monkeypatch.setattr("tacit.experiments.comparison.members.learner", never)
    status, _, said = run(*asked)
    assert status == 0, said
    assert "6 rows of an earlier run were found" in said
    assert json.loads(out.read_text())[:6] == first
    assert len(set(rows(out))) == 16
    assert page.exists()
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [
        ".csv", ".html", ".json", ".parquet", ".toml"
    ]  # fmt: skip


STREAM = """
import sys, time
from tacit import Catalogue, compile_channel, synthetic
from tacit.collection import slots
from tacit.collection.report_file import write_perturbed

def wait(people):
    print("waiting", flush=True)
    time.sleep(0.1)

slots.BLOCK = 60  # a person at a time
ratings = synthetic(200, 60, 4000)
channel = compile_channel("randomized-response", epsilon="1", scale=ratings.scale, missing=True)
write_perturbed(ratings, Catalogue(channel), sys.argv[1], wait)
"""


def test_an_interrupted_stream_leaves_no_half_of_a_file(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-c", STREAM, str(tmp_path / "slots.parquet")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "waiting\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "KeyboardInterrupt" in said
    assert list(tmp_path.iterdir()) == []
