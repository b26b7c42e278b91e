"""On-device top-N recommendation: scores from a list model and the user's own items.

Standard library only. All sums are of doubles, in the order of item indices, so that the page's
JavaScript implementation computes identical results.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add, mul

from tacit.device.profile import Item, id_text, index_by_id, require_known
from tacit.errors import RequestError, integer, must_be
from tacit.wire.list_model import ListModel, LowRank

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
        # A string is not a list of ids, and a table would be read as its column names.
        if isinstance(items, str | bytes) or hasattr(items, "columns"):
            raise RequestError(
                f"Expected a list of item ids, got {type(items).__name__}; {GIVE_IDS}."
            )
        places = index_by_id(model.items)
        had = [id_text(item) for item in items]
        self._items, self._hidden = model.items, model.hidden
        # Sorted, so that results do not depend on the order of the items.
        self._own = sorted({places[item] for item in had if item in places})
        require_known(had, self._own)
        self.scores = model.popularity.tolist()
        if model.low_rank is not None:
            self._add_factors(model.low_rank)
        self._add_neighbours(model)

    def recommend(self, n: int = 10) -> list[tuple[Item, float]]:
        """Return the n best items that are neither the user's own nor hidden, with scores.

        The best is first. Ties are in the model's item order. Scores order items; they are not
        ratings. A user without items gets an empty list from a model without popularity, which
        scores all items alike.
        Raises `RequestError` for an n that is not an integer of at least 0.
        """
        n = integer("n", n, 0)
        if not self._own and not any(self.scores):
            return []
        excluded = {*self._own, *self._hidden}
        others = (index for index in range(len(self._items)) if index not in excluded)
        best = sorted(others, key=lambda index: -self.scores[index])[:n]
        return [(self._items[index], self.scores[index]) for index in best]

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
