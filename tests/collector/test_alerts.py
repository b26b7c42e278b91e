"""The alert rules fire and clear on recorded series, by Debian's promtool."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from monitoring import rules

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = {"collector": DEPLOY / "prometheus", "shuffler": DEPLOY / "shuffler"}
UPLOADS = 'tacit_uploads_total{instance="a",answer="%s"}'
REFUSALS = 'tacit_refusals_total{instance="a",answer="%s"}'
BUCKETS = 'tacit_commit_seconds_bucket{instance="a",le="%s"}'

# For each alert: series of one value a minute, a minute in which it fires, and one in which it has
# cleared. `AxN` stays at A for N more minutes, `A+BxN` rises by B a minute.
COLLECTOR = {
    "TacitCollectorDown": ({'up{job="tacit",instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitNotReady": ({'tacit_ready{instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitCommitsFail": ({'tacit_commit_failures_total{instance="a"}': "0x5 3x30"}, 8, 20),
    "TacitCommitsSlow": (
        {BUCKETS % "1.0": "0x40 0+60x60", BUCKETS % "3.0": "0+60x100",
         BUCKETS % "+Inf": "0+60x100"}, 30, 80,
    ),
    "TacitOverloaded": ({UPLOADS % "busy": "0+60x40 2400x40"}, 30, 60),
    "TacitUploadsFail": ({UPLOADS % "failed": "0x5 1x40"}, 8, 40),
    "TacitUploadsRefused": (
        {UPLOADS % "accepted": "0+60x120", UPLOADS % "malformed": "0+30x60 1800x60"}, 50, 110,
    ),
    "TacitUnauthorized": (
        {UPLOADS % "accepted": "0+60x120", UPLOADS % "unauthorized": "0+60x60 3600x60"}, 50, 110,
    ),
    "TacitClockNotTrusted": ({'tacit_clock_trusted{instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitNoReports": (
        {'tacit_reports_total{instance="a",outcome="stored"}': "5x3000 5+1x300"}, 2900, 3100,
    ),
    "TacitModelOld": (
        {'tacit_model_published_timestamp_seconds{task="t"}': "0x3000 180000x300"}, 2990, 3100,
    ),
    "TacitRetentionLate": ({'tacit_retention_lag_seconds{task="t"}': "0x3 9000x30 0x9"}, 30, 40),
}  # fmt: skip
SHUFFLER = {
    "TacitShufflerDown": ({'up{job="tacit-shuffler",instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitShufflerNotReady": ({'tacit_ready{instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitShufflerCommitsFail": (
        {'tacit_commit_failures_total{instance="a"}': "0x5 3x30"}, 8, 20,
    ),
    "TacitShufflerBundlesFail": ({REFUSALS % "failed": "0x5 1x40"}, 8, 40),
    "TacitShufflerOverloaded": ({REFUSALS % "busy": "0+60x40 2400x40"}, 30, 60),
    "TacitShufflerUnauthorized": ({REFUSALS % "unauthorized": "0+120x60 7200x60"}, 50, 110),
    "TacitShufflerClockNotTrusted": ({'tacit_clock_trusted{instance="a"}': "1x3 0x9 1x9"}, 10, 18),
    "TacitShufflerClosingLate": (
        {'tacit_closing_lag_seconds{instance="a"}': "0x3 9000x30 0x9"}, 30, 40,
    ),
    "TacitShufflerBatchWaiting": (
        {'tacit_batch_age_seconds{instance="a"}': "0x3 700000x90 0x9"}, 80, 100,
    ),
}  # fmt: skip
CASES = {"collector": (COLLECTOR, 12), "shuffler": (SHUFFLER, 9)}

pytestmark = pytest.mark.long


@pytest.mark.parametrize("server", RULES)
def test_each_alert_fires_and_clears(server, tmp_path):
    (cases, count), deployed = CASES[server], RULES[server]
    names = [rule["alert"] for rule in rules(deployed)]
    assert sorted(names) == sorted(cases)
    assert len(names) == count
    shutil.copy(deployed / "alerts.yml", tmp_path)
    tests = []
    for name, (series, fires, cleared) in cases.items():
        (rule,) = [each for each in rules(deployed) if each["alert"] == name]
        labels = _labels(next(iter(series)), rule["expr"]) | rule["labels"]
        alert = {"exp_labels": labels, "exp_annotations": rule["annotations"]}
        tests.append(
            {
                "interval": "1m",
                "input_series": [{"series": s, "values": values} for s, values in series.items()],
                "alert_rule_test": [
                    {"eval_time": f"{fires}m", "alertname": name, "exp_alerts": [alert]},
                    {"eval_time": f"{cleared}m", "alertname": name, "exp_alerts": []},
                ],
            }
        )
    content = {"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "cases.yml").write_text(yaml.safe_dump(content))
    run = subprocess.run(
        ["promtool", "test", "rules", "cases.yml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def _labels(series, expression):
    """Return the labels that remain in the result of a rule."""
    labels = dict(re.findall(r'(\w+)="([^"]*)"', series))
    if expression.startswith("sum("):
        return {}
    if "by (instance" in expression:
        return {"instance": labels["instance"]}
    return labels


@pytest.mark.parametrize("server", RULES)
def test_configuration_is_valid(server):
    for kind, name in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
        command = ["promtool", "check", kind, RULES[server] / name]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
