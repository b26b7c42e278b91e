"""Devices in blocks of people, for an engine: what each person has, and the model all downloaded.

A person's row, ratings and list come from their own cells alone, in the order of items: the digits
are the same for any blocks.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.devices.foldin import Home, fold_in
from tacit.kernels.devices.priors import prior_means
from tacit.kernels.layout import Side, even_pieces
from tacit.kernels.lists.topk import Scorer, best_lists
from tacit.kernels.predict import predict
from tacit.models.evidence.presence_features import Presence
from tacit.models.fitted import Fitted
from tacit.ratings import Codes

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
NOTHING = np.empty(0, np.float32)


class Recipe(NamedTuple):
    """How a device makes features of what its owner rated: fields of `Presence`."""

    vectors: Doubles
    centre: Doubles
    log_mean: float
    log_scale: float

    @classmethod
    def of(cls, presence: Presence) -> "Recipe":
        """What devices need of it."""
        return cls(presence.vectors, presence.centre, presence.log_mean, presence.log_scale)

    def features(self, side: Side) -> Doubles:
        """As `Presence.people`."""
        return Presence(*self, item_features=np.empty((0, 0))).people(side)


class Downloaded(NamedTuple):
    """What every device has of a model, fields as in `Fitted`. `shrinkage`: shape (items,), or
    empty, as in `Home`."""

    mu: Doubles
    items: Floats
    precision: Floats
    levels: Doubles
    sigma: float
    shrinkage: Floats
    prior_weights: Floats | None
    recipe: Recipe | None

    @classmethod
    def of(cls, fitted: Fitted) -> "Downloaded":
        """The item side that devices get."""
        model = fitted.on_devices()
        return cls(
            mu=model.mu,
            items=model.items,
            precision=model.precision,
            levels=model.levels,
            sigma=model.sigma,
            shrinkage=model.condensed.shrinkage if model.condensed else NOTHING,
            prior_weights=model.prior_weights,
            recipe=None if fitted.presence is None else Recipe.of(fitted.presence),
        )

    def own_rows(self, side: Side, ratings: Doubles) -> Iterator[Doubles]:
        """Every person's row under each draw, shape (people, 1 + K), from their own `ratings`,
        shape (n,), in the order of `side`."""
        features = self.recipe.features(side) if self.recipe else None
        for draw, mu in enumerate(self.mu):
            precision = self.precision[draw].astype(np.float64)
            prior = np.zeros((len(side.counts), len(precision)))
            if features is not None and self.prior_weights is not None:
                prior = prior_means(
                    features, self.prior_weights[draw].astype(np.float64, order="C")
                )
            levels, sigma = self.levels, self.sigma
            home = Home(
                float(mu), self.items[draw], precision, prior, levels, sigma, self.shrinkage
            )
            yield fold_in(side, ratings, home)

    def people(self, side: Side, ratings: Doubles) -> Floats:
        """The rows of all draws as a `Fitted` has them, shape (draws, people, 1 + K)."""
        return np.stack([row.astype(np.float32) for row in self.own_rows(side, ratings)])


class OwnRatings(NamedTuple):
    """What the people of a block truly rated: `start` and `items` as in a `Side`, `ratings` of the
    same cells."""

    start: Longs
    items: Codes
    ratings: Doubles

    @property
    def side(self) -> Side:
        """Their cells."""
        return Side(self.start, self.items, np.arange(len(self.items), dtype=np.int32))


class PairsAsked(NamedTuple):
    """Pairs to predict: places of people in the block, -1 for an unknown one, and items; (n,)."""

    own: OwnRatings
    users: Codes
    items: Codes


class PredictedPairs(NamedTuple):
    """Of each pair, shape (n,)."""

    ratings: Floats


class ListsAsked(NamedTuple):
    """Lists of so many items for everybody in the block."""

    own: OwnRatings
    length: int


class Listed(NamedTuple):
    """Item codes, shape (people, length)."""

    codes: Codes


def people_in_blocks(side: Side, ratings: Doubles, blocks: int) -> list[tuple[slice, OwnRatings]]:
    """All people in so many blocks of about as much work, and whose rows each has."""
    found: list[tuple[slice, OwnRatings]] = []
    for first, end in pairwise(even_pieces(side.start, blocks).tolist()):
        start = side.start[first : end + 1]
        cells = slice(start[0], start[-1])
        own = OwnRatings(start - start[0], side.other[cells], ratings[cells])
        found.append((slice(first, end), own))
    return found


def asked_in_blocks(
    blocks: list[tuple[slice, OwnRatings]], users: Codes, items: Codes
) -> list[PairsAsked]:
    """The pairs of each block; `users`: ascending, with -1 for unknown people."""
    ends = np.searchsorted(users, [people.stop for people, _ in blocks]).tolist()
    return [
        PairsAsked(own, users[first:end] - np.int32(people.start), items[first:end])
        for (people, own), (first, end) in zip(blocks, pairwise([0, *ends]), strict=True)
    ]


def predict_block(block: PairsAsked, model: Downloaded) -> PredictedPairs:
    """What the devices of a block predict."""
    people = model.people(block.own.side, block.own.ratings)
    of_items, levels = model.items, model.levels
    return PredictedPairs(
        predict(block.users, block.items, model.mu, people, of_items, levels, model.sigma)
    )


def list_block(block: ListsAsked, model: Downloaded) -> Listed:
    """The lists that the devices of a block make."""
    side, n_items = block.own.side, model.items.shape[1]
    people = model.people(side, block.own.ratings)

    def predicted(users: Codes, items: Codes) -> Floats:
        return predict(users, items, model.mu, people, model.items, model.levels, model.sigma)

    everybody = np.arange(len(side.counts), dtype=np.int32)
    scorer = every_item(predicted, everybody, n_items)
    return Listed(best_lists(scorer, side, n_items, block.length))


def every_item(predicted: Callable[[Codes, Codes], Floats], whose: Codes, n_items: int) -> Scorer:
    """What each of these people would rate every item, for a slice of them: a scorer of lists.

    `predicted(users, items)`: of pairs.
    """
    everything = np.arange(n_items, dtype=np.int32)

    def scored(some: slice) -> Floats:
        people = whose[some]
        users, items = np.repeat(people, n_items), np.tile(everything, len(people))
        return predicted(users, items).reshape(len(people), n_items)

    return scored
