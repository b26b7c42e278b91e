"""The last step of a list, at home: what a person would meet next, from what they truly have.

Standard library only. Every sum is of doubles, in the order of places, so that the page's twin
comes to the same digits.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add, mul

from tacit.device.profile import Item, Profile, index_by_id, require_known
from tacit.errors import RequestError
from tacit.given import must_be, whole
from tacit.wire.list_model import ListModel, LowRank

GIVE_IDS = "pass ids, as in [3, 7]"


class ListProfile:
    """One person: a list model and their own items, by raw id, whatever they thought of them.

    Ids are matched as strings. Items unknown to the model are ignored. `scores`: one for each of
    the model's items, in its order, own ones too; a secret, as the items are. No score can
    overflow: the values of a list model are too small for that. Raises `RequestError` if `model` is
    not a `ListModel`, or if `own_items` is not a list of ids or contains no known item.
    """

    def __init__(self, model: ListModel, own_items: Iterable[Item]) -> None:
        must_be(
            ListModel, model, "a list model", "pass the published model, as `list_model` returns it"
        )
        must_be(Iterable, own_items, "a list of item ids", GIVE_IDS)
        if isinstance(own_items, str | bytes):  # letters are no ids
            raise RequestError(
                f"Expected a list of item ids, got {type(own_items).__name__}; {GIVE_IDS}."
            )
        places = index_by_id(model.items)
        had = [str(item) for item in own_items]
        self._items = model.items
        # Sorted, so that the order in which the person came by them changes no digit.
        self._own = sorted({places[item] for item in had if item in places})
        require_known(had, self._own)
        self.scores = model.popularity.tolist()
        if model.low_rank is not None:
            self._add_factors(model.low_rank)
        self._add_neighbours(model)

    def recommend(self, n: int = 10, stars: Profile | None = None) -> list[tuple[Item, float]]:
        """The n best items that are not the person's own, with their scores, best first, ties in
        the model's item order. Scores order items; they are no ratings. A user without items gets
        an empty list from a model without popularity, which scores all items alike.

        `stars`: what the same person would rate them. Then a score above zero is multiplied by how
        far up the scale that is: what they would meet *and* like. Raises `RequestError` for an n
        that is no whole number, or below 0.
        """
        n = whole("n", n, 0)
        if not self._own and not any(self.scores):
            return []
        own = set(self._own)
        others = (place for place in range(len(self._items)) if place not in own)
        scored = [(place, self._score(place, stars)) for place in others]
        best = sorted(scored, key=lambda one: -one[1])[:n]
        return [(self._items[place], score) for place, score in best]

    def _score(self, place: int, stars: Profile | None) -> float:
        score = self.scores[place]
        return score if stars is None or score <= 0 else score * stars.gain(self._items[place])

    def _add_factors(self, low: LowRank) -> None:
        taste = [0.0] * len(low.spectrum)
        for i in self._own:
            scale = low.own_scale[i]
            taste = [k + scale * v for k, v in zip(taste, low.vector(i), strict=True)]
        taste = list(map(mul, taste, low.spectrum))
        for j, scale in enumerate(low.score_scale):
            # `sum` rounds otherwise from one version of Python to another.
            self.scores[j] += scale * reduce(add, map(mul, low.vector(j), taste), 0.0)

    def _add_neighbours(self, model: ListModel) -> None:
        for i in self._own:
            for j, weight in zip(*model.weights_of(i), strict=True):
                self.scores[j] += weight
