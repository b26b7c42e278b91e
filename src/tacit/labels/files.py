"""Labels of a model file and of the result file of a comparison."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tacit.crossdomain.x_map.item_map import ItemMap
from tacit.crossdomain.x_map.item_map_file import is_item_map
from tacit.labels.label import Label, Terms
from tacit.models import load
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.privacy.ledger import delta_text
from tacit.results.comparison.row import ResultRow, read_rows
from tacit.results.guarantee_text import claims, plugged
from tacit.wire import item_model, list_model
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel

UNBOUNDED_RESULT = "The guarantees per value or slot do not imply a guarantee per user."


def of_result(path: Path) -> Label:
    """Return the label of a result file. Raises `DataError` for a file without result rows."""
    rows = read_rows(path)
    terms = [
        Terms(through=_methods(group), promises=tuple(_promises(claim, group)))
        for claim, group in claims(rows)
    ]
    free = [row for row in rows if row.epsilon is None]
    if free:
        terms.append(Terms(through=_methods(free), promises=(NO_PRIVACY,)))
    units = {promise.unit for each in terms for promise in each.promises}
    return Label(
        kind="result",
        name=", ".join(dict.fromkeys(row.dataset for row in rows)) or path.name,
        address=sha256(path.read_bytes()).hexdigest(),
        asked_by=None,
        leaves="This label describes experimental results, which are not released and are as "
        "sensitive as the data."
        + "".join(f" {sentence}" for sentence in plugged(row.plugins for row in rows)),
        terms=tuple(terms),
        unbounded=UNBOUNDED_RESULT if units & {"value", "slot"} else None,
        keeping=None,
    )


def _promises(claim: Guarantee, rows: Sequence[ResultRow]) -> Iterator[Guarantee]:
    """Yield the guarantee at each epsilon, then the guarantees per user of the rows, if any."""
    for epsilon in sorted({row.epsilon for row in rows if row.epsilon is not None}):
        yield replace(claim, epsilon=f"{epsilon:g}")
    people = {(row.user_epsilon, 0.0) for row in rows}
    people |= {(row.tight_epsilon, row.delta) for row in rows}
    for epsilon, delta in sorted((e, d) for e, d in people if e is not None):
        yield replace(claim, epsilon=f"{epsilon:g}", delta=delta_text(delta), unit="user")


def _methods(rows: Sequence[ResultRow]) -> str:
    return ", ".join(dict.fromkeys(f"{row.via} + {row.method}" for row in rows))


UNBOUNDED_MODEL = (
    "No guarantee per user: the guarantee is per {}, and epsilon adds up over all data of one user."
)
STATED = "the guarantee is as stated by the provider"


def of_model(path: Path) -> Label:
    """Return the label of a model file.

    A guarantee cannot be recomputed from a model, so the label repeats that of the provider, and
    states this.

    Raises `DataError` for a damaged model, and `RequestError` for another file.
    """
    content = path.read_bytes()
    stated, what = _guarantee_of(path, content)
    guarantee = _as_stated(stated)
    person = guarantee.epsilon is None or guarantee.unit == "user"
    return Label(
        kind="model",
        name=path.name,
        address=sha256(content).hexdigest(),
        asked_by=None,
        leaves=f"Released: {what}, trained on {guarantee.released}. {STATED.capitalize()}.",
        terms=(Terms(through=what, promises=(guarantee,)),),
        unbounded=None if person else UNBOUNDED_MODEL.format(guarantee.unit),
        keeping=None,
    )


def _as_stated(guarantee: Guarantee) -> Guarantee:
    if guarantee.epsilon is None:
        return guarantee
    return replace(guarantee, exact=False, assumptions=(*guarantee.assumptions, STATED))


def _guarantee_of(path: Path, content: bytes) -> tuple[Guarantee, str]:
    if list_model.is_list_model(content):
        lists = ListModel.from_bytes(content)
        return lists.guarantee, f"a list model of {len(lists.items)} items"
    if content.startswith(item_model.MAGICS):
        items = ItemModel.from_bytes(content)
        return items.guarantee, f"an item model of {len(items.items)} items"
    if is_item_map(path):
        item_map = ItemMap.load(path)
        sizes = f"{item_map.first} source and {len(item_map.means)} target items"
        return item_map.guarantee, f"{item_map.model} over {sizes}"
    fitted = load(path)
    assert not isinstance(fitted, ListModel), "recognized by its content above"
    return fitted.guarantee, f"{fitted.model} over {len(fitted.item_ids)} items"
