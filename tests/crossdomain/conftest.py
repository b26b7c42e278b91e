"""Every stage runs on every engine, and gives the same digits."""

from collections.abc import Iterator

import pytest

from tacit.crossdomain.engine import Engine
from tacit.crossdomain.local import Local
from tacit.crossdomain.spark import Spark

ENGINES = [
    pytest.param(1, id="one-block"),
    pytest.param(2, id="two-blocks"),
    pytest.param(7, id="seven-blocks"),
    pytest.param("local[2]", id="spark", marks=pytest.mark.spark),
]


@pytest.fixture(scope="session")
def spark() -> Iterator[Spark]:
    """One Spark for all tests: it takes ten seconds to start."""
    with Spark("local[2]", blocks=3, memory="1g") as engine:
        yield engine


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn; Spark's has the marker `spark`."""
    if isinstance(request.param, int):
        return Local(request.param)
    return request.getfixturevalue("spark")
