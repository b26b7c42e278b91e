"""Recommendations from a list model: from what a person has, at their device."""

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli import options
from tacit.errors import DataError, RequestError

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
        raise RequestError(f"{path} is a list model, which knows nobody; give --profile.")
    had = own.item_ids.take(own.items).to_list()
    known = {str(item): item for item in model.items}
    mine = [known[str(item)] for item in had if str(item) in known]
    if not mine:
        raise DataError(
            f"The model has none of the {len(had)} items of the profile (the first is "
            f"'{had[0]}'); give items of its own catalogue, under the same ids."
        )
    if len(mine) < len(had):
        unknown = next(item for item in had if str(item) not in known)
        options.notice(
            f"The model lacks {len(had) - len(mine)} of the {len(had)} items of the profile, "
            f"'{unknown}' first; they are left out."
        )
    return ListProfile(model, mine).recommend(n)
