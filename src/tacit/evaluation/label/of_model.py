"""Label of a model file, published or not."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tacit.evaluation.label.label import Label, Terms
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import Guarantee
from tacit.wire import item_model, list_model
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel

UNBOUNDED = (
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
        unbounded=None if person else UNBOUNDED.format(guarantee.unit),
        keeping=None,
    )


def _as_stated(guarantee: Guarantee) -> Guarantee:
    if guarantee.epsilon is None:
        return guarantee
    return replace(guarantee, exact=False, assumptions=(*guarantee.assumptions, STATED))


def _guarantee_of(path: Path, content: bytes) -> tuple[Guarantee, str]:
    if content.startswith(list_model.MAGIC):
        lists = ListModel.from_bytes(content)
        return lists.guarantee, f"a list model of {len(lists.items)} items"
    if content.startswith((item_model.MAGIC, item_model.SHRINKING)):
        items = ItemModel.from_bytes(content)
        return items.guarantee, f"an item model of {len(items.items)} items"
    fitted = Fitted.load(path)
    return fitted.guarantee, f"{fitted.model} over {len(fitted.item_ids)} items"
