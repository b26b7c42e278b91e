"""Recommendations by raw ids: to one person or to many, whatever holds the ids."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit import RequestError, fit, synthetic

STARS = synthetic(60, 50, 1200)
BIAS = fit("bias", STARS, exposure=False)
EASE = fit("ease", synthetic(60, 50, 1200, scale="there"))
TITLES = pl.DataFrame({"item": ["3", "5", "3"], "title": ["<b>", "Five", "again"]})
SILENT = "No reports from 2 of 3 users (the first is '98'); "


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "asked",
    [
        [2, 1],
        (2, 1),
        ["2", "1"],
        np.array([2, 1]),
        np.array([2, 1], object),
        pd.Series([2, 1], index=[7, 9]),
        pd.Series(["2", "1"], dtype="category"),
        pl.Series([2, 1]),
        pl.Series(["2", "1"], dtype=pl.Categorical),
        range(2, 0, -1),
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.parametrize("fitted", [BIAS, EASE], ids=["ratings", "lists"])
def test_many_get_what_each_alone_gets_in_their_order(fitted, asked):
    found = fitted.recommend(asked, 4)
    assert isinstance(found, pd.DataFrame) == isinstance(asked, pd.Series)
    found = pl.DataFrame(found)
    alone = [(id, *pair) for id in (2, 1) for pair in fitted.recommend(id, 4)]
    pairs = found.select(pl.col("user").cast(pl.Int64), "item").rows()
    assert pairs == [row[:2] for row in alone]
    assert found.to_series(2).to_list() == pytest.approx([row[2] for row in alone], rel=1e-5)
    assert found.columns == ["user", "item", "rating" if fitted is BIAS else "score"]


def test_what_is_left_out_is_left_out_for_everybody_in_whatever_it_is():
    best = [item for item, _ in BIAS.recommend(1, 2)]
    for given in (best, np.array(best), pd.Series(best), pl.Series(best)):
        assert not set(BIAS.recommend([1, 2], 9, exclude=given)["item"]) & set(best)


@pytest.mark.parametrize("titles", [TITLES, TITLES.to_pandas()], ids=["polars", "pandas"])
def test_titles_stand_beside_items_that_have_one(titles):
    found = BIAS.recommend([1, 2], 50, titles=titles)
    assert found.columns == ["user", "item", "title", "rating"]
    assert found.drop("title").equals(BIAS.recommend([1, 2], 50))
    named = found.filter(pl.col("title").is_not_null()).sort("item", "user")
    assert named.select("user", "item", "title").rows() == [
        (1, 3, "<b>"), (2, 3, "<b>"), (1, 5, "Five"), (2, 5, "Five"),
    ]  # fmt: skip


def test_titles_come_from_a_file_too(tmp_path):
    (best, _), *_ = EASE.recommend(1, 1)
    (tmp_path / "movies.csv").write_text(f"movieId,title,genres\n{best},Three,Drama\n")
    found = EASE.recommend([1], 50, titles=tmp_path / "movies.csv")
    assert found.drop_nulls()["title"].to_list() == ["Three"]


def test_who_sent_nothing_is_counted_and_said(caplog):
    said = []
    assert BIAS.recommend([98, 1, 99], 3, notify=said.append).height == 9
    assert EASE.recommend([98, 1, 99], 3, notify=said.append)["user"].to_list() == [1, 1, 1]
    assert said == [f"{SILENT}returning the average user's list.",
                    f"{SILENT}skipping them."]  # fmt: skip
    with caplog.at_level(logging.WARNING, "tacit.models"):
        assert BIAS.recommend(98) == BIAS.recommend(99)
    assert caplog.messages[0] == "No reports from user '98'; returning the average user's list."
    assert BIAS.recommend([1, 2], notify=said.append).height == 20
    assert len(said) == 2


WRONG = [
    (1.5, {}, "Ids must be a list of integers or strings, as in the ratings, got float"),
    (
        [1.5],
        {},
        "Ids must be a list of integers or strings, as in the ratings, got list of Float64",
    ),
    (None, {}, "Ids must be a list of integers or strings, as in the ratings, got NoneType"),
    ([None], {}, "Ids must be a list of integers or strings, as in the ratings, got list of Null"),
    (
        [1, None],
        {},
        "Ids must be a list of integers or strings, as in the ratings, got list of Int64",
    ),
    (True, {}, "Ids must be a list of integers or strings, as in the ratings, got list of Boolean"),
    ([1, "a"], {}, "Ids must be a list of integers or strings, as in the ratings, got list"),
    (
        [[1], [2]],
        {},
        r"Ids must be a list of integers or strings, as in the ratings, got list of List\(Int64\)",
    ),
    (
        np.array([[1, 2]]),
        {},
        r"Ids must be a list of integers or strings, as in the ratings, got ndarray of List",
    ),
    (b"12", {}, "Ids must be a list of integers or strings, as in the ratings, got bytes"),
    (1, {"exclude": "12"}, "Ids must be a list of integers or strings"),
    (1, {"n": 0}, "n must be an integer of at least 1, got 0."),
    (1, {"n": "3"}, "n must be an integer of at least 1, got '3'."),
    (1, {"n": 2.5}, "n must be an integer of at least 1, got 2.5."),
    (
        [1],
        {"titles": 3},
        "titles must be a frame with the columns item and title, or a ",
    ),
    ([1], {"titles": STARS.to_polars()}, "titles must be a frame with the "),
]


@pytest.mark.parametrize(("asked", "more", "sentence"), WRONG)
@pytest.mark.parametrize("fitted", [BIAS, EASE], ids=["ratings", "lists"])
def test_each_mistake_gets_its_sentence(fitted, asked, more, sentence):
    with pytest.raises(RequestError, match=f"^{sentence}"):
        fitted.recommend(asked, **more)


def test_nobody_known_gets_no_list_of_what_was_reported():
    with pytest.raises(RequestError, match="from user 99; choose another user"):
        EASE.recommend(99)
    with pytest.raises(RequestError, match="from any of these 2 users; choose another user"):
        EASE.recommend([98, 99])


def test_pairs_to_predict_are_ids_as_well():
    both = BIAS.predict(pd.Series([1, 2]), np.array(["3", "4"]))
    assert both.tolist() == BIAS.predict([1, 2], [3, 4]).tolist()
    for people, items in (("12", [1, 2]), ([1, 2], [1.5, 2])):
        with pytest.raises(RequestError, match="Ids must be a list"):
            BIAS.predict(people, items)
