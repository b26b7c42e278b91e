"""The scorers under LensKit's own battery, in an environment that is made once: it needs torch."""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.mark.lenskit
@pytest.mark.parametrize(
    ("battery", "count"), [("battery.py", r"3\d"), ("list_battery.py", r"3\d")]
)
def test_a_scorer_passes_lenskits_battery_and_ours(monkeypatch, battery, count):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from environments import interpreter

    asked = [interpreter("lenskit"), "-m", "pytest", "-q", "-c", HERE / "battery.ini"]
    beside = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{HERE}"}
    command = [*asked, HERE / battery]
    ran = subprocess.run(command, env=beside, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    *_, said = ran.stdout.splitlines()
    assert re.match(rf"{count} passed, \d+ warnings? in", said), said  # none was left out
