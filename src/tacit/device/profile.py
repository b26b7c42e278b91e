"""On-device fold-in: recommendations from a user's true ratings, which never leave the device.

Standard library only. `tacit.kernels.foldin` is the bulk implementation; a test holds both
equal to 1e-9.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Literal, get_args

from tacit.device.solve import Row, expected, linear_row, ordinal_row, theta
from tacit.errors import DataError, RequestError, integer, must_be, shown
from tacit.wire.item_model import ItemDraw, ItemModel

Item = int | str
RankBy = Literal["gain", "rating"]
"""Order of recommendations: expected gain or predicted rating."""
NO_NUMBER = "This item model causes numeric overflow and cannot predict ratings."


def index_by_id(items: Iterable[Item]) -> dict[str, int]:
    """Return the index of each item of a model by its id as a string."""
    return {str(item): index for index, item in enumerate(items)}


def id_text(item: object) -> str:
    """Return a raw id as a string. Raises `RequestError` unless it is an integer or a string."""
    if isinstance(item, bool) or not isinstance(item, str | Integral):
        # The message names no item: it may be logged.
        raise RequestError(
            f"An item id must be an integer or a string, got {type(item).__name__}; use the ids of "
            "the model's catalogue."
        )
    return str(item)


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
    Raises `RequestError` if `ratings` is not a mapping, contains an id that is neither an integer
    nor a string, a value off the model's scale or no known item, or if `model` is not an
    `ItemModel`, and, as do its methods, `DataError` if a result is not finite. `rows`: the user's
    row under each draw, bias first; as secret as the ratings.
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
        if not all(isinstance(r, Real) and r in self._levels for r in ratings.values()):
            # The message names neither rating nor item: it may be logged.
            raise RequestError(f"A rating is not on the model's scale {model.scale}.")
        self._model = model
        self._places = index_by_id(model.items)
        by_id = {id_text(item): r for item, r in ratings.items()}
        known = {self._places[item]: r for item, r in by_id.items() if item in self._places}
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
        index = self._places.get(id_text(item))
        return self._rating(index, self._mean(index))

    def recommend(self, n: int = 10, rank_by: RankBy | None = None) -> list[tuple[Item, float]]:
        """Return the n best unrated items that are not hidden, with predicted ratings, best first.

        Of a cross-domain model, only items of the target domain. Ties, as of the same median level,
        are ordered by mean predictions, and others by the model's item order.

        `rank_by`: "gain", the expected gain (`tacit.wire.exposure`), or "rating". Default: "gain"
        if the model has an exposure. Equal exposures of all items leave the order to ratings.
        Raises `RequestError` for an n that is not an integer of at least 0, another `rank_by`, and
        "gain" without an exposure.
        """
        n = integer("n", n, 0)
        means = [self._mean(index) for index in range(len(self._model.items))]
        ratings = [self._rating(index, mean) for index, mean in enumerate(means)]
        figures = self._gains(ratings) if self._by_gain(rank_by) else ratings
        order = list(zip(figures, means, strict=True))
        excluded = {index for index, _ in self._known}.union(self._model.hidden)
        target = self._model.target
        first = target.first if target else 0
        others = [index for index in range(first, len(means)) if index not in excluded]
        best = sorted(others, key=order.__getitem__, reverse=True)[:n]
        return [(self._model.items[i], ratings[i]) for i in best]

    def _by_gain(self, rank_by: RankBy | None) -> bool:
        exposed = self._model.exposure is not None
        if rank_by is None:
            return exposed
        if rank_by not in get_args(RankBy):
            raise RequestError(f"rank_by must be gain or rating, got {shown(rank_by)}.")
        if rank_by == "gain" and not exposed:
            raise RequestError("The model has no exposure to rank by; leave out rank_by.")
        return rank_by == "gain"

    def _gains(self, ratings: Row) -> Row:
        exposure, low, high = self._model.exposure, self._levels[0], self._levels[-1]
        own = [index for index, _ in self._known]
        scores = exposure.scores(own, len(ratings)) if exposure else []
        if not any(scores):
            return ratings
        return [
            score * ((rating - low) / (high - low)) if score > 0 else score
            for score, rating in zip(scores, ratings, strict=True)
        ]

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
