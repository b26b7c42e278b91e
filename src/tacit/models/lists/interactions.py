"""Interactions: what models of lists see of reports and ratings alike: who did what, debiased."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from tacit.engines.tables import Tables
from tacit.errors import RequestError
from tacit.given import must_be
from tacit.models.evidence.missing_symbol import hidden, reported
from tacit.models.evidence.presence_matrix import PresenceMatrix, public
from tacit.models.fit_tables import LearnsOnEngine, fit_tables
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Interactions:
    """`presence`: C with E[C] = A, the 0/1 truth, shape (people, items); A itself where who did
    what is public. On a scale of stars a rating is an interaction, whichever level it has."""

    presence: PresenceMatrix
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    guarantee: Guarantee

    @property
    def n_items(self) -> int:
        """Items of the catalogue."""
        return len(self.item_ids)

    def tables(self, model: LearnsOnEngine, rng: int) -> Tables:
        """Of the model's fit to these interactions; raises as `fit_tables`."""
        known = self.presence
        slots = (each for each in (known.reported, known.asked) if each is not None)
        arrays = (array for each in slots for array in (each.indptr, each.indices))
        return fit_tables(model, rng, *arrays, known.rated, known.unrated)


def interactions(data: Ratings | Reports) -> Interactions:
    """The interactions in ratings or reports.

    Raises `RequestError` when there is none: no rows, or a channel at epsilon 0, whose answers
    do not depend on what is there; and for what is neither.
    """
    if not isinstance(data, Reports):
        must_be(Ratings, data, "`Ratings` or `Reports`", "pass what `perturb` returns")
    if len(data) == 0:
        raise RequestError(f"{data.name} contains no rows; a model requires at least one.")
    presence, promise = _presence(data), NO_PRIVACY
    if isinstance(data, Reports):
        promise = data.guarantee
    if not (presence.rated > presence.unrated).all():
        raise RequestError(
            f"A channel of {data.name} has the same outputs for present and missing items, so its "
            "reports carry no information. Fit reports of another channel."
        )
    return Interactions(presence, data.scale, data.user_ids, data.item_ids, promise)


def _presence(data: Ratings | Reports) -> PresenceMatrix:
    missing = hidden(data) if isinstance(data, Reports) else None
    if missing is not None and isinstance(data, Reports):
        data = data.where(reported(data))
    shape = (data.n_users, data.n_items)
    found = csr_array((np.ones(len(data), np.float32), (data.users, data.items)), shape=shape)
    return public(found) if missing is None else missing.matrix(found)
