"""`fit --publish` requires a minimum number of reports."""

import shutil
from pathlib import Path

import pytest

STORE = Path(__file__).parent.parent / "formats" / "0.1.0" / "rated.collector.db"


@pytest.mark.parametrize("least", [None, "305", "306", "1000"])
def test_a_model_of_fewer_reports_than_the_least_is_not_published(tmp_path, run, least):
    store, model = shutil.copy(STORE, tmp_path), tmp_path / "model"
    asked = () if least is None else ("--least", least)
    served = tmp_path / "served"
    command = ("fit", "--db", store, "--model", "bias", "--publish", served, "-o", model)
    status, _, said = run(*command, *asked)
    published = list(served.glob("*.items"))
    assert model.exists()
    if least in (None, "305"):
        assert (status, len(published)) == (0, 1)
    else:
        assert (status, published) == (1, [])
        assert "reports, got 305. The model was saved and not published" in said
