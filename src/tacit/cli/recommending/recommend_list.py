"""On-device recommendation from a list model."""

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.recommending.unknown_items import say_unknown
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.ratings import Ratings


def is_list(path: Path) -> bool:
    """Return whether the file is a list model."""
    from tacit.wire.list_model import MAGIC

    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # `Fitted.load` raises the error


def from_list(path: Path, ratings: "Ratings | None", n: int) -> list[tuple[int | str, float]]:
    """Return the n best items for the user of a profile.

    Raises `RequestError` without a profile, and `DataError` if the model has none of its items.
    """
    from tacit.device.profile import ListProfile
    from tacit.wire.list_model import ListModel

    model = ListModel.from_bytes(path.read_bytes())
    if ratings is None:
        raise RequestError(f"{path} is a list model, which stores no users; --profile is required.")
    had = ratings.item_ids.take(ratings.items).to_list()
    known = {str(item): item for item in model.items}
    say_unknown(had, [str(item) in known for item in had], ratings.name)
    mine = [known[str(item)] for item in had if str(item) in known]
    return ListProfile(model, mine).recommend(n)
