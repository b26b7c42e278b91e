"""What one sees: a line that says what something is, and no ratings in it."""

from dataclasses import replace

import pytest

from tacit import Catalogue, Rated, compile_channel, fit, item_model, perturb, synthetic
from tacit.models import list_model
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.scale import RatingScale

RATINGS = synthetic(100, 80, 2500)
SLOTS = synthetic(60, 50, 1500, scale="there")
CHANNEL = compile_channel("randomized-response", epsilon="1", scale="1:5:1")
REPORTS = perturb(RATINGS, Rated(CHANNEL))
MISSING = compile_channel("randomized-response", epsilon="0.5", scale="there", missing=True)


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (RATINGS, "<Ratings synthetic: 2,500 by 100 users of 80 items, scale 1:5:1>"),
        (RATINGS.user_ids, "<Vocabulary: 100 ids>"),
        (RATINGS.scale, "RatingScale.parse('1:5:1')"),
        (
            CHANNEL,
            f"<Channel: 5 levels by 5 symbols, epsilon 1 per value, {CHANNEL.id[:12]}>",
        ),
        (
            MISSING,
            f"<Channel: 1 level and missing by 2 symbols, epsilon 0.5 per slot, {MISSING.id[:12]}>",
        ),
        (
            REPORTS,
            "<Reports synthetic: 2,500 of 100 users on 80 items, plan rated, epsilon 1 per value>",
        ),
        (REPORTS.guarantee, "<Guarantee: epsilon 1 per value, trusting nobody>"),
        (NO_PRIVACY, "<Guarantee: no privacy, trusting everybody>"),
        (
            replace(REPORTS.guarantee, fails="it is not", delta="1e-6", unit="user"),
            "<Guarantee: epsilon 1 per user at delta 1e-6, claimed but not satisfied, "
            "trusting nobody>",
        ),
    ],
    ids=lambda given: type(given).__name__,
)
def test_it_is_one_line(shown, line):
    assert repr(shown) == line


def test_models_are_one_line_each():
    bias = fit("bias", REPORTS)
    assert repr(bias) == "<Fitted bias: 100 users, 80 items, 0 factors, epsilon 1 per value>"
    assert repr(item_model(bias)) == (
        "<ItemModel: 80 items, 0 factors, scale 1:5:1, epsilon 1 per value>"
    )
    lists = fit("dp-popularity", SLOTS, epsilon="3")
    promised = "epsilon 3 per user at delta 1e-6"
    assert repr(lists) == f"<FittedLists dp-popularity: 60 users, 50 items, {promised}>"
    assert repr(list_model(lists)) == f"<ListModel: 50 items, {promised}>"


def test_a_plan_says_its_channel_in_a_line():
    assert len(repr(Catalogue(MISSING, cap=3))) < 120


def test_a_scale_is_read_back_as_it_is_shown():
    for text in ("1:5:1", "0.5:5:0.5", "there"):
        scale = RatingScale.parse(text)
        assert repr(scale) == f"RatingScale.parse({text!r})"
