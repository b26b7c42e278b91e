"""Lists by presence at an epsilon per *slot*: of the provider, at home, and at home as exported.

    python benchmarks/list_accuracy.py DATA [--split test] [--epsilons 1,2,4,none]
        [--models popularity,ease] [--seeds 3]

Who did what in DATA, randomized response over every slot of the catalogue; NDCG@20 and Recall@20 on
what is held out (a fifth, or a published split). Lists on the device leave out what people have;
those of the provider, which does not see it, leave out nothing. *Exported* lists are by the list
model that a device downloads, of at most 32 MiB, decoded again: its numbers are halves, and of a
large catalogue it has each item's largest weights alone.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from followed import followed
from tacit import Catalogue, compile_channel, perturb, read
from tacit.metrics.lists import list_figures
from tacit.metrics.split import SplitProtocol
from tacit.models import FittedLists, list_model
from tacit.models.lists.baselines import Popularity
from tacit.models.lists.ease import EASE
from tacit.models.lists.graph_filter import GraphFilter
from tacit.models.lists.interactions import interactions
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.ratings import Ratings
from tacit.wire.binary import Bytes
from tacit.wire.list_model import ListModel

NONE = "none"
MODELS = {model.name: model for model in (EASE(), GraphFilter(), Popularity())}


@dataclass(frozen=True)
class Cell:
    """What is learnt for one row of a split."""

    model: str
    epsilon: str
    seed: int


@dataclass(frozen=True)
class Figures:
    """NDCG@20 and Recall@20."""

    ndcg: float
    recall: float


def learnt(cell: Cell, known: Ratings) -> FittedLists:
    """The model of the true interactions, or of what randomized response leaves of them."""
    if cell.epsilon == NONE:
        return MODELS[cell.model].fit(interactions(known))
    channel = compile_channel(
        "randomized-response", epsilon=cell.epsilon, scale=known.scale, missing=True
    )
    reports = perturb(known, Catalogue(channel))
    return MODELS[cell.model].fit(interactions(reports))


def exported(fitted: FittedLists) -> tuple[FittedLists, int]:
    """The model as devices decode it, and how many bytes they download."""
    data = list_model(fitted).to_bytes()
    return replace(fitted, weights=decoded(ListModel.from_bytes(data))), len(data)


def decoded(model: ListModel) -> ItemWeights:
    """All weights of a list model; a device decodes only its owner's rows."""
    n, low, near = len(model.items), model.low_rank, model.neighbours
    popularity = np.array(model.popularity, np.float32)
    directions, between = None, None
    if low is not None:
        directions = Directions(
            vectors=np.frombuffer(low.vectors, "<f2").astype(np.float32).reshape(n, -1),
            spectrum=np.array(low.spectrum, np.float32),
            left=np.array(low.own_scale, np.float32),
            right=np.array(low.score_scale, np.float32),
        )
    if near is not None:
        weights = np.frombuffer(near.weights, "<f2").astype(np.float32)
        between = weights.reshape(n, n) if near.count == n else _sparse(n, near.places, weights)
    return ItemWeights(popularity=popularity, directions=directions, between=between)


def _sparse(n: int, places: Bytes, weights: NDArray[np.float32]) -> csr_array:
    columns = np.frombuffer(places, "<u2" if n <= 1 << 16 else "<u4").astype(np.int32)
    return csr_array((weights, columns, np.arange(n + 1) * (len(columns) // n)), (n, n))


def judged(fitted: FittedLists, known: Ratings, wanted: Ratings, where: str) -> Figures:
    """How good everybody's list of 20 is."""
    counts = np.bincount(known.items, minlength=known.n_items)
    lists = fitted.lists(known, 20, where="provider" if where == "provider" else "device")
    found = list_figures(lists, wanted.users, wanted.items, counts)
    return Figures(found.ndcg, found.recall)


def rows(cell: Cell, known: Ratings, wanted: Ratings) -> Iterator[tuple[str, Figures]]:
    """The figures of each place; on the way, how large the exported model is."""
    fitted = learnt(cell, known)
    for where in ("provider", "device"):
        yield where, judged(fitted, known, wanted, where)
    published, size = exported(fitted)
    print(f"{cell.model}, {cell.epsilon}: {size / 2**20:.1f} MiB exported", flush=True)
    yield "exported", judged(published, known, wanted, "device")


def main() -> None:
    """Print a row for each model, epsilon and place: the means over the splits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a table of person and item")
    parser.add_argument("--split", metavar="NAME", help="column of a published split")
    parser.add_argument("--epsilons", default="1,2,4,none", help="nats per slot, or none")
    parser.add_argument("--models", default="popularity,ease")
    parser.add_argument("--seeds", type=int, default=3, help="splits and their noise")
    given = parser.parse_args()
    data = read(given.data, scale="there", held_out=given.split)
    split = SplitProtocol(kind=f"column:{given.split}") if given.split else SplitProtocol(share=0.2)
    cells = [
        Cell(model, epsilon, seed)
        for model in given.models.split(",")
        for epsilon in given.epsilons.split(",")
        for seed in range(given.seeds)
    ]
    found: dict[tuple[str, str, str], list[Figures]] = {}
    for cell in followed("lists", cells):
        test = split.test(data, cell.seed, None)
        known, wanted = data.where(~test), data.where(test)
        for where, figures in rows(cell, known, wanted):
            found.setdefault((cell.model, cell.epsilon, where), []).append(figures)
    print("model         epsilon  where     NDCG@20  Recall@20")
    for (model, epsilon, where), each in found.items():
        means = np.mean([(one.ndcg, one.recall) for one in each], 0)
        print(f"{model:13} {epsilon:8} {where:9} {means[0]:.4f}   {means[1]:.4f}")


if __name__ == "__main__":
    main()
