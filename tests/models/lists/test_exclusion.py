"""A list leaves out what its maker knows the user to have, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from tacit import Catalogue, Rated, compile_channel, fit, perturb, synthetic
from tacit.collection.plans import Sample
from tacit.errors import RequestError
from tacit.kernels.layout import Side
from tacit.metrics.lists import list_figures
from tacit.models import LIST_MODELS, interactions
from tacit.models.lists.exclusion import exclusion
from tacit.models.top_n import rating_model_lists
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.training import LIST_TRAININGS

STARS = synthetic(60, 80, 1500, rng=3)
HIDING = {"catalogue": Catalogue, "sample": lambda channel: Sample(channel, 60)}
MAKERS = [*LIST_MODELS.own, "by rating", "by gain"]


def pairs(users, items):
    return set(zip(users.tolist(), items.tolist(), strict=True))


EVERYTHING = pairs(*np.nonzero(np.ones((STARS.n_users, STARS.n_items))))


def hidden_reports(plan, ratings=STARS):
    channel = compile_channel("randomized-response", epsilon="2", scale=ratings.scale, missing=True)
    return perturb(ratings, HIDING[plan](channel))


def shown_reports(cap=None):
    channel = compile_channel("randomized-response", epsilon="2", scale=STARS.scale)
    return perturb(STARS, Rated(channel, cap))


def lists_of(maker, data, own, where, length=12):
    """The lists of a model of the registry, or of stars alone or beside presence."""
    if maker == "by rating":
        return rating_model_lists(fit("mf", data), own, length, where=where, rank_by="rating")
    if maker == "by gain":
        return rating_model_lists(fit("mf", data), own, length, where=where, rank_by="gain")
    return LIST_MODELS[maker].fit(interactions(data)).lists(own, length, where=where)


def listed(lists):
    users, places = np.nonzero(lists >= 0)
    return pairs(users, lists[users, places])


def other_presence():
    """Ratings of the same users on none of the items that they rated in `STARS`."""
    table = np.ones((STARS.n_users, STARS.n_items))
    table[STARS.users, STARS.items] = 0
    users, items = (codes.astype(np.int32) for codes in np.nonzero(table))
    return replace(STARS, users=users, items=items, levels=np.zeros(len(users), np.uint8))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("plan", HIDING)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_provider_s_lists_do_not_depend_on_hidden_presence(maker, plan):
    """The same reports with other true ratings, disjoint from the first, give the same lists."""
    reports = hidden_reports(plan)
    lists = lists_of(maker, reports, STARS, "provider")
    assert (lists == lists_of(maker, reports, other_presence(), "provider")).all()
    assert (lists >= 0).all()
    assert len(listed(lists) & pairs(STARS.users, STARS.items)) > 0.1 * lists.size


@pytest.mark.sampled(3)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_device_leaves_out_its_owner_s_items(maker):
    lists = lists_of(maker, hidden_reports("catalogue"), STARS, "device", STARS.n_items)
    assert listed(lists) == EVERYTHING - pairs(STARS.users, STARS.items)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_provider_leaves_out_reported_items_where_presence_is_public(maker):
    reports = shown_reports(cap=6)
    own = STARS.where(np.isin(key(STARS), key(reports))) if maker.startswith("by") else STARS
    lists = lists_of(maker, reports, own, "provider", STARS.n_items)
    assert listed(lists) == EVERYTHING - pairs(reports.users, reports.items)
    assert len(reports) < 0.6 * len(STARS)


def key(rows):
    return rows.users * rows.n_items + rows.items


@pytest.mark.sampled(4)
@pytest.mark.parametrize("where", ["provider", "device"])
@pytest.mark.parametrize("maker", MAKERS)
def test_users_of_whom_nothing_is_known_have_no_list(maker, where):
    """The first ten users have no ratings, as reports have it and as their devices do."""
    known = STARS.where(STARS.users >= 10)
    lists = lists_of(maker, known, known, where)
    assert (lists[:10] == -1).all()
    assert (lists[10:] >= 0).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LIST_TRAININGS.own)
def test_a_curator_s_list_model_knows_nobody(name):
    fitted = LIST_TRAININGS[name].fit(STARS, epsilon="10")
    lists = fitted.lists(STARS, 5, where="provider")
    assert (lists == lists[0]).all()
    assert (fitted.lists(STARS.where(STARS.users > 0), 5)[0] == -1).all()


def test_a_curator_leaves_out_the_ratings_of_which_the_model_is_made():
    fitted = fit("mf", STARS)
    lists = rating_model_lists(fitted, STARS, STARS.n_items, where="curator")
    assert not listed(lists) & pairs(STARS.users, STARS.items)
    assert (lists == rating_model_lists(fitted, STARS, STARS.n_items, where="provider")).all()


def test_figures_of_the_provider_are_those_of_the_lists_it_recommends():
    """Users have two tastes. Of the provider's lists .085 are items that the user has, and .51
    without the correction for a slot's own report; its NDCG is .85 of a device's (deviations of 8
    fits: .002, .001 and .01)."""
    own = synthetic(600, 120, 15_000, scale="there")
    test = np.random.default_rng(0).random(len(own)) < 0.2
    train, wanted = own.where(~test), own.where(test)
    fitted = fit("ease", hidden_reports("catalogue", train))
    counts = np.bincount(train.items, minlength=train.n_items)
    provider, device = (fitted.lists(train, where=where) for where in ("provider", "device"))
    some = own.user_ids.ids[::50]
    recommended = fitted.recommend(some, 20)["item"].to_numpy().reshape(-1, 20)
    assert own.item_ids.ids.to_numpy()[provider[::50]].tolist() == recommended.tolist()
    ndcg = [list_figures(lists, wanted.users, wanted.items, counts).ndcg
            for lists in (provider, device)]  # fmt: skip
    assert 0.75 * ndcg[1] < ndcg[0] < 0.95 * ndcg[1]
    uncorrected = replace(fitted, weights=fitted.provider_weights, provider_weights=None)
    owned = [
        len(listed(lists) & pairs(train.users, train.items)) / lists.size
        for lists in (provider, uncorrected.lists(train, where="provider"))
    ]
    assert 0.05 < owned[0] < 0.3 < owned[1]


def test_another_place_is_refused():
    items = Side(np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    with pytest.raises(RequestError, match="one of provider, curator, device, got 'server'"):
        exclusion(items, NO_PRIVACY, "server")
    with pytest.raises(RequestError, match="got 'server'"):
        fit("ease", STARS).lists(STARS, where="server")


@pytest.mark.parametrize("items", [[], [999]])
def test_a_list_is_refused_to_somebody_without_an_item_of_the_model(items):
    with pytest.raises(
        RequestError, match=f"at least one item of the model, got {len(items)} unknown"
    ):
        fit("ease", STARS).recommend_to(items)
