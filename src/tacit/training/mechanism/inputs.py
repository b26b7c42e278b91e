"""Input checks of user-level trainers."""

from tacit.errors import RequestError
from tacit.ratings import Ratings


def require_vocabularies(ratings: Ratings) -> None:
    """Raise `RequestError` if the data have no users or no items.

    Both sets are public. Data without ratings are accepted: they are a neighbour of data in which
    one user rated, and an error would reveal which of the two the trainer saw.
    """
    for name, size in (("users", ratings.n_users), ("items", ratings.n_items)):
        if size == 0:
            raise RequestError(
                f"{name} must contain at least 1 id, got 0; declare them with `with_people` and "
                "`with_catalogue`."
            )
