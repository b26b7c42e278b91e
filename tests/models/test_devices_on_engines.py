"""Simulated devices on engines: the digits of one process, in any blocks and on any machine."""

from dataclasses import replace

import numpy as np
import pytest

from tacit import fit
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.models.simulated_devices import Listed, PredictedPairs, device_predict
from tacit.models.top_n import rating_model_lists
from tacit.readers import synthetic

MADE = synthetic(90, 60, 2000)
OWN = MADE.where((MADE.users >= 10) & (np.arange(len(MADE)) % 3 > 0))
TEST = MADE.where(np.arange(len(MADE)) % 3 == 0)
SETTINGS = {
    "item-mean": {},
    "mf": {"ridge": 10.0, "sweeps": 2},
    "channel-mf": {"draws": 3, "burn_in": 4},
}
"""A linear link with nothing to solve but a bias, one with factors, and what devices get of a whole
chain: another link, condensed draws, priors by features and shrinkage."""


@pytest.fixture(scope="module", params=SETTINGS)
def fitted(request: pytest.FixtureRequest) -> Fitted:
    return fit(request.param, OWN, **SETTINGS[request.param])


def every_draw(fitted: Fitted) -> Fitted:
    """The model whose devices get all draws, where it has several."""
    return replace(fitted, condensed=None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", [lambda fitted: fitted, every_draw])
def test_devices_predict_the_same_on_any_engine(fitted, form, engine):
    """Of pairs in any order, with some twice and some of nobody known; ten people have nothing."""
    order = np.random.default_rng(3).integers(0, len(TEST), 2 * len(TEST))
    users, items = TEST.users[order], TEST.items[order]
    users[::50] = -1
    alone = device_predict(form(fitted), OWN, users, items)
    assert device_predict(form(fitted), OWN, users, items, engine).tobytes() == alone.tobytes()
    assert len(np.unique(alone)) > 20


def test_devices_make_the_same_lists_on_any_engine(fitted, engine):
    alone = rating_model_lists(fitted, OWN, 7)
    assert np.array_equal(rating_model_lists(fitted, OWN, 7, engine=engine), alone)
    assert (alone[:10] == -1).all()
    assert (alone[10:] >= 0).all()


@pytest.mark.sampled(3)
def test_more_blocks_than_people_and_people_without_anything_change_nothing(fitted):
    few = OWN.where(OWN.users < 12)
    alone = device_predict(fitted, few, TEST.users, TEST.items)
    found = device_predict(fitted, few, TEST.users, TEST.items, Local(200))
    assert found.tobytes() == alone.tobytes()
    assert np.array_equal(rating_model_lists(fitted, few, 7, engine=Local(200)),
                          rating_model_lists(fitted, few, 7))  # fmt: skip


def test_nobody_asked_is_nothing_predicted(fitted):
    nobody = np.empty(0, np.int32)
    assert len(device_predict(fitted, OWN, nobody, nobody, Local(3))) == 0


class Mixing(Local):
    """An engine that gives the people of a block each other's results."""

    def over(self, kernel, blocks, shared):
        found = super().over(kernel, blocks, shared)
        kinds = {PredictedPairs: "ratings", Listed: "codes"}
        return [type(each)(np.roll(getattr(each, kinds[type(each)]), 1, 0)) for each in found]


class Swapping(Local):
    """An engine that solves the people of a block from each other's ratings."""

    def over(self, kernel, blocks, shared):
        mixed = [
            each._replace(own=each.own._replace(ratings=each.own.ratings[::-1].copy()))
            for each in blocks
        ]
        return super().over(kernel, mixed, shared)


@pytest.mark.parametrize("fault", [Mixing, Swapping])
@pytest.mark.parametrize("name", ["mf", "channel-mf"])
def test_rows_of_a_block_that_are_mixed_up_are_noticed(fault, name):
    """The faults that the tests above are there for."""
    fitted = fit(name, OWN, **SETTINGS[name])
    asked = fitted, OWN, TEST.users, TEST.items
    assert device_predict(*asked, fault(2)).tobytes() != device_predict(*asked).tobytes()
    mixed = rating_model_lists(fitted, OWN, 7, engine=fault(2))
    assert not np.array_equal(mixed, rating_model_lists(fitted, OWN, 7))


def test_what_is_no_model_and_no_ratings_is_refused_there_too(fitted):
    lists = fit("popularity", MADE)
    pairs = TEST.users, TEST.items, Local(2)
    with pytest.raises(RequestError, match="Expected a rating model"):
        device_predict(lists, OWN, *pairs)
    with pytest.raises(RequestError, match="Expected `Ratings`"):
        device_predict(fitted, OWN.to_polars(), *pairs)
    with pytest.raises(RequestError, match="must be an integer of at least 1"):
        rating_model_lists(fitted, OWN, 0, engine=Local(2))
