"""Top-N lists of any fitted model: by scores, or of a rating model by expected gain or rating."""

from typing import Any, cast

import numpy as np

from tacit.device.profile import RankBy
from tacit.engines.engine import Engine
from tacit.kernels.layout import by_user
from tacit.models.fitted import Fitted
from tacit.models.lists.exclusion import Exclusion, Where, exclusion
from tacit.models.simulated_devices import device_lists, fold_in
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings


def rating_model_lists(
    fitted: Fitted,
    own: Ratings,
    length: int = 20,
    *,
    where: Where = "device",
    rank_by: RankBy | None = None,
    engine: Engine | None = None,
) -> Codes:
    """Return a rating model's top items for the users in `own`; other rows are empty.

    `own`: true ratings; at the provider those that were reported (a plan with a cap reports fewer).
    `where`: the party that predicts, which determines the excluded items (`exclusion`): a provider
    excludes none if the plan protects presence. `rank_by`: as in `Fitted.recommend`. `engine`:
    where devices are simulated, None for this process. Results are identical on every engine.
    Shape (users of the model, length), item codes, padded with -1.
    """
    own = own.aligned(fitted.user_ids, fitted.item_ids)
    codes = np.full((len(fitted.user_ids), length), -1, np.int32)
    users, excluded = _excluded(own, fitted.guarantee, where)
    if where == "device" and engine is not None:
        codes[users] = device_lists(fitted, own, users, length, engine, rank_by)
        return codes
    known = fold_in(fitted, own) if where == "device" else fitted
    codes[users] = known.best_items(users, excluded, length, rank_by)[0]
    return codes


def top_n(
    fitted: Any,
    ratings: Ratings,
    length: int,
    *,
    where: str,
    rank_by: RankBy | None = None,
    engine: Engine | None = None,
) -> Codes:
    """Return the lists of a top-N model or a rating model, as `rating_model_lists`.

    `where`: "provider", "curator" or "device", whose lists are computed on the engine.
    """
    if not isinstance(fitted, Fitted):
        return fitted.lists(ratings, length, where=where)
    party = cast("Where", where)
    return rating_model_lists(fitted, ratings, length, where=party, rank_by=rank_by, engine=engine)


def _excluded(ratings: Ratings, guarantee: Guarantee, where: Where) -> Exclusion:
    """Return the users in `ratings` and the items to exclude for each."""
    users = np.unique(ratings.users)
    rows = np.searchsorted(users, ratings.users).astype(np.int32)
    items = by_user(rows, ratings.items, len(users), ratings.n_items)[0]
    return Exclusion(users, exclusion(items, guarantee, where).items)
