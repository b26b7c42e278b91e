"""Interactions: the common input of top-N models, debiased implicit feedback."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from tacit.engines.tables import Tables
from tacit.errors import RequestError, must_be
from tacit.models.evidence.evidence import hidden, reported
from tacit.models.evidence.presence_matrix import PresenceMatrix, public
from tacit.models.fit_tables import LearnsOnEngine, fit_tables
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Interactions:
    """Implicit feedback.

    `presence`: C with E[C] = A, the true 0/1 matrix, shape (users, items); A itself where presence
    is public. On a scale of stars every rating is an interaction, whatever its level.
    """

    presence: PresenceMatrix
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    guarantee: Guarantee

    @property
    def n_items(self) -> int:
        """Number of items in the catalogue."""
        return len(self.item_ids)

    def tables(self, model: LearnsOnEngine, rng: int) -> Tables:
        """Open the tables of a fit to these interactions. Raises as `fit_tables`."""
        known = self.presence
        slots = (each for each in (known.reported, known.asked) if each is not None)
        arrays = (array for each in slots for array in (each.indptr, each.indices))
        return fit_tables(model, rng, *arrays, known.rated, known.unrated)


def interactions(data: Ratings | Reports) -> Interactions:
    """Return the interactions in ratings or reports.

    Raises `RequestError` for data without information (no rows, or a channel at epsilon 0, whose
    reports do not depend on presence) and for other types.
    """
    if not isinstance(data, Reports):
        must_be(Ratings, data, "`Ratings` or `Reports`", "pass what `perturb` returns")
    if len(data) == 0:
        raise RequestError(f"{data.name} contains no rows; a model requires at least one.")
    presence, guarantee = presence_of(data), NO_PRIVACY
    if isinstance(data, Reports):
        guarantee = data.guarantee
    if not is_informative(presence):
        raise RequestError(
            f"A channel of {data.name} has the same output distribution for present and missing "
            "items, so its reports carry no information. Use reports from another channel."
        )
    return Interactions(presence, data.scale, data.user_ids, data.item_ids, guarantee)


def is_informative(presence: PresenceMatrix) -> bool:
    """Return whether every user's reports depend on presence."""
    return bool((presence.rated > presence.unrated).all())


def presence_of(data: Ratings | Reports) -> PresenceMatrix:
    """Return the presence in ratings or reports, debiased where it is protected."""
    missing = hidden(data) if isinstance(data, Reports) else None
    if missing is not None and isinstance(data, Reports):
        data = data.where(reported(data))
    shape = (data.n_users, data.n_items)
    matrix = csr_array((np.ones(len(data), np.float32), (data.users, data.items)), shape=shape)
    return public(matrix) if missing is None else missing.matrix(matrix)
