"""How every training per person begins: noisy counts are bought, and the rest is planned by them.

The first tenth of the budget goes to the mean rating, to how often items are rated and, across
domains, to how many people link them. What follows depends on ratings through these releases alone.
"""

from typing import NamedTuple

from tacit.ratings import Ratings
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.inputs import require_vocabularies
from tacit.training.person.crossing import Crossing
from tacit.training.person.item_means import Counted, counted, linked_share
from tacit.training.person.release_schedule import (
    FIRST,
    FIRST_LINKED,
    ReleaseSchedule,
    release_schedule,
)


class Opening(NamedTuple):
    """`canonical`: true ratings. `known`: what was released of them. `schedule`: of the rest."""

    canonical: CanonicalRatings
    known: Counted
    schedule: ReleaseSchedule


def opening(
    ratings: Ratings,
    account: Account,
    *,
    steps: int,
    factors: int | None,
    crossing: Crossing | None,
) -> Opening:
    """Spend `level`, `counts` and, given a `crossing`, `links`; plan `steps`, and `factors` or
    those that are worth it.

    Data without ratings are accepted: an error would reveal that nobody rated. Raises
    `RequestError` without users or items, and for a scale of one level.
    """
    require_vocabularies(ratings)
    ratings.scale.require_stars("A training that predicts ratings")
    account.allot(FIRST if crossing is None else FIRST_LINKED)
    canonical = CanonicalRatings.of(ratings)
    known = counted(canonical, account, crossing)
    linked = 1.0 if crossing is None else linked_share(crossing.links, known, account)
    asked = None if crossing is None else crossing.asked
    schedule = release_schedule(known, account.alone, canonical.half, steps, factors, linked, asked)
    return Opening(canonical, known, schedule)
