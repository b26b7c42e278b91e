"""Output of user-level trainers: an item side with the guarantee of the closed account."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.models.evidence.presence_matrix import public
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD, shortest
from tacit.training.mechanism.accounting import Account

PUBLIC = ("who takes part", "the catalogue and the scale")
ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "neighbouring data sets differ in one user's complete profile, which may be empty",
    "each user's factors are solved on that user's device; training again costs epsilon again",
)


@dataclass(frozen=True, eq=False)
class ItemSide:
    """Item side learnt from `ratings`.

    `items`: shape (items, 1 + K). `mu`: global mean relative to the middle of the scale.
    """

    name: str
    ratings: Ratings
    mu: float
    items: NDArray[np.float64]

    def closed(self, account: Account) -> Fitted:
        """Close the account and return the model. Its user rows are the average user.

        Raises `CertificateError` if the account does not balance.
        """
        account.close()
        return self.fitted(promise(account))

    def fitted(self, guarantee: Guarantee) -> Fitted:
        """Return the model with a guarantee."""
        ratings, columns = self.ratings, self.items.shape[1]
        levels = np.asarray(ratings.scale.values)
        half = float(levels[-1] - levels[0]) / 2
        return Fitted.point(
            self.name,
            ratings,
            mu=levels[0] + half + self.mu,
            people=np.zeros((ratings.n_users, columns)),
            items=self.items,
            precision=precisions(half, columns - 1),
            guarantee=ratings.qualified(guarantee),
        )


def promise(account: Account) -> Guarantee:
    """Return the guarantee of the complete training run: the budget of its account."""
    return Guarantee(
        epsilon=shortest(Decimal(account.epsilon)),
        delta=account.delta,
        unit="user",
        trust="curator",
        released=f"{len(account.spent)} noisy totals",
        public=PUBLIC,
        assumptions=ASSUMPTIONS,
    )


def precisions(half: float, factors: int) -> NDArray[np.float64]:
    """Return the prior precision of a user's row, public, shape (1 + factors,).

    The bias is damped by five ratings, and factors of unit variance by the noise of a rating.
    """
    return np.array([OWN_BIAS_RIDGE] + [(RATING_SPREAD * 2 * half) ** 2] * factors)


NONE = np.empty(0, np.int32)


def published(name: str, ratings: Ratings, weights: ItemWeights, account: Account) -> FittedLists:
    """Return the fitted top-N model of these weights, as `without_rows`. Closes the account."""
    account.close()
    return without_rows(name, ratings, weights, promise(account))


def without_rows(
    name: str, ratings: Ratings, weights: ItemWeights, guarantee: Guarantee
) -> FittedLists:
    """Return the fitted top-N model of these weights.

    It holds no user rows: without a device, every list is by popularity.
    """
    shape = (ratings.n_users, ratings.n_items)
    no_rows = csr_array((np.empty(0, np.float32), (NONE, NONE)), shape=shape)
    return FittedLists(
        model=name,
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        weights=weights,
        presence=public(no_rows),
        guarantee=ratings.qualified(guarantee),
    )
