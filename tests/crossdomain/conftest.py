"""A small world of books and films that some people rated both of."""

import polars as pl
import pytest

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.readers import from_frame, synthetic


def two_domains():
    """Books by people 1 .. 40, films by people 21 .. 60."""
    books = synthetic(40, 60, 900, rng=0).to_polars()
    films = synthetic(40, 70, 1000, rng=1).to_polars().with_columns(user=pl.col("user") + 20)
    named = (("books", books), ("films", films))
    return Domains.join([from_frame(frame, scale="1:5:1", name=name) for name, frame in named])


@pytest.fixture(scope="session")
def domains():
    return two_domains()


@pytest.fixture(scope="session")
def hidden(domains):
    """The films of the tested hidden, all but two each."""
    return Holdout(keep=2, overlap=0.5).hide(domains, 1, seed=5)


@pytest.fixture
def trial(hidden):
    return hidden.trial
