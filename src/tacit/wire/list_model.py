"""List model: item scores computed on the device from the user's items.

    score_j = popularity_j + sum over the user's items i of W_ij
    W = diag(own_scale) V diag(spectrum) V' diag(score_scale) + S

V: the vectors, n x K. S: the weights of each item's neighbours. Either may be absent; without both,
the list is by popularity. A provider computes it from reports alone, so publishing it has no
privacy cost beyond theirs.

It has at most 32 MiB, of which a device decodes the rows that it needs. Standard library only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import lt
from typing import Any, Self

from tacit.errors import DataError, RequestError, must_be
from tacit.privacy.guarantee import Guarantee
from tacit.wire import binary, model_header, strict
from tacit.wire.binary import Bytes, Floats

# Header of a list model: the meaning of its arrays, and their sizes.

KEYS = ("items", "factors", "neighbours", "guarantee")
WITH_HIDDEN = (*KEYS, "hidden")
"""Keys of format 2."""
HEADER = "The list model's header"
SHORT = 1 << 16
"""Most items whose indices fit in two bytes; others take four."""


@dataclass(frozen=True)
class ListHeader:
    """`factors`: K. `neighbours`: E per item; if it is the number of items, indices are omitted."""

    items: tuple[int | str, ...]
    factors: int
    neighbours: int
    guarantee: Guarantee
    hidden: tuple[int, ...] = ()

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


def parse_header(text: bytes, version: int) -> ListHeader:
    """Parse a header of format 1 or 2 from JSON. Raises `DataError` for a malformed one."""
    keys = WITH_HIDDEN if version == 2 else KEYS
    known = strict.fields(strict.parse(text, HEADER, model_header.LONGEST), HEADER, keys)
    items = model_header.item_ids(known, HEADER)
    return ListHeader(
        items=items,
        factors=model_header.count(known, "factors", model_header.MOST_FACTORS, HEADER),
        neighbours=model_header.count(known, "neighbours", len(items), HEADER),
        guarantee=model_header.guarantee(known["guarantee"], HEADER),
        hidden=model_header.hidden_items(known["hidden"], items, HEADER) if version == 2 else (),
    )


MAGICS = (b"tacit-list-model-1\n", b"tacit-list-model-2\n")
"""First lines of formats 1 and 2. Format 2 has hidden items."""
MOST_BYTES = 32 << 20
"""Most bytes of a list model."""
WHAT = "list model"


@dataclass(frozen=True)
class LowRank:
    """Factors of the low-rank part of a list model.

    `own_scale`, `score_scale`: n singles, for the user's items and the scored items. `spectrum`: K
    singles. `vectors`: n x K halves, little-endian, row by row, such as
    `array.astype("<f2").tobytes()`.
    """

    own_scale: Floats
    score_scale: Floats
    spectrum: Floats
    vectors: Bytes

    def vector(self, index: int) -> tuple[float, ...]:
        """Return the K entries of an item's vector."""
        K = len(self.spectrum)
        return binary.halves(self.vectors, index * K, K)


@dataclass(frozen=True)
class ItemNeighbours:
    """Weights between items.

    `count`: E, equal for all items. `places`: indices of each item's E neighbours, ascending, in
    two bytes each (four for more than 65,536 items), little-endian; empty if E is n. `weights`: n x
    E halves, little-endian, row by row.
    """

    count: int
    places: Bytes
    weights: Bytes


@dataclass(frozen=True)
class ListModel:
    """`items`: raw ids, in the order of every array.

    `popularity`: n singles, such as `array("f", counts)`. `hidden`: indices of items that no
    device recommends, ascending. A user's own hidden items remain inputs.
    """

    items: tuple[int | str, ...]
    popularity: Floats
    guarantee: Guarantee
    low_rank: LowRank | None = None
    neighbours: ItemNeighbours | None = None
    hidden: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"<ListModel: {len(self.items):,} items, {self.guarantee.brief}>"

    def weights_of(self, index: int) -> tuple[Sequence[int], Sequence[float]]:
        """Return the indices of an item's neighbours, and their weights."""
        near, n = self.neighbours, len(self.items)
        if near is None:
            return (), ()
        weights = binary.halves(near.weights, index * near.count, near.count)
        if near.count == n:
            return range(n), weights
        return binary.integers(near.places, index * near.count, near.count, place_bytes(n)), weights

    def hiding(self, ids: Iterable[object]) -> Self:
        """Return the model with these items hidden, and no others. Unknown ids are ignored."""
        return replace(self, hidden=model_header.indices_of(self.items, ids))

    def to_bytes(self) -> bytes:
        """Return magic line, length of the header, JSON header, and a little-endian block.

        Raises `RequestError` for arrays whose lengths do not match items, factors and neighbours,
        and for more than 32 MiB; `DataError` for anything else that a device would reject.
        """
        header, parts = self._header(), self._parts()
        lengths = tuple(memoryview(part).nbytes for part in parts)
        if lengths != header.sizes:
            raise RequestError(
                f"The arrays of this list model occupy {lengths} bytes, but {len(header.items)} "
                f"items with {header.factors} factors and {header.neighbours} neighbours per item "
                f"require {header.sizes}."
            )
        fields: dict[str, Any] = {
            "items": list(header.items),
            "factors": header.factors,
            "neighbours": header.neighbours,
            "guarantee": header.guarantee.to_dict(),
        }
        if header.hidden:
            fields["hidden"] = list(header.hidden)
        data = binary.joined(MAGICS[bool(header.hidden)], fields, parts)
        if len(data) > MOST_BYTES:
            raise RequestError(
                f"This list model has {len(data):,} bytes, more than {MOST_BYTES:,}; use fewer "
                "factors, or fewer neighbours per item."
            )
        ListModel.from_bytes(data)  # a model that devices would reject is not published
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Parse a model from `to_bytes`.

        Raises `DataError` for truncated and other documents, `RequestError` for an argument that is
        not bytes.
        """
        must_be(bytes, data, f"the bytes of a {WHAT}", "pass what `to_bytes` returns")
        if len(data) > MOST_BYTES:
            raise DataError(f"A list model of {len(data):,} bytes is larger than {MOST_BYTES:,}.")
        magic = next((each for each in MAGICS if data.startswith(each)), MAGICS[0])
        text, numbers = binary.parted(magic, data, WHAT)
        header = parse_header(text, 1 + MAGICS.index(magic))
        numbers.require(sum(header.sizes))
        n, K, E = len(header.items), header.factors, header.neighbours
        popularity, low_rank, neighbours = numbers.floats(n), None, None
        if K:
            scales = numbers.floats(n), numbers.floats(n)
            low_rank = LowRank(*scales, numbers.floats(K), numbers.halves(n * K))
        if E:
            *_, size, _ = header.sizes
            neighbours = ItemNeighbours(E, numbers.take(size), numbers.halves(n * E))
        model = cls(header.items, popularity, header.guarantee, low_rank, neighbours, header.hidden)
        model._refuse_disorder()
        return model

    def _refuse_disorder(self) -> None:
        near, n = self.neighbours, len(self.items)
        if near is None or near.count == n:
            return
        for index in range(n):
            row = binary.integers(near.places, index * near.count, near.count, place_bytes(n))
            if row[-1] >= n or not all(map(lt, row, islice(row, 1, None))):
                raise DataError("Neighbours of this list model are out of range, or out of order.")

    def _header(self) -> ListHeader:
        factors = len(self.low_rank.spectrum) if self.low_rank else 0
        count = self.neighbours.count if self.neighbours else 0
        return ListHeader(self.items, factors, count, self.guarantee, self.hidden)

    def _parts(self) -> tuple[Floats | Bytes, ...]:
        low, near = self.low_rank, self.neighbours
        factors = (low.own_scale, low.score_scale, low.spectrum, low.vectors) if low else (b"",) * 4
        return self.popularity, *factors, *((near.places, near.weights) if near else (b"",) * 2)


def is_list_model(data: bytes) -> bool:
    """Return whether these are the bytes of a list model, well-formed or not."""
    return data.startswith(MAGICS)
