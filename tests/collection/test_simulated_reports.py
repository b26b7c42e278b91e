"""Reports with reproducible noise: for experiments, and refused by everything that publishes."""

from dataclasses import replace

import pytest

from tacit import fit, item_model, load, synthetic
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Rated, Sample
from tacit.collection.report_file import write_reports
from tacit.errors import RequestError
from tacit.exports.published_arrays import published
from tacit.models import list_model
from tacit.privacy.guarantee import SIMULATED
from tacit.scale import RatingScale

MADE = synthetic(60, 50, 1200)
STARS = RatingScale.parse("1:5:1")
CHANNEL = compile_channel("optimal", epsilon="1", scale=STARS)
SLOT_CHANNEL = compile_channel("optimal", epsilon="2", scale=STARS, missing=True)

SIMULATED_PLANS = [Rated(CHANNEL), Catalogue(SLOT_CHANNEL), Sample(SLOT_CHANNEL, 20)]


def rows(reports):
    """Every report as (user, item, symbol), in order."""
    columns = (reports.users, reports.items, reports.symbols)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("plan", SIMULATED_PLANS, ids=lambda plan: plan.name)
def test_a_seed_repeats_the_noise_and_voids_the_guarantee(plan):
    first, again = (perturb(MADE, plan, simulate_seed=1) for _ in range(2))
    other, secret = perturb(MADE, plan, simulate_seed=2), perturb(MADE, plan)
    assert rows(first) == rows(again)
    assert rows(first) != rows(other)
    assert rows(first) != rows(secret)
    assert first.guarantee == replace(secret.guarantee, fails=SIMULATED)
    assert "Claimed but not satisfied (its noise was drawn from a seed" in first.guarantee.sentence


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(RequestError, match="simulate_seed must be an integer of at least 0, got"):
        perturb(MADE, SIMULATED_PLANS[0], simulate_seed=seed)


@pytest.mark.parametrize("model", ["item-mean", "mf", "popularity", "ease"])
def test_nothing_that_was_simulated_is_published(model, tmp_path):
    reports = perturb(MADE, SIMULATED_PLANS[1], simulate_seed=1)
    fitted = fit(model, reports)
    fitted.save(tmp_path / "model")
    for release in (fitted, load(tmp_path / "model")):
        assert release.guarantee.fails == SIMULATED
        with pytest.raises(RequestError, match="cannot be published: its noise was drawn"):
            (item_model if model in ("item-mean", "mf") else list_model)(release)
        with pytest.raises(RequestError, match="cannot be published: its noise was drawn"):
            published(release)
    with pytest.raises(RequestError, match="A report file cannot be published: its noise"):
        write_reports(reports, tmp_path / "reports.parquet")
    assert not (tmp_path / "reports.parquet").exists()
