"""Evidence: symbols and what they stand for, in canonical order, in few bytes a report."""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.errors import RequestError
from tacit.kernels.layout import MOST_CELLS, by_user
from tacit.models import evidence
from tacit.readers import synthetic


@pytest.fixture(scope="module")
def ratings():
    return synthetic(60, 90, 2400, "0.5:5:0.5")


def test_each_report_keeps_the_number_that_it_stands_for(ratings):
    weak, strong = (compile_channel("optimal", epsilon=e, scale=ratings.scale) for e in ("1", "4"))
    reports = perturb(ratings, Rated((weak, strong)))
    data, order = evidence(reports), np.lexsort((reports.items, reports.users))
    assert np.array_equal(data.values, reports.values[order])
    first = reports.channel_of[order] == 0
    assert 0 < first.sum() < len(first)
    assert (data.symbols[first] < data.blocks[0].stop).all()
    assert (data.symbols[~first] >= data.blocks[1].start).all()
    assert np.array_equal(data.counts, np.bincount(data.symbols, minlength=data.blocks[1].stop))


def test_ratings_are_evidence_of_themselves(ratings):
    order = np.lexsort((ratings.items, ratings.users))
    assert np.array_equal(evidence(ratings).values, ratings.values[order])


def test_a_report_takes_seventeen_bytes(ratings):
    """Columns and canonical numbers of both sides, four bytes each, and a symbol."""
    data = evidence(ratings)
    kept = [array for side in (data.layout.users, data.layout.items) for array in side[1:]]
    assert sum(array.nbytes for array in (*kept, data.symbols)) <= 17 * len(data)


def test_more_cells_than_can_be_numbered_are_refused():
    codes = np.broadcast_to(np.int32(0), MOST_CELLS + 1)
    with pytest.raises(RequestError, match="at most 2,147,483,647 ratings or reports, got"):
        by_user(codes, codes, 1, 1)
