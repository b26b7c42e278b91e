"""Items that nobody rated: what a table says of them, and of their presence."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from tacit import from_frame
from tacit.models import ChannelMF, evidence
from tacit.models.channel_mf.row_prior import RIDGES, with_expected_presence
from tacit.models.evidence.item_features import Features

PEOPLE, ITEMS, NEW = 400, 120, 20


def described(rng: np.random.Generator) -> list[Features]:
    """Two columns of a table, of three features and of one."""
    return [
        Features(rng.standard_normal((90, 3)), np.array([1.0, 2.0, 5.0])),
        Features(rng.standard_normal((90, 1)), np.ones(1)),
    ]


def naive(D: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of least generalised cross-validation, hat matrix and all."""
    tried = []
    for ridge in RIDGES:
        inverse = np.linalg.inv(D.T @ D + ridge * np.eye(D.shape[1]))
        left = np.eye(len(D)) - D @ inverse @ D.T
        tried.append(((left @ f) @ (left @ f) / np.trace(left) ** 2, inverse @ D.T @ f))
    return min(tried, key=lambda one: one[0])[1]


def test_presence_is_expected_by_ridge_regressions() -> None:
    rng = np.random.default_rng(0)
    table, told = described(rng), np.arange(90) % 4 != 0
    D = np.hstack([table[0].values / np.sqrt(table[0].order), table[1].values])
    features = D @ rng.standard_normal((4, 3)) + np.array([0.01, 1, 30]) * rng.standard_normal(
        (90, 3)
    )
    found = with_expected_presence(features, told, table)
    assert (found[told] == features[told]).all()
    expected = np.column_stack([D[~told] @ naive(D[told], f[told]) for f in features.T])
    assert np.allclose(found[~told], expected, rtol=1e-9)


@pytest.mark.parametrize("case", ["all are told of", "none is", "no table"])
def test_where_there_is_nothing_to_expect_features_stay(case: str) -> None:
    rng = np.random.default_rng(0)
    features, table = rng.standard_normal((90, 2)), described(rng)
    told = np.full(90, case != "none is")
    told[0] = case == "all are told of"
    found = with_expected_presence(features, told, [] if case == "no table" else table)
    assert found is features


def test_a_genre_that_is_liked_because_it_is_popular_is_liked_before_anybody_rated_it() -> None:
    """Ratings depend on how popular an item is; its genre says that, and nothing beside it."""
    rng = np.random.default_rng(2)
    genre = np.arange(ITEMS) % 2
    popularity = np.where(genre == 1, 0.8, 0.1) + 0.1 * rng.random(ITEMS)
    users, items = np.nonzero(rng.random((PEOPLE, ITEMS)) < popularity)
    theta = 2.5 + 1.5 * popularity[items] + 0.5 * rng.standard_normal(len(users))
    frame = pl.DataFrame({"user": users, "item": items, "rating": np.clip(np.rint(theta), 1, 5)})
    data = from_frame(frame, scale="1:5:1")
    table = pl.DataFrame({"item": range(ITEMS), "genre": [f"g{kind}" for kind in genre]})
    codes = data.item_ids.codes(table["item"])
    new = np.isin(data.items, codes[:NEW])
    fitted = ChannelMF(factors=2, directions=2, draws=8, burn_in=60, item_table=table).fit(
        evidence(data.where(~new))
    )
    people = np.zeros(NEW, np.int32)
    told = fitted.predict_codes(people, codes[:NEW].astype(np.int32))
    # 1.05 stars lie between the two genres.
    assert told[1::2].mean() - told[::2].mean() > 0.6
