"""Threads for tests of kernels, whose data are too small to be divided."""

from collections.abc import Callable

import pytest

from tacit import kernels


@pytest.fixture
def use_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the number of threads, whatever the work and the machine."""

    def use(threads: int) -> None:
        monkeypatch.setattr(kernels, "get_num_threads", lambda: threads)
        monkeypatch.setattr(kernels, "LEAST_WORK", 1)

    return use
