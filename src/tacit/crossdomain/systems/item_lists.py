"""Top-N models across domains of interactions: one model over all catalogues.

A user's score of a target item is a weighted sum over the user's items of all domains (source items
and kept target items), by the item-item weights of `tacit.models.lists`. The weights between source
and target items come from the users of both domains.

In strict mode every user reports every slot of all catalogues by randomized response, and the
weights are fitted to the debiased reports. The device scores its user's true interactions, which
are not reported anew, so the guarantee is that of the reports, in nats per slot.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from tacit.collection.named_plans import AUTO, plan_of
from tacit.collection.perturb import perturb
from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.models.evidence.presence_matrix import cells
from tacit.models.lists import AbstractListModel, FittedLists, interactions
from tacit.ratings import Ratings
from tacit.reports import Reports

USERS = 1 << 10
"""Users whose scores of all items exist at a time."""


@dataclass(frozen=True, kw_only=True)
class ItemLists:
    """`model`: a top-N model. `mode`: "none", or "strict" for reports of every slot."""

    model: AbstractListModel
    mode: str = "none"

    variant = None

    @property
    def name(self) -> str:
        """Name in result rows."""
        return self.model.name

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Return scores of the queried cells, in the form of `System.predict`.

        `epsilon`: nats per slot, in strict mode. Raises `RequestError` in strict mode without one,
        and for ratings with levels.
        """
        del engine  # in this process
        ratings = trial.domains.ratings
        if not ratings.scale.has_one_level:
            raise RequestError(
                f"The system {self.name} across domains requires implicit feedback, got ratings on "
                f"the scale {ratings.scale}; use scale='there' (--implicit), or a system that "
                "predicts ratings."
            )
        fitted = self.model.fit(interactions(self._data(ratings, epsilon)))
        assert isinstance(fitted, FittedLists)
        predicted = Predicted(_scores(fitted, trial), known(trial))
        return TrialPredictions(predicted, ratings.qualified(fitted.guarantee))

    def _data(self, ratings: Ratings, epsilon: str | None) -> Ratings | Reports:
        if self.mode == "none":
            return ratings
        if epsilon is None:
            raise RequestError(
                f"The system {self.name} in strict mode requires an epsilon, such as 1."
            )
        # Both domains are one catalogue: a report of a slot depends on that slot alone, so the
        # guarantee per slot holds for source and target slots alike.
        return perturb(ratings, plan_of("catalogue", AUTO, epsilon, ratings.scale))


def _scores(fitted: FittedLists, trial: Trial) -> Doubles:
    """Return each queried cell's score by its user's own interactions, shape (n,)."""
    rows, row_of = _interaction_rows(trial), np.searchsorted(trial.people, trial.users)
    values = np.zeros(len(trial.items))
    for first in range(0, len(trial.people), USERS):
        scores = fitted.weights.scores(rows[first : first + USERS])
        mine = np.flatnonzero((row_of >= first) & (row_of < first + USERS))
        values[mine] = scores[row_of[mine] - first, trial.items[mine]]
    return values


def _interaction_rows(trial: Trial) -> csr_array:
    """Return 1 at each known interaction of the test users, shape (people, items)."""
    ratings = trial.domains.ratings
    mine = np.isin(ratings.users, trial.people)
    rows = np.searchsorted(trial.people, ratings.users[mine]).astype(np.int32)
    known_items = by_user(rows, ratings.items[mine], len(trial.people), ratings.n_items)[0]
    return cells(known_items, ratings.n_items).astype(np.float32)
