"""The scorer under LensKit's own battery, in an environment that is made once: it needs torch."""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.mark.lenskit
def test_the_scorer_passes_lenskits_battery_and_ours(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from environments import interpreter

    asked = [interpreter("lenskit"), "-m", "pytest", "-q", "-c", HERE / "battery.ini"]
    beside = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [*asked, HERE / "battery.py"]
    ran = subprocess.run(command, env=beside, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    *_, said = ran.stdout.splitlines()
    assert re.match(r"3\d passed, \d+ warnings in", said), said  # none was left out
