"""Header of a list model: the meaning of its arrays, and their sizes."""

from dataclasses import dataclass

from tacit.privacy.guarantee import Guarantee
from tacit.wire import model_header, strict

KEYS = ("items", "factors", "neighbours", "guarantee")
WHAT = "The list model's header"
SHORT = 1 << 16
"""Most items whose indices fit in two bytes; others take four."""


@dataclass(frozen=True)
class ListHeader:
    """`factors`: K. `neighbours`: E per item; if it is the number of items, indices are omitted."""

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
    """Return the number of bytes of an item index, for n items."""
    return 2 if n <= SHORT else 4


def loads(text: bytes) -> ListHeader:
    """Parse a header from JSON. Raises `DataError` for a malformed one."""
    known = strict.fields(strict.parse(text, WHAT, model_header.LONGEST), WHAT, KEYS)
    items = model_header.item_ids(known, WHAT)
    return ListHeader(
        items=items,
        factors=model_header.count(known, "factors", model_header.MOST_FACTORS, WHAT),
        neighbours=model_header.count(known, "neighbours", len(items), WHAT),
        guarantee=model_header.guarantee(known["guarantee"], WHAT),
    )
