"""Recommendations from a list model: from what a person has, at their device."""

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.recommending.unknown_items import say_unknown
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.ratings import Ratings


def is_list(path: Path) -> bool:
    """Whether the file is a list model."""
    from tacit.wire.list_model import MAGIC

    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # reading it as another model says what is wrong


def from_list(path: Path, own: "Ratings | None", n: int) -> list[tuple[int | str, float]]:
    """The n best items for somebody who has the items of `own`.

    Raises `RequestError` without them, `DataError` where the model has none of them.
    """
    from tacit.device.list_profile import ListProfile
    from tacit.wire.list_model import ListModel

    model = ListModel.from_bytes(path.read_bytes())
    if own is None:
        raise RequestError(f"{path} is a list model, which stores no users; --profile is required.")
    had = own.item_ids.take(own.items).to_list()
    known = {str(item): item for item in model.items}
    say_unknown(had, [str(item) in known for item in had], own.name)
    mine = [known[str(item)] for item in had if str(item) in known]
    return ListProfile(model, mine).recommend(n)
