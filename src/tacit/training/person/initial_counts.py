"""First stage of user-level trainers: release noisy counts, which set the remaining schedule.

First stage of user-level trainers: release noisy counts, which set the remaining schedule.

The first tenth of the budget is spent on the mean rating, on rating frequencies of items and,
across domains, on the number of linking users. Later stages depend on ratings through these
releases alone.
"""

from typing import NamedTuple

from tacit.ratings import Ratings
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings, require_vocabularies
from tacit.training.person.cross_domain_inputs import Crossing
from tacit.training.person.item_means import Counted, counted, linked_share
from tacit.training.person.release_schedule import (
    FIRST,
    FIRST_LINKED,
    ReleaseSchedule,
    release_schedule,
)


class Opening(NamedTuple):
    """`canonical`: true ratings. `known`: released counts. `schedule`: of the remaining budget."""

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
    """Release `level`, `counts` and, with a `crossing`, `links`, and plan the remaining releases.

    `steps`: of the alternation. `factors`: K, None to choose it. Data without ratings are accepted:
    an error would reveal that no user rated. Raises `RequestError` without users or items, and for
    a scale of one level.
    """
    require_vocabularies(ratings)
    ratings.scale.require_stars("A training that predicts ratings")
    account.allot(FIRST if crossing is None else FIRST_LINKED)
    canonical = CanonicalRatings.of(ratings)
    known = counted(canonical, account, crossing)
    linked = 1.0 if crossing is None else linked_share(crossing.links, known, account)
    target_items = None if crossing is None else crossing.asked
    schedule = release_schedule(
        known, account.alone, canonical.half, steps, factors, linked, target_items
    )
    return Opening(canonical, known, schedule)
