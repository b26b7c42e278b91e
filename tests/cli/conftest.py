"""Commands write reports whose pictures are tested elsewhere."""

import pytest


@pytest.fixture(autouse=True)
def blank(blank_pictures):
    """Drawing takes longer than most commands."""
