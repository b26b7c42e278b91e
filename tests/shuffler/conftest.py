"""A shuffler of tests, on a clock that stands still."""

import pytest
from shuffling import Clock, Shuffling


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shuffling(tmp_path, clock):
    """A shuffler that is not started yet; stopped in the end."""
    folder = tmp_path / "shuffler"
    folder.mkdir()
    made = Shuffling(folder, clock)
    yield made
    made.stop()
