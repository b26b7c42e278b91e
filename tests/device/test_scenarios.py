"""The Python device lives through the scenarios that the page's does, to the byte.

`tests/vectors/device_scenarios.json` states what leaves at each step, what became of it and what is
spent by then. `tests/page/scenarios.test.js` is the twin of this file.
"""

from contextlib import closing

import pytest
from scenario_device import ADDRESSES, HELD, QUIET, SPELLED, TEXT, Life, fix, lived

from tacit.privacy.ledger import nano, nats

SENDING = ("sync", "retry", "erase", "agree and sync")


def expected(step):
    if "refuses" in step or "holds" in step:
        return step.get("refuses") or step["holds"]
    given = {key: step[key] for key in QUIET if key in step}
    return QUIET | given if step["do"] in SENDING else None


def path_of(request):
    return f"/v1/tasks/{ADDRESSES[request['to']]}/{'erasures' if 'erase' in request else 'reports'}"


@pytest.mark.parametrize("scenario", HELD["scenarios"], ids=lambda one: one["name"])
def test_scenario(scenario, tmp_path, monkeypatch):
    fix(monkeypatch, HELD["secrets"])
    bodies = iter(HELD["bodies"].get(scenario["name"], []))
    given = {key: scenario[key] for key in ("store", "now") if key in scenario}
    with closing(Life(tmp_path / "me.db", **given)) as life:
        for number, step in enumerate(scenario["steps"], 1):
            assert lived(life, step) == expected(step), number
            leaves = [(path_of(request), next(bodies)) for request in step.get("sends", [])]
            assert life.provider.sent == leaves, number
            life.provider.sent.clear()
            assert "spent" not in step or life.spent() == nats(nano(step["spent"])), number


def test_the_bytes_are_those_that_the_contract_spells():
    """Run `python tests/vectors/scenarios.py` after a change of what a scenario says."""
    assert SPELLED["text"](HELD) == TEXT
