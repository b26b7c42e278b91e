"""List models out of numpy arrays, and the matrix of item weights that they stand for."""

from array import array
from dataclasses import dataclass

import numpy as np

from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import ItemNeighbours, ListModel, LowRank


@dataclass(frozen=True)
class Drawn:
    """A model, and W in doubles, from which its bytes were made."""

    model: ListModel
    weights: np.ndarray


def drawn(n: int, factors: int, neighbours: int, seed: int = 0) -> Drawn:
    """Arrays by chance of a seed; items are the whole numbers from 100 on."""
    rng = np.random.default_rng(seed)
    W, low, near = np.zeros((n, n)), None, None
    if factors:
        V = rng.normal(size=(n, factors)).astype("<f2")
        a, b, w = (rng.normal(size=size).astype("<f4") for size in (n, n, factors))
        low = LowRank(*(array("f", each) for each in (a, b, w)), V.tobytes())
        wide = V.astype(float)
        W += a[:, None].astype(float) * (wide * w.astype(float)) @ wide.T * b.astype(float)
    if neighbours:
        columns = np.sort(rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)[:, :neighbours])
        S = rng.normal(size=(n, neighbours)).astype("<f2")
        places = columns.astype("<u2").tobytes() if neighbours < n else b""
        near = ItemNeighbours(neighbours, places, S.tobytes())
        np.add.at(W, (np.arange(n)[:, None], columns), S.astype(float))
    popularity = array("f", rng.normal(size=n))
    items = tuple(range(100, 100 + n))
    return Drawn(ListModel(items, popularity, NO_PRIVACY, low, near), W)
