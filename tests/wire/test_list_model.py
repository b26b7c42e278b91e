"""The bytes of a list model: their layout, their limit, and what reading them costs."""

import json
import tracemalloc
from array import array
from dataclasses import replace

import numpy as np
import pytest
from list_models import drawn

from tacit.errors import DataError, RequestError
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import MOST_BYTES, ItemNeighbours, ListModel, LowRank

SHAPES = [(1, 0, 0), (1, 1, 1), (7, 3, 0), (7, 0, 2), (7, 0, 7), (7, 3, 6), (7, 9, 7)]


def popular(n: int) -> ListModel:
    """A model of popularity alone, 0 for every item."""
    return ListModel(tuple(range(n)), array("f", bytes(4 * n)), NO_PRIVACY)


def flat(n: int, factors: int) -> ListModel:
    """A model of one number, whose size is what counts."""
    singles = array("f", bytes(4 * n))
    low = LowRank(singles, singles, array("f", bytes(4 * factors)), bytes(2 * n * factors))
    return replace(popular(n), low_rank=low)


@pytest.mark.parametrize(("n", "factors", "neighbours"), SHAPES)
def test_a_model_survives_the_trip(n, factors, neighbours):
    model = drawn(n, factors, neighbours).model
    assert ListModel.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize(("n", "factors", "neighbours"), SHAPES)
def test_the_block_is_what_the_page_on_the_wire_says(n, factors, neighbours):
    """Read by numpy, from the layout that is written down."""
    model = drawn(n, factors, neighbours).model
    data = model.to_bytes()
    assert data[:19] == b"tacit-list-model-1\n"
    end = 23 + int.from_bytes(data[19:23], "little")
    header = json.loads(data[23:end])
    assert {key: header[key] for key in ("items", "factors", "neighbours")} == {
        "items": list(range(100, 100 + n)),
        "factors": factors,
        "neighbours": neighbours,
    }
    listed = neighbours < n
    layout = [("popularity", "<f4", n)]
    if factors:
        layout += [("own_scale", "<f4", n), ("score_scale", "<f4", n)]
        layout += [("spectrum", "<f4", factors), ("vectors", "<f2", n * factors)]
    layout += [("places", "<u2", n * neighbours * listed), ("weights", "<f2", n * neighbours)]
    held = vars(model).copy()
    for part in filter(None, (model.low_rank, model.neighbours)):
        held |= vars(part)
    for name, kind, count in layout:
        part = np.frombuffer(data, kind, count, offset=end)
        end += part.nbytes
        if count:
            assert part.tobytes() == memoryview(held[name]).tobytes(), name
    assert end == len(data)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "size"), [(65_536, 2), (65_537, 4)])
def test_a_place_has_two_bytes_as_long_as_they_suffice(n, size):
    last = (n - 1).to_bytes(size, "little") * n
    halves = np.ones(n, "<f2").tobytes()
    model = replace(popular(n), neighbours=ItemNeighbours(1, last, halves))
    back = ListModel.from_bytes(model.to_bytes())
    assert back.weights_of(0) == ((n - 1,), (1.0,))
    wrong = replace(popular(n), neighbours=ItemNeighbours(1, last + last, halves))
    with pytest.raises(RequestError, match=rf"1 neighbours per item require .*{n * size}"):
        wrong.to_bytes()


def test_what_is_too_large_is_neither_written_nor_read():
    assert len(flat(16_000, 1024).to_bytes()) < MOST_BYTES
    with pytest.raises(RequestError, match=r"has 33,[\d,]+ bytes, more than 33,554,432; use fewer"):
        flat(16_400, 1024).to_bytes()
    whole = popular(3).to_bytes()
    with pytest.raises(DataError, match="longer than its header declares"):
        ListModel.from_bytes(whole.ljust(MOST_BYTES, b"\0"))
    with pytest.raises(DataError, match=r"33,554,433 bytes is larger than 33,554,432"):
        ListModel.from_bytes(whole.ljust(MOST_BYTES + 1, b"\0"))


def test_what_a_device_would_refuse_is_not_published():
    good = drawn(7, 3, 2).model
    low, near = good.low_rank, good.neighbours
    assert low is not None
    assert near is not None
    infinite = np.full((7, 3), np.inf).astype("<f2").tobytes()
    for wrong in (
        replace(good, popularity=array("f", [float("nan")] * 7)),
        replace(good, low_rank=replace(low, spectrum=array("f", [1, 2, 1e39]))),
        replace(good, low_rank=replace(low, vectors=infinite)),
        replace(good, neighbours=replace(near, places=bytes(28))),
        replace(good, neighbours=replace(near, places=bytes([0, 0, 7, 0] * 7))),  # 7 is beyond
        replace(good, items=(*range(6), 0)),
        flat(3, 1025),
    ):
        with pytest.raises(DataError):
            wrong.to_bytes()


@pytest.mark.parametrize("name", ["own_scale", "score_scale", "spectrum", "vectors"])
def test_an_array_of_another_length_is_named_in_bytes(name):
    good = drawn(7, 3, 2).model
    low = good.low_rank
    assert low is not None
    longer = {name: getattr(low, name) * 2}
    with pytest.raises(RequestError, match=r"7 items with . factors and 2 neighbours per item req"):
        replace(good, low_rank=replace(low, **longer)).to_bytes()


def test_a_dense_model_is_not_decoded_when_it_is_read():
    """27 MB of halves come to some 3 MB for what stands around them."""
    n = 3_706
    dense = replace(popular(n), neighbours=ItemNeighbours(n, b"", bytes(2 * n * n)))
    data = dense.to_bytes()
    tracemalloc.start()
    try:
        model = ListModel.from_bytes(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(data) > 27_000_000
    assert most < 4_000_000
    assert model.weights_of(9)[0] == range(n)
    with pytest.raises(DataError, match="infinite or NaN"):
        ListModel.from_bytes(data[:-1] + b"\x7c")
