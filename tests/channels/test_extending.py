"""The channel that the page on extending shows passes the battery that it is said to inherit."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BATTERY = (
    "tests/channels/test_certificate.py",
    "tests/channels/test_draw.py",
    "tests/channels/test_bulk_draw.py",
    "tests/channels/test_members.py",
    "tests/audit/test_audits.py",
    "tests/wire/test_channel.py",
)


@pytest.mark.long
def test_the_pages_channel_passes_the_whole_battery():
    plugin = ["-p", "page_channel", "-p", "no:xdist", "-p", "no:cacheprovider"]
    every = ["-m", "not full", "-k", "exponential or every_name or choose"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *every, *BATTERY]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed
    assert int(passed[1]) >= 40, run.stdout[-400:]
