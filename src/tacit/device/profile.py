"""On-device fold-in: recommendations from a user's true ratings, which never leave the device.

Standard library only. `tacit.kernels.foldin` is the bulk implementation; a test holds both
equal to 1e-9.

On-device top-N recommendation: scores from a list model and the user's own items.

Standard library only. All sums are of doubles, in the order of item indices, so that the page's
JavaScript implementation computes identical results.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import add, mul

from tacit.device.solve import Row, expected, linear_row, ordinal_row, theta
from tacit.errors import DataError, RequestError, must_be, whole
from tacit.wire.item_model import ItemDraw, ItemModel
from tacit.wire.list_model import ListModel, LowRank

Item = int | str
NO_NUMBER = "This item model causes numeric overflow and cannot predict ratings."


def index_by_id(items: Iterable[Item]) -> dict[str, int]:
    """Return the index of each item of a model by its id as a string."""
    return {str(item): index for index, item in enumerate(items)}


def require_known(own: Collection[object], known: Collection[object]) -> None:
    """Raise `RequestError` if a non-empty profile contains no item known to the model."""
    if own and not known:
        # The message names no item: it may be logged.
        raise RequestError(
            f"None of the {len(own)} items in the profile is in the model; use the ids of the "
            "model's catalogue."
        )


class Profile:
    """One user: an item model and their true ratings, by raw item id.

    Ids are matched as strings, because JSON keys are. Items unknown to the model are ignored.
    Raises `RequestError` if `ratings` is not a mapping, contains a value off the model's scale or
    no known item, or if `model` is not an `ItemModel`, and, as do its methods, `DataError` if a
    result is not finite. `rows`: the user's row under each draw, bias first; as secret as the
    ratings.
    """

    def __init__(self, model: ItemModel, ratings: Mapping[Item, float]) -> None:
        must_be(
            ItemModel,
            model,
            "an item model",
            "pass the published model, as `item_model` returns it",
        )
        must_be(Mapping, ratings, "a mapping", "pass ratings by item id, as in {1: 5}")
        self._levels = model.scale.values
        if any(rating not in self._levels for rating in ratings.values()):
            # The message names neither rating nor item: it may be logged.
            raise RequestError(f"A rating is not on the model's scale {model.scale}.")
        self._model = model
        self._places = index_by_id(model.items)
        known = {
            self._places[str(item)]: r for item, r in ratings.items() if str(item) in self._places
        }
        require_known(ratings, known)
        # Sorted by item, so that results do not depend on the order of ratings.
        self._known = sorted(known.items())
        try:
            self.rows = [self._solve(draw) for draw in model.draws]
        except (ArithmeticError, ValueError):
            raise DataError(NO_NUMBER) from None
        if not all(math.isfinite(value) for row in self.rows for value in row):
            raise DataError(NO_NUMBER)

    def predict(self, item: Item) -> float:
        """Predict the user's rating; an unknown item gets the user's average.

        An item of a target domain with cuts gets the median level, others the mean.
        """
        index = self._places.get(str(item))
        return self._rating(index, self._mean(index))

    def gain(self, item: Item) -> float:
        """Return the position of the predicted rating on the scale, from 0 to 1."""
        low, high = self._levels[0], self._levels[-1]
        return (self.predict(item) - low) / (high - low)

    def recommend(self, n: int = 10) -> list[tuple[Item, float]]:
        """Return the n best unrated items, best first, ties in the model's item order.

        Those of the target domain alone, if the model has one. Items of the same median level are
        ordered by their means. Raises `RequestError` for an n that is not an integer of at least 0.
        """
        n = whole("n", n, 0)
        mine = {index for index, _ in self._known}
        target = self._model.target
        ranked: list[tuple[float, float, int]] = []
        for index in range(target.first if target else 0, len(self._model.items)):
            if index not in mine:
                mean = self._mean(index)
                ranked.append((-self._rating(index, mean), -mean, index))
        return [(self._model.items[index], -rating) for rating, _, index in sorted(ranked)[:n]]

    def _rating(self, index: int | None, mean: float) -> float:
        """Return the predicted rating of an item whose mean prediction is `mean`."""
        target = self._model.target
        if target is None or not target.cuts or index is None or index < target.first:
            return mean
        return self._levels[bisect_right(target.cuts, mean)]

    def _mean(self, index: int | None) -> float:
        tastes = [theta(d, x, index) for d, x in zip(self._model.draws, self.rows, strict=True)]
        if self._model.link == "cells":
            tastes = [expected(taste, self._levels, self._model.sigma) for taste in tastes]
        mean = sum(tastes) / len(tastes)
        if not math.isfinite(mean):
            raise DataError(NO_NUMBER)
        return min(max(mean, self._levels[0]), self._levels[-1])

    def _solve(self, draw: ItemDraw) -> Row:
        prior = self._prior(draw)
        if self._model.link == "linear":
            return linear_row(draw, self._known, prior)
        return ordinal_row(draw, self._known, prior, self._levels, self._model.sigma)

    def _prior(self, draw: ItemDraw) -> Row:
        features, width, weights = self._features(), 1 + self._model.factors, draw.prior_weights
        return [
            sum((f * weights[j * width + k] for j, f in enumerate(features)), 0.0)
            for k in range(width)
        ]

    def _features(self) -> Row:
        presence, n = self._model.presence, len(self._known)
        if presence is None or n == 0:
            return []
        d = len(presence.centre)
        sums = [sum(presence.vectors[index * d + j] for index, _ in self._known) for j in range(d)]
        activity = (math.log1p(n) - presence.log_mean) / presence.log_scale
        return [activity] + [
            total / (n + presence.damping) - centre
            for total, centre in zip(sums, presence.centre, strict=True)
        ]


GIVE_IDS = "pass ids, as in [3, 7]"


class ListProfile:
    """One user: a list model and their own items by raw id, whatever their ratings.

    Ids are matched as strings. Items unknown to the model are ignored. `scores`: one per item of
    the model, in its order, including own items; as secret as the items. No score can overflow: the
    values of a list model are too small. Raises `RequestError` if `model` is not a `ListModel`, or
    if `items` is not a list of ids or contains no known item.
    """

    def __init__(self, model: ListModel, items: Iterable[Item]) -> None:
        must_be(
            ListModel, model, "a list model", "pass the published model, as `list_model` returns it"
        )
        must_be(Iterable, items, "a list of item ids", GIVE_IDS)
        if isinstance(items, str | bytes):  # a string is not a list of ids
            raise RequestError(
                f"Expected a list of item ids, got {type(items).__name__}; {GIVE_IDS}."
            )
        places = index_by_id(model.items)
        had = [str(item) for item in items]
        self._items = model.items
        # Sorted, so that results do not depend on the order of the items.
        self._own = sorted({places[item] for item in had if item in places})
        require_known(had, self._own)
        self.scores = model.popularity.tolist()
        if model.low_rank is not None:
            self._add_factors(model.low_rank)
        self._add_neighbours(model)

    def recommend(self, n: int = 10, stars: Profile | None = None) -> list[tuple[Item, float]]:
        """Return the n best items that are not the user's own, with scores, best first.

        Ties are in the model's item order. Scores order items; they are not ratings. A user without
        items gets an empty list from a model without popularity, which scores all items alike.

        `stars`: the same user's rating profile. A score above zero is then multiplied by the
        position of the predicted rating on the scale (expected gain). Raises `RequestError` for an
        n that is not an integer of at least 0.
        """
        n = whole("n", n, 0)
        if not self._own and not any(self.scores):
            return []
        owned = set(self._own)
        others = (index for index in range(len(self._items)) if index not in owned)
        scored = [(index, self._score(index, stars)) for index in others]
        best = sorted(scored, key=lambda one: -one[1])[:n]
        return [(self._items[index], score) for index, score in best]

    def _score(self, index: int, stars: Profile | None) -> float:
        score = self.scores[index]
        return score if stars is None or score <= 0 else score * stars.gain(self._items[index])

    def _add_factors(self, low: LowRank) -> None:
        taste = [0.0] * len(low.spectrum)
        for i in self._own:
            scale = low.own_scale[i]
            taste = [k + scale * v for k, v in zip(taste, low.vector(i), strict=True)]
        taste = list(map(mul, taste, low.spectrum))
        for j, scale in enumerate(low.score_scale):
            # `sum` rounds differently between versions of Python.
            self.scores[j] += scale * reduce(add, map(mul, low.vector(j), taste), 0.0)

    def _add_neighbours(self, model: ListModel) -> None:
        for i in self._own:
            for j, weight in zip(*model.weights_of(i), strict=True):
                self.scores[j] += weight
