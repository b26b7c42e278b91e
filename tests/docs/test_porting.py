"""The page on porting the device names every file of worked examples, and what is in them."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "vectors"
PAGE = (ROOT / "docs" / "how-to" / "porting.md").read_text()
SCENARIOS = json.loads((VECTORS / "device_scenarios.json").read_text())


def test_every_file_of_examples_is_a_step():
    steps = PAGE.partition("## Order of work")[2].partition("## The scenarios")[0]
    assert set(re.findall(r"`(\w+\.json)`", steps)) == {
        each.name for each in VECTORS.glob("*.json")
    }
    assert "the sixteen files" in PAGE
    assert len(list(VECTORS.glob("*.json"))) == 16


def test_every_step_of_a_scenario_is_explained():
    table = PAGE.partition("## The scenarios")[2].partition("## Checklist")[0]
    steps = {step["do"] for scenario in SCENARIOS["scenarios"] for step in scenario["steps"]}
    first = "".join(re.findall(r"^\| (`.*?) \|", table, re.M))
    assert set(re.findall(r"`([a-z ]+)`", first)) == steps


def test_keys_of_the_files_are_those_that_are_named():
    hostile = json.loads((VECTORS / "hostile.json").read_text())
    profiles = json.loads((VECTORS / "profiles.json").read_text())[0]
    numbers = json.loads((VECTORS / "numbers.json").read_text())
    tasks = json.loads((VECTORS / "tasks.json").read_text())[0]
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert hostile.keys() | numbers.keys() <= named
    assert {"rows", "predictions", "recommended", "by_rating"} <= profiles.keys() & named
    assert {"epochs", "chosen", "people"} <= tasks.keys() & named
    assert {"secrets", "words", "bodies"} <= SCENARIOS.keys() & named
