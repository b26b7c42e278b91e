"""A world of attacks, from whatever somebody has ratings in."""

import numpy as np
import pytest

from tacit import DataError, Rated, RequestError, compile_channel, from_frame, synthetic
from tacit.audit.attacks.world import World

FRAME = synthetic(40, 50, 900).to_polars().select("user", "item", "rating")
MADE = from_frame(FRAME, scale="1:5:1")
PLAN = Rated(compile_channel("randomized-response", epsilon=1, scale="0:9:1"))


@pytest.fixture(params=["polars", "pandas", "arrow", "arrays", "path"])
def given(request, tmp_path):
    """The same ratings, held in each way."""
    FRAME.write_csv(tmp_path / "ratings.csv")
    kinds = {
        "polars": FRAME,
        "pandas": FRAME.to_pandas(),
        "arrow": FRAME.to_arrow(),
        "arrays": tuple(column.to_numpy() for column in FRAME),
        "path": tmp_path / "ratings.csv",
    }
    return kinds[request.param]


def test_the_people_are_the_same_on_the_scale_of_the_channel(given):
    through = World.through(given, PLAN, 0)
    assert through.ratings.to_polars().equals(FRAME)
    assert str(through.ratings.scale) == "0:9:1"
    assert through.likelihood.shape == (11, 11)


def test_without_privacy_the_scale_is_said(given):
    bare = World.unprotected(given, "rated", 0, scale="1:5:1")
    same = World.unprotected(MADE, "rated", 0)
    assert np.array_equal(bare.columns, same.columns)
    assert np.array_equal(bare.likelihood, same.likelihood)


def test_another_scale_is_refused_before_anybody_reports():
    with pytest.raises(RequestError, match="must be on the ratings' scale 1:5:1"):
        World.through(MADE, PLAN, 0)
    with pytest.raises(DataError, match="off the scale 1:4:1"):
        World.unprotected(FRAME, "rated", 0, scale="1:4:1")
