"""What leaves a curator of lists: weights between items, with the promise of all that was spent."""

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
    """The fitted lists of these weights. Closes the account.

    Nobody's row is in it: made without a device, everybody's list is of what is popular.
    """
    account.close()
    shape = (ratings.n_users, ratings.n_items)
    nobody = csr_array((np.empty(0, np.float32), (NONE, NONE)), shape=shape)
    return FittedLists(
        model=name,
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        weights=weights,
        presence=public(nobody),
        guarantee=ratings.qualified(promise(account)),
    )
