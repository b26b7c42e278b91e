"""The header of a list model: what its arrays mean, and how long they have to be."""

from dataclasses import dataclass

from tacit.privacy.guarantee import Guarantee
from tacit.wire import model_header, strict

KEYS = ("items", "factors", "neighbours", "guarantee")
WHAT = "The list model's header"
SHORT = 1 << 16
"""Items whose places two bytes can number; more take four."""


@dataclass(frozen=True)
class ListHeader:
    """`factors`: K. `neighbours`: E of each item; where all are, no places are written."""

    items: tuple[int | str, ...]
    factors: int
    neighbours: int
    guarantee: Guarantee

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of popularity, own_scale, score_scale, spectrum, vectors, places and weights."""
        n, K, E = len(self.items), self.factors, self.neighbours
        scale = 4 * n if K else 0
        places = n * E * place_bytes(n) if n > E else 0
        return 4 * n, scale, scale, 4 * K, 2 * n * K, places, 2 * n * E


def place_bytes(n: int) -> int:
    """How many bytes a place among n items is written in."""
    return 2 if n <= SHORT else 4


def loads(text: bytes) -> ListHeader:
    """The header in that JSON; raises `DataError` for what is none."""
    known = strict.fields(strict.parse(text, WHAT, model_header.LONGEST), WHAT, KEYS)
    items = model_header.item_ids(known, WHAT)
    return ListHeader(
        items=items,
        factors=model_header.count(known, "factors", model_header.MOST_FACTORS, WHAT),
        neighbours=model_header.count(known, "neighbours", len(items), WHAT),
        guarantee=model_header.guarantee(known["guarantee"], WHAT),
    )
