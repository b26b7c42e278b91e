"""Interactions of which the whole 0/1 table is known."""

import numpy as np
import pytest
from lists_world import world


@pytest.fixture(scope="module")
def table():
    """60 people, 20 items, two tastes, popular items and unpopular ones."""
    chance = np.random.default_rng(4)
    likes = np.where(chance.random((60, 1)) < 0.5, [[0.6, 0.2]], [[0.2, 0.6]]).repeat(10, axis=1)
    found = chance.random((60, 20)) < likes * np.linspace(0.5, 1.5, 20)
    found[np.arange(60), np.arange(60) % 20] = True
    return found.astype(float)


@pytest.fixture(scope="module")
def own(table):
    """The table as interactions: codes are row and column numbers."""
    return world(table)
