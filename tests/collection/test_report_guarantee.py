"""The guarantee of a reports file is computed from its tables, plan and cap."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.channels import compile_channel
from tacit.collection.named_plans import plan
from tacit.collection.perturb import perturb
from tacit.collection.plan import Plan
from tacit.collection.report_file import KEY, read_reports, write_perturbed, write_reports
from tacit.errors import DataError, RequestError
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

STARS = RatingScale.parse("1:5:1")
IDS = [Vocabulary(pl.Series("id", range(size))) for size in (9, 5)]
RATINGS = Ratings(
    np.repeat(np.arange(9, dtype=np.int32), 2), np.tile(np.array([1, 4], np.int32), 9),
    np.full(18, 4, np.uint8), STARS, *IDS,
)  # fmt: skip
PLANS = ("rated", "catalogue", "sample:3")


def planned(name: str, cap: int | None) -> Plan:
    channel = compile_channel(
        "randomized-response", epsilon="3", scale=STARS, missing=name != "rated"
    )
    return plan(name, channel, cap)


def header(path):
    return json.loads(pl.read_parquet_metadata(path)[KEY])


def rewrite(path, changed):
    """Replace the header of a file, as anybody can."""
    pl.read_parquet(path).write_parquet(path, metadata={KEY: json.dumps(changed)})


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize(
    "claim",
    [
        {"epsilon": "0.01"},
        {"epsilon": "0.01", "unit": "user", "trust": "nobody"},
        {"epsilon": None, "unit": "none"},
        {"fails": "no reason"},
        {"public": [], "assumptions": []},
        {"trust": "curator", "released": "nothing"},
    ],
)
def test_guarantee_is_computed_whatever_the_header_claims(name, cap, claim, tmp_path):
    path, chosen = tmp_path / "r.parquet", planned(name, cap)
    write_perturbed(RATINGS, chosen, path)
    expected = RATINGS.qualified(chosen.guarantee)
    assert read_reports(path).guarantee == expected
    forged = header(path)
    forged["guarantee"] |= claim
    rewrite(path, forged)
    assert read_reports(path).guarantee == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("cap", [None, 2])
def test_cap_survives_the_file(name, cap, tmp_path):
    path, again = tmp_path / "r.parquet", tmp_path / "again.parquet"
    write_perturbed(RATINGS, planned(name, cap), path)
    assert header(path)["cap"] == cap
    write_reports(read_reports(path), again)
    assert read_reports(again).cap == cap
    assert read_reports(again).guarantee == read_reports(path).guarantee


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize("claimed", ["0.01", "3", "100"])
def test_file_without_a_cap_has_the_weaker_guarantee(name, cap, claimed, tmp_path):
    path, again = tmp_path / "r.parquet", tmp_path / "again.parquet"
    write_perturbed(RATINGS, planned(name, cap), path)
    old = header(path)
    del old["cap"]
    old["guarantee"]["epsilon"] = claimed
    rewrite(path, old)
    weaker = planned(name, 1).guarantee.epsilon
    assert read_reports(path).guarantee.epsilon == weaker
    write_reports(read_reports(path), again)
    assert "cap" not in header(again)
    assert read_reports(again).guarantee.epsilon == weaker


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cap", [0, -1, "2", 1.5, True, [2]])
def test_a_cap_that_is_no_count_is_refused(cap, tmp_path):
    path = tmp_path / "r.parquet"
    write_perturbed(RATINGS, planned("catalogue", 2), path)
    rewrite(path, header(path) | {"cap": cap})
    with pytest.raises(DataError, match="is damaged"):
        read_reports(path)


def test_header_can_only_weaken_the_guarantee(tmp_path):
    path = tmp_path / "r.parquet"
    write_perturbed(RATINGS, planned("catalogue", None), path)
    weakened = header(path)
    weakened["guarantee"] |= {"public": ["when"], "uncovered": ["the catalogue"]}
    rewrite(path, weakened)
    guarantee = read_reports(path).guarantee
    assert guarantee.public == (*planned("catalogue", None).guarantee.public, "when")
    assert guarantee.uncovered == ("the catalogue",)


@pytest.mark.parametrize("claim", [{"public": [1]}, {"uncovered": "the catalogue"}, {"unit": "x"}])
def test_a_header_whose_guarantee_is_malformed_is_refused(claim, tmp_path):
    path = tmp_path / "r.parquet"
    write_perturbed(RATINGS, planned("catalogue", None), path)
    malformed = header(path)
    malformed["guarantee"] |= claim
    rewrite(path, malformed)
    with pytest.raises(DataError, match=r"r\.parquet"):
        read_reports(path)


def test_reports_of_several_draws_are_not_written(tmp_path):
    """A reader would compute the epsilon of one draw."""
    reports = perturb(RATINGS, planned("catalogue", None))
    thrice = replace(reports.guarantee, epsilon="18")
    with pytest.raises(RequestError, match=r"epsilon 18 per slot.* stands for one draw"):
        write_reports(replace(reports, guarantee=thrice), tmp_path / "r.parquet")
    blocks = np.zeros(RATINGS.n_items, np.int32)
    with pytest.raises(RequestError, match="blocks of items"):
        write_reports(replace(reports, blocks=blocks), tmp_path / "r.parquet")
    assert not (tmp_path / "r.parquet").exists()
