"""Output of top-N trainers: item weights with the guarantee of the closed account."""

import numpy as np
from scipy.sparse import csr_array

from tacit.models.evidence.presence_matrix import public
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training.mechanism.accounting import Account
from tacit.training.person.fitted_model import promise

NONE = np.empty(0, np.int32)


def published(name: str, ratings: Ratings, weights: ItemWeights, account: Account) -> FittedLists:
    """Return the fitted top-N model of these weights. Closes the account.

    It holds no user rows: without a device, every list is by popularity.
    """
    account.close()
    shape = (ratings.n_users, ratings.n_items)
    no_rows = csr_array((np.empty(0, np.float32), (NONE, NONE)), shape=shape)
    return FittedLists(
        model=name,
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        weights=weights,
        presence=public(no_rows),
        guarantee=ratings.qualified(promise(account)),
    )
