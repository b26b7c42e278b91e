"""Everything whose promise covers presence or people: one lone rating must not show in a release.

Two crowds that differ in one rating, of an item that nobody else rated. Under a declared catalogue
and people their releases list the same items and people; without, the guarantee says that it does
not cover the lists.
"""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.collection.named_plans import plan
from tacit.collection.perturb import perturb
from tacit.collection.report_file import read_reports, write_perturbed
from tacit.crossdomain import MEMBERS
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.engines.engine import Local
from tacit.models import item_model
from tacit.readers import from_frame, synthetic
from tacit.training import names, training

PEOPLE, ITEMS = range(1, 61), range(1, 52)
PER_USER = ("dpals", "dp-covariance", "pg-mf", "shuffled-covariance", "shuffled-item-mean")
TRAININGS = [name for name in names() if name in PER_USER]
SYSTEMS = [system for system in MEMBERS if system.mode == "strict"]
GAP = ("the catalogue", "the set of people")


def neighbours(**declared):
    """The ratings of 50 items, and the same with one rating of item 51."""
    frame = synthetic(60, 50, 1200).to_polars().select("user", "item", "rating")
    one_more = frame.head(1).with_columns(item=frame["item"].head(1) * 0 + 51)
    return [from_frame(rows, scale="1:5:1", **declared) for rows in (frame, frame.vstack(one_more))]


def declared():
    return neighbours(catalogue=ITEMS, people=PEOPLE)


def test_every_training_of_the_unit_user_is_tried():
    for name in names():
        if name not in TRAININGS:
            assert training(name).guarantee("1").unit == "value", name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TRAININGS)
def test_trainings(name):
    small = {"pg-mf": {"rounds": 4}, "dpals": {"factors": 0}}.get(name, {})

    def models(crowds):
        fits = [training(name, **small).fit(r, epsilon="1", delta="1e-6") for r in crowds]
        return [item_model(fitted) for fitted in fits]

    one, other = models(declared())
    assert one.items == other.items == tuple(ITEMS)
    assert one.guarantee.uncovered == ()
    one, other = models(neighbours())
    assert len(other.items) == len(one.items) + 1
    assert one.guarantee.uncovered == GAP
    assert one.guarantee.sentence.endswith(
        "Not covered: the catalogue and the set of people, inferred from "
        "the ratings because not declared."
    )


@pytest.mark.parametrize("name", ["catalogue", "sample:20"])
def test_plans(name, tmp_path):
    channel = compile_channel(
        "randomized-response", epsilon="1", scale=declared()[0].scale, missing=True
    )
    chosen = plan(name, channel)
    one, other = (perturb(ratings, chosen) for ratings in declared())
    assert one.item_ids.ids.to_list() == other.item_ids.ids.to_list() == list(ITEMS)
    assert one.guarantee.uncovered == ()
    write_perturbed(neighbours()[0], chosen, tmp_path / "r.parquet")
    assert read_reports(tmp_path / "r.parquet").guarantee.uncovered == GAP


def test_at_the_unit_value_the_scale_alone_can_be_uncovered():
    ratings = neighbours()[0]
    channel = compile_channel("randomized-response", epsilon="1", scale=ratings.scale)
    assert perturb(ratings, plan("rated", channel)).guarantee.uncovered == ()
    frame = ratings.to_polars()
    inferred = from_frame(frame, notify=lambda sentence: None)
    assert perturb(inferred, plan("rated", channel)).guarantee.uncovered == ("the rating scale",)
    fitted = training("dp-bias").fit(inferred, epsilon="1")
    assert fitted.guarantee.uncovered == ("the rating scale",)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
@pytest.mark.parametrize("known", [True, False])
def test_cross_domain_systems(system, known):
    chance = np.random.default_rng(1)
    frame = synthetic(60, 60, 1500).to_polars().select("user", "item", "rating")
    halves = frame.filter(frame["item"] <= 30), frame.filter(frame["item"] > 30)
    lists = [range(1, 31), range(31, 61)]
    parts = [
        from_frame(
            half,
            scale="1:5:1",
            name=str(number),
            **({"catalogue": lists[number], "people": PEOPLE} if known else {}),
        )
        for number, half in enumerate(halves)
    ]
    domains = Domains.join(parts)
    trial = Holdout().hide(domains, 1, int(chance.integers(9))).trial
    told = system.predict(trial, engine=Local(), epsilon="2")
    assert told.guarantee.uncovered == (() if known else GAP)
