"""An hour of uploads does not grow the memory of a collector."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "collector.py"


@pytest.mark.parametrize(
    "minutes",
    [
        pytest.param(0.05, id="a moment", marks=pytest.mark.long),
        pytest.param(60, id="an hour", marks=pytest.mark.full),
    ],
)
def test_memory_grows_by_a_tenth_at_most(minutes):
    run = subprocess.run(
        [sys.executable, SCRIPT, "--soak", str(minutes)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "met   memory at the end" in run.stdout
