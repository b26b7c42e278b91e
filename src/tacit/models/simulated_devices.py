"""Simulated devices: the fitted item side, with users folded in from their true ratings.

Simulates many devices at once for evaluation, on an engine if one is passed. On a real device the
same solver is `tacit.device.profile`, and the true ratings never leave the device.

An engine receives blocks of users, each with their local data and the downloaded model. A user's
row, ratings and list depend on the user's cells alone, in the order of items. Results are
identical for any division into blocks.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.device.profile import RankBy
from tacit.engines.engine import Engine
from tacit.errors import RequestError, must_be
from tacit.kernels import even_pieces
from tacit.kernels.foldin import Home, fold_in_rows, prior_means
from tacit.kernels.layout import Side, by_user
from tacit.kernels.predict import predict
from tacit.kernels.ranking.topk import best_lists
from tacit.models.evidence.presence_features import Presence
from tacit.models.evidence.presence_matrix import cells
from tacit.models.fitted import Fitted, Floats
from tacit.models.lists.fitted import distinguishing
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.models.ranking import every_item, expected_gain
from tacit.ratings import Codes, Ratings

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
NOTHING = np.empty(0, np.float32)


class Recipe(NamedTuple):
    """Fields of `Presence` from which a device computes features of its user's rated items."""

    vectors: Doubles
    centre: Doubles
    log_mean: float
    log_scale: float

    @classmethod
    def of(cls, presence: Presence) -> "Recipe":
        """Return the part of `presence` that devices need."""
        return cls(presence.vectors, presence.centre, presence.log_mean, presence.log_scale)

    def features(self, side: Side) -> Doubles:
        """Return the features of `Presence.people`."""
        return Presence(*self, item_features=np.empty((0, 0))).people(side)


class ExposureArrays(NamedTuple):
    """Arrays of the item weights of an exposure, fields as in `ItemWeights` and `Directions`."""

    popularity: Floats
    vectors: Floats
    spectrum: Floats

    @classmethod
    def of(cls, weights: ItemWeights) -> "ExposureArrays":
        """Return the arrays of rounded weights, whose directions have no scales."""
        one = weights.directions
        if one is None:
            return cls(
                weights.popularity, np.empty((len(weights.popularity), 0), np.float32), NOTHING
            )
        return cls(weights.popularity, one.vectors, one.spectrum)

    def scores(self, own: csr_array) -> Floats:
        """Return the exposures of all items for users with the items `own`."""
        even = np.ones(len(self.popularity), np.float32)
        directions = Directions(vectors=self.vectors, spectrum=self.spectrum, left=even, right=even)
        weights = ItemWeights(popularity=self.popularity, directions=directions)
        return distinguishing(weights.scores(own))


class Downloaded(NamedTuple):
    """The downloaded part of a model, fields as in `Fitted`.

    `shrinkage`: shape (items,), or empty, as in `Home`.
    """

    mu: Doubles
    items: Floats
    precision: Floats
    levels: Doubles
    sigma: float
    shrinkage: Floats
    prior_weights: Floats | None
    recipe: Recipe | None
    exposure: ExposureArrays | None = None

    @classmethod
    def of(cls, fitted: Fitted) -> "Downloaded":
        """Return the item side that devices download."""
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
        """Yield each draw's rows of all users, shape (users, 1 + K), folded in from `ratings`.

        `ratings`: of the users themselves, in the order of `side`, shape (n,).
        """
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
            yield fold_in_rows(side, ratings, home)

    def people(self, side: Side, ratings: Doubles) -> Floats:
        """Return the rows of all draws as in `Fitted`, shape (draws, users, 1 + K)."""
        return np.stack([row.astype(np.float32) for row in self.own_rows(side, ratings)])


class OwnRatings(NamedTuple):
    """True ratings of a block's users.

    `start`, `items`: as in a `Side`. `ratings`: of the same cells.
    """

    start: Longs
    items: Codes
    ratings: Doubles

    @property
    def side(self) -> Side:
        """Cells of the block's users."""
        return Side(self.start, self.items, np.arange(len(self.items), dtype=np.int32))


class PairRequest(NamedTuple):
    """Pairs to predict, (n,): indices of users in the block, -1 for an unknown one, and items."""

    own: OwnRatings
    users: Codes
    items: Codes


class PredictedPairs(NamedTuple):
    """Predicted ratings, shape (n,)."""

    ratings: Floats


class ListRequest(NamedTuple):
    """Request for lists of `length` items for all users of the block."""

    own: OwnRatings
    length: int


class Listed(NamedTuple):
    """Item codes, shape (users, length)."""

    codes: Codes


def people_in_blocks(side: Side, ratings: Doubles, blocks: int) -> list[tuple[slice, OwnRatings]]:
    """Divide all users into `blocks` of about equal work; return the users and ratings of each."""
    ratings_by_block: list[tuple[slice, OwnRatings]] = []
    for first, end in pairwise(even_pieces(side.start, blocks).tolist()):
        start = side.start[first : end + 1]
        cells = slice(start[0], start[-1])
        ratings_of_block = OwnRatings(start - start[0], side.other[cells], ratings[cells])
        ratings_by_block.append((slice(first, end), ratings_of_block))
    return ratings_by_block


def requests_in_blocks(
    blocks: list[tuple[slice, OwnRatings]], users: Codes, items: Codes
) -> list[PairRequest]:
    """Return the pairs of each block. `users`: ascending, -1 for unknown users."""
    ends = np.searchsorted(users, [people.stop for people, _ in blocks]).tolist()
    return [
        PairRequest(own, users[first:end] - np.int32(people.start), items[first:end])
        for (people, own), (first, end) in zip(blocks, pairwise([0, *ends]), strict=True)
    ]


def predict_block(block: PairRequest, model: Downloaded) -> PredictedPairs:
    """Predict the pairs of a block as its devices would."""
    people = model.people(block.own.side, block.own.ratings)
    of_items, levels = model.items, model.levels
    return PredictedPairs(
        predict(block.users, block.items, model.mu, people, of_items, levels, model.sigma)
    )


def list_block(block: ListRequest, model: Downloaded) -> Listed:
    """Compute the lists of a block as its devices would."""
    side, n_items = block.own.side, model.items.shape[1]
    people = model.people(side, block.own.ratings)

    def predicted(users: Codes, items: Codes) -> Floats:
        return predict(users, items, model.mu, people, model.items, model.levels, model.sigma)

    def gain(some: slice) -> Floats:
        if model.exposure is None:
            return ratings(some)
        exposures = model.exposure.scores(csr_array(own[some]))
        return expected_gain(exposures, ratings(some), model.levels)

    own = cells(side, n_items).astype(np.float32)
    everybody = np.arange(len(side.counts), dtype=np.int32)
    ratings = every_item(predicted, everybody, n_items)
    return Listed(best_lists(gain, side, n_items, block.length))


def fold_in(fitted: Fitted, ratings: Ratings) -> Fitted:
    """Return the model with every user's factors solved on the device from true `ratings`.

    Its exposure is by the users' true items.

    Users and items are matched by raw id. Raises `RequestError` if `fitted` is not a `Fitted`, or
    if `ratings` is not a `Ratings`, is on another scale, or shares no user and item with the model.
    """
    people = _downloaded(fitted).people(*_everybody(fitted, ratings))
    exposure = None if fitted.exposure is None else fitted.exposure.on_devices(ratings)
    return replace(fitted.on_devices(), people=people, exposure=exposure)


def own_rows(fitted: Fitted, own: Ratings) -> Iterator[Doubles]:
    """Yield the folded-in rows of all users, shape (users, 1 + K), for each draw.

    Raises `RequestError` as `fold_in` does.
    """
    return _downloaded(fitted).own_rows(*_everybody(fitted, own))


def device_predict(
    fitted: Fitted, own: Ratings, users: Codes, items: Codes, engine: Engine | None = None
) -> Floats:
    """Predict ratings of pairs as each user's device does, shape (n,).

    `engine`: where devices are simulated, None for this process. Results are identical on every
    engine. Raises `RequestError` as `fold_in` does.
    """
    if engine is None:
        return fold_in(fitted, own).predict_codes(users, items)
    model = _downloaded(fitted)
    order = np.argsort(users, kind="stable")
    sorted_users, sorted_items = users[order].astype(np.int32), items[order].astype(np.int32)
    blocks = people_in_blocks(*_everybody(fitted, own), engine.blocks)
    predicted = engine.over(
        predict_block, requests_in_blocks(blocks, sorted_users, sorted_items), model
    )
    ratings = np.empty(len(users), np.float32)
    ratings[order] = np.concatenate([each.ratings for each in predicted])
    return ratings


def device_lists(
    fitted: Fitted,
    own: Ratings,
    codes: Codes,
    length: int,
    engine: Engine,
    rank_by: RankBy | None = None,
) -> Codes:
    """Compute the lists of the devices of `codes`, ascending codes of users of the model.

    Shape (users, length), as in `rating_model_lists`. Ratings of other users in `own` are ignored.
    Raises `RequestError` as `fold_in` does, and for a length below 1.
    """
    model = _downloaded(fitted)._replace(exposure=_exposure_arrays(fitted, rank_by))
    known = _encoded(fitted, own)
    known = known.where(np.isin(known.users, codes))
    users = np.searchsorted(codes, known.users).astype(np.int32)
    blocks = people_in_blocks(*_grouped(fitted, known, users, len(codes)), engine.blocks)
    requests = [ListRequest(mine, length) for _, mine in blocks]
    listed = engine.over(list_block, requests, model)
    return np.concatenate([each.codes for each in listed])


def _exposure_arrays(fitted: Fitted, rank_by: RankBy | None) -> ExposureArrays | None:
    exposure = fitted.ranking_exposure(rank_by)
    return None if exposure is None else ExposureArrays.of(exposure.weights)


def _downloaded(fitted: Fitted) -> Downloaded:
    must_be(Fitted, fitted, "a rating model", "pass what `fit` returns")
    return Downloaded.of(fitted)


def _everybody(fitted: Fitted, own: Ratings) -> tuple[Side, Doubles]:
    known = _encoded(fitted, own)
    return _grouped(fitted, known, known.users, len(fitted.user_ids))


def _encoded(fitted: Fitted, ratings: Ratings) -> Ratings:
    """Return the ratings of users and items of the model, encoded with its vocabularies."""
    must_be(Ratings, ratings, "`Ratings`", "pass the ratings of the model's users")
    if str(ratings.scale) != str(fitted.scale):
        raise RequestError(
            f"{ratings.name} must be on the model's scale {fitted.scale}, got {ratings.scale}; "
            "read the ratings with that scale."
        )
    return ratings.aligned(fitted.user_ids, fitted.item_ids)


def _grouped(fitted: Fitted, own: Ratings, users: Codes, people: int) -> tuple[Side, Doubles]:
    """Return the items of each user, and the ratings in that order. `users`: row of each rating."""
    side, order = by_user(users, own.items, people, len(fitted.item_ids))
    return side, fitted.levels[own.levels[order]]
