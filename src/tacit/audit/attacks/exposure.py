"""Membership inference from a published exposure: whether a user's items are in the training data.

Where presence is public, exposure has no noise (`tacit.models.exposure`), and every pair of a
user's items raises the weight between them. With W the published weights and x the user's row, the
attacker computes

    x (W - diag(W)) x'

and compares it with the same statistic of shadow models, as `tacit.audit.attacks.membership`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.linkage import drawn
from tacit.audit.attacks.membership import MOST_PEOPLE, check_size, inference
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import World
from tacit.models import exposure_of, interactions
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.ratings import Ratings

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """Settings of membership inference from exposure.

    `models`: number of shadow models, each of a random half of the users. `most_people`: a sample
    of this size is drawn from more users.

    Raises `RequestError` for fewer models than 8 and for fewer than two users.
    """

    models: int = 16
    most_people: int = MOST_PEOPLE

    name = "exposure"
    knows = (
        "The attacker downloads an item model of reports with public presence, has a user's rated "
        "items, and has trained shadow models with and without that user."
    )
    baseline = "a guess"
    needs = "ratings"

    def __post_init__(self) -> None:
        check_size(self.models, self.most_people)

    def run(self, world: World) -> list[Finding]:
        """Return the area under the curve, and the true-positive rate at 0.1 % false positives."""
        rng = np.random.default_rng(world.seed)
        ratings = world.among(drawn(world, self.most_people, rng))
        inside = rng.random((self.models, ratings.n_users)) < 0.5
        rows = interactions(ratings).presence
        served = np.stack([_weights(ratings.where(who[ratings.users]), rows) for who in inside])
        return inference("the item model's exposure, no noise", served, inside)


def _weights(members: Ratings, rows: PresenceMatrix) -> Doubles:
    """Return the sum of weights between each user's items, shape (users,)."""
    learnt = exposure_of(members)
    directions = None if learnt is None else learnt.weights.directions
    if directions is None:
        return np.zeros(rows.shape[0])
    sums, spectrum = rows.over_items(directions.vectors.astype(np.float64)), directions.spectrum
    return np.asarray(sums**2 @ spectrum - rows.over_items(directions.diagonal.astype(np.float64)))
