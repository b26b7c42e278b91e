"""Fixtures that LensKit's battery takes, of synthetic ratings instead of MovieLens."""

from typing import Any

import numpy as np
import pytest
from lenskit.data import from_interactions_df


def fixtures_of(frame: Any) -> tuple[Any, ...]:
    """Return `ml_ratings`, `ml_ds`, `ml_100k` and `rng`. `frame`: ratings, a pandas frame."""

    @pytest.fixture(scope="session")
    def ml_ratings():
        return frame

    @pytest.fixture(scope="module")
    def ml_ds():
        return from_interactions_df(frame)

    @pytest.fixture
    def ml_100k():
        return frame

    @pytest.fixture
    def rng():
        return np.random.default_rng(7)

    return ml_ratings, ml_ds, ml_100k, rng
