"""What a public table of items teaches `channel-mf`, by its equations and no mistake."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import Rated, Ratings, compile_channel, fit, from_frame, perturb
from tacit.errors import RequestError
from tacit.metrics.accuracy import rmse
from tacit.models import ChannelMF, Evidence, evidence, fold_in
from tacit.models.evidence.item_features import item_features
from tacit.vocabulary import Vocabulary

PEOPLE, ITEMS, EACH, GENRES, NEW = 300, 120, 25, 4, 12
QUICK = {"factors": 5, "directions": 4, "draws": 16, "burn_in": 80}
FOUR = Vocabulary(pl.Series("id", [7, 8, 9, 10]))


def kernel(table: dict[str, object], items: Vocabulary = FOUR) -> list[NDArray[np.float64]]:
    """How items covary by each origin, as a share of its strongest direction."""
    found = item_features(pl.DataFrame(table), items)
    return [each.values / each.order @ each.values.T / len(items) for each in found]


def centred(marks: list[list[float]]) -> NDArray[np.float64]:
    """What `kernel` should be, from marks by the definition."""
    F = np.array(marks, float)
    covariance = (F - F.mean(0)) @ (F - F.mean(0)).T
    return covariance / np.linalg.eigvalsh(covariance)[-1]


GENRE_MARKS = [[1, 0], [1, 1], [1, 0], [0, 1], [0, 1], [0, 0]]
SIX = Vocabulary(pl.Series("id", list("abcdef")))


@pytest.mark.parametrize(
    "genres",
    [
        ["War|Rare", "War|Noir|Noir", "War", "Noir", "Noir", "Rare"],
        [["War"], ["War", "Noir"], ["War"], ["Noir"], ["Noir"], ["Rare"]],
        ["war rare", "War, noir!", "WAR", "Noir", "noir", "rare"],
    ],
    ids=["bars", "lists", "words"],
)
def test_items_covary_by_the_values_that_three_of_them_share(genres: list[object]) -> None:
    (found,) = kernel({"item": list("abcdef"), "genres": genres}, SIX)
    assert np.allclose(found, centred(GENRE_MARKS))


def test_a_title_ends_with_its_year_and_the_year_is_no_word() -> None:
    titles = ["A (1990)", "B(2000) ", "C (1995)", "(1995) D"]
    (years,) = kernel({"item": [7, 8, 9, 10], "title": titles})
    assert np.allclose(years[:3, :3], centred([[1990], [2000], [1995]]))
    assert np.allclose(years[3], 0)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, None, 6.0],
        [1, 2, None, 6],
        [date(1970, 1, d) if d else None for d in (2, 3, 0, 7)],
    ],
    ids=["floats", "whole", "dates"],
)
def test_a_number_is_taken_as_it_is_and_a_gap_is_the_mean(values: list[object]) -> None:
    (found,) = kernel({"item": [7, 8, 9, 10], "size": values})
    assert np.allclose(found, centred([[1], [2], [3], [6]]))


def test_rows_are_found_by_id_and_items_without_one_have_nothing() -> None:
    (found,) = kernel({"item": ["10", "8", "99", "7"], "size": [6.0, 2.0, 50.0, 1.0]})
    assert np.allclose(found, centred([[1], [2], [3], [6]]))


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e200])
def test_numbers_and_vectors_of_any_scale_covary_alike(scale: float) -> None:
    for column in ([1.0, 2.0, 3.0, 6.0], VECTORS):
        (found,) = kernel({"item": [7, 8, 9, 10], "x": (np.array(column) * scale).tolist()})
        (expected,) = kernel({"item": [7, 8, 9, 10], "x": column})
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["code", "id", "item_right"])
def test_a_column_may_have_any_name(name: str) -> None:
    (found,) = kernel({"item": [7, 8, 9, 10], name: [1, 2, 3, 6]})
    assert np.allclose(found, centred([[1], [2], [3], [6]]))


@pytest.mark.parametrize(
    "constant", [0.1, 1_700_000_000_123_457, [0.1, 0.7], "a|b", None, "film (١٣٩٩)"]
)
def test_a_constant_column_is_no_feature(constant: object) -> None:
    items = Vocabulary(pl.Series("id", np.arange(50)))
    table = pl.DataFrame({"item": items.ids, "x": [constant] * 50})
    assert item_features(table, items) == []
    if isinstance(constant, int):
        moments = table.with_columns(pl.col("x").cast(pl.Datetime("us")))
        assert item_features(moments, items) == []


def test_blanks_around_bars_are_no_part_of_a_value() -> None:
    spaced = ["War | Rare", " War|Noir |Noir", "War", "Noir", "Noir", "Rare"]
    (found,) = kernel({"item": list("abcdef"), "genres": spaced}, SIX)
    assert np.allclose(found, centred(GENRE_MARKS))


VECTORS = [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [4.0, 1.0, 0.0], [2.0, 2.0, 5.0]]


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float32, 3), pl.List(pl.Int8)])
def test_vectors_covary_as_their_inner_products(kind: pl.DataType) -> None:
    column = pl.Series([[int(n) for n in vector] for vector in VECTORS]).cast(kind)
    (found,) = item_features(pl.DataFrame({"item": [7, 8, 9, 10], "text": column}), FOUR)
    covariance = found.values / found.order @ found.values.T / 4
    np.testing.assert_allclose(covariance, centred(VECTORS), atol=1e-9)


def test_an_item_without_a_vector_has_nothing() -> None:
    (found,) = kernel({"item": [7, 8, 9, 10], "text": [*VECTORS[:3], None]})
    np.testing.assert_allclose(found[:3, :3], centred(VECTORS[:3]), atol=1e-9)
    assert not found[3].any()


def test_of_long_vectors_the_directions_of_largest_variance_are_retained() -> None:
    rng = np.random.default_rng(0)
    items = Vocabulary(pl.Series("id", np.arange(200)))
    vectors = rng.standard_normal((200, 80)) * np.linspace(3, 0.1, 80)
    (found,) = item_features(pl.DataFrame({"item": items.ids, "text": vectors}), items)
    left, spread, _ = np.linalg.svd(vectors - vectors.mean(0))
    assert found.values.shape == (200, 40)
    np.testing.assert_allclose(found.order, (spread[0] / spread[:40]) ** 2, rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(found.values.T @ left[:, :40]) / 200**0.5, np.eye(40), atol=1e-6
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"title": ["a"]}, "must have a column item and at least one other column, got title"),
        ({"item": [7]}, "at least one other column, got item"),
        ({"item": [7, 8, 7], "year": [1, 2, 3]}, "item 7 occurs twice"),
        ({"item": ["8", "7", "7"], "year": [1, 2, 3]}, "item 7 occurs twice"),
        ({"item": [70, 80], "year": [1, 2]}, r"None of the 2 items .* is 70"),
        ({"item": [7, 8], "text": [[1.0], [2.0, 3.0]]}, "must have one length, got 1 and 2"),
        ({"item": [7, 8], "text": [[1.0], [float("nan")]]}, "must contain finite numbers only"),
        ({"item": [7, 8], "text": [[1.0], [None]]}, "must contain finite numbers only"),
        ({"item": [7, 8], "price": [1.0, float("inf")]}, "must contain finite numbers only"),
        ({"item": [], "year": []}, "None of the 0 items in the item table is known;"),
        ({"item": [7, 8], "seen": [b"1", b"2"]}, "column seen of the item table has type binary"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError, match=said.replace("binary", "Binary")):
        item_features(pl.DataFrame(table), FOUR)


def test_more_than_a_device_takes_is_refused() -> None:
    rng = np.random.default_rng(0)
    items = Vocabulary(pl.Series("id", np.arange(200)))
    words = [[f"{letter}" for letter in rng.integers(0, 50, 6)] for _ in range(200)]
    table = pl.DataFrame({"item": np.arange(200), **{f"text{n}": words for n in range(23)}})
    assert sum(len(each.order) for each in item_features(table[:, :23], items)) == 22 * 40
    with pytest.raises(
        RequestError, match="The 23 columns of the item table expand to 920 features"
    ):
        item_features(table, items)


def of_genres() -> tuple[Ratings, pl.DataFrame]:
    """People like some of four genres, and every rating is of that taste; shuffled items."""
    rng = np.random.default_rng(5)
    users = np.repeat(np.arange(PEOPLE), EACH)
    items = np.concatenate([rng.choice(ITEMS, EACH, replace=False) for _ in range(PEOPLE)])
    taste = 0.8 * rng.standard_normal((PEOPLE, GENRES))
    theta = 3.2 + taste[users, items % GENRES] + 0.6 * rng.standard_normal(len(users))
    frame = pl.DataFrame({"user": users, "item": items, "rating": np.clip(np.rint(theta), 1, 5)})
    order = rng.permutation(ITEMS)
    table = pl.DataFrame({"item": order, "genre": [f"g{item % GENRES}" for item in order]})
    return from_frame(frame, scale="1:5:1"), table


def collected(ratings: Ratings) -> Evidence:
    """Reports of them that are the same every time."""
    channel = compile_channel("optimal", epsilon="2", scale="1:5:1")
    return evidence(perturb(ratings, Rated(channel), words=RepeatableWordsForTestsOnly(1)))


def test_an_item_that_nobody_rated_is_liked_by_whom_its_genre_is() -> None:
    ratings, table = of_genres()
    new = ratings.items < NEW
    own, test = ratings.where(~new), ratings.where(new)
    known, plain = (
        fold_in(ChannelMF(item_table=items, **QUICK).fit(collected(own)), own)
        for items in (table, None)
    )
    errors = [
        rmse(test.values, each.predict_codes(test.users, test.items)) for each in (known, plain)
    ]
    # The floor is .68, of half a star of noise with rounding. Of ten worlds the known genre gives
    # .78 and own means alone .98; the difference is .20 with a deviation of .04.
    assert errors[0] < errors[1] - 0.04


def test_a_table_that_says_nothing_changes_no_digit() -> None:
    ratings, table = of_genres()
    alike = table.with_columns(genre=pl.lit("g"), year=pl.lit(1999), title=pl.lit(None, pl.String))
    one, two = (
        ChannelMF(item_table=items, **QUICK).fit(collected(ratings)) for items in (alike, None)
    )
    assert one.items.tobytes() == two.items.tobytes()
    assert one.people.tobytes() == two.people.tobytes()


def test_models_that_read_no_table_refuse_one() -> None:
    ratings, table = of_genres()
    with pytest.raises(RequestError, match="bias has no setting 'item_table'"):
        fit("bias", ratings, item_table=table)


def test_a_device_knows_how_much_of_each_genre_its_owner_rated() -> None:
    ratings, table = of_genres()
    fitted = ChannelMF(item_table=table, **QUICK).fit(collected(ratings))
    assert fitted.presence is not None
    vectors = fitted.presence.vectors
    assert vectors.shape == (ITEMS, fitted.presence.item_features.shape[1] - 1 + GENRES - 1)
    ((of_table),) = item_features(table, ratings.item_ids)
    # Four genres of 30 items each are three directions.
    values, sent = of_table.values, vectors[:, 1 - GENRES :]
    assert np.allclose(sent, values * (np.ptp(sent, 0) / np.ptp(values, 0)), rtol=2e-3, atol=1e-6)
    mine = ratings.items[ratings.users == 7]
    layout = collected(ratings.where(ratings.users == 7)).layout
    known = fitted.presence.people(layout.users)[7, 1:]
    assert np.allclose(known, vectors[mine].sum(0) / (len(mine) + 10) - fitted.presence.centre)
