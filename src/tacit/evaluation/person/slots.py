"""How many slots a person answers for, and at which epsilon each, so that all have a given one.

Chosen before anybody is asked: by what a report tells under the public prior of
`tacit.public_priors`, in which one slot in twenty holds a rating. What all answers of a person tell
is that of one slot, `fisher_information`, times the slots; a cap loses what is above it. What they
cost is the plan's own tight account.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from tacit.channels import fisher_information
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.public_priors import RATED_SHARE
from tacit.scale import RatingScale

MakePlan = Callable[[str, str, str, RatingScale, int | None], Plan]
"""A plan by its name, channel, epsilon per slot, scale and cap, as `tacit compare` has it."""
KINDS = ("sample", "catalogue")
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Slots of a sample, and caps."""
STEPS = tuple(
    f"{Decimal(mantissa).scaleb(power):f}"
    for power in (-4, -3, -2, -1)
    for mantissa in range(10, 100)
)
"""Epsilons per slot from .001 to 9.9, two digits each, nats."""


@dataclass(frozen=True, kw_only=True)
class SlotTerms:
    """What everybody is asked: `plan` and `cap`, through a table of `epsilon`, nats, a decimal.

    `slot`: what one slot then has, which with a cap is more than the table's epsilon, since one
    rating may displace another. `person`: what a whole person has, at the delta asked for. `told`:
    the information of all their answers under the public prior.
    """

    plan: str
    cap: int | None
    epsilon: str
    slot: Guarantee
    person: Guarantee
    told: float

    @property
    def words(self) -> str:
        """The plan, its cap and the table's epsilon, in a few words."""
        cap = "" if self.cap is None else f", at most {self.cap} ratings"
        return f"{self.plan}{cap}, a table of epsilon {self.epsilon}"


def slot_terms(
    kind: str,
    person: str,
    delta: str,
    *,
    n_items: int,
    channel: str,
    scale: RatingScale,
    make: MakePlan,
) -> SlotTerms:
    """The terms of a kind, "sample" or "catalogue", that tell most.

    `person`: nats per person at `delta`, decimal strings. Raises `RequestError` without the extra
    `curator`, whose accounting is needed, and where even .001 per slot is too much.
    """
    ways = [(f"sample:{size}", None) for size in SIZES if size <= n_items]
    if kind == "catalogue":
        ways = [("catalogue", size) for size in SIZES if size <= n_items]

    def at(plan: str, cap: int | None, epsilon: str) -> Plan:
        return make(plan, channel, epsilon, scale, cap)

    found = [
        terms
        for plan, cap in ways
        if (terms := _most(partial(at, plan, cap), person, delta, n_items)) is not None
    ]
    if not found:
        raise RequestError(
            f"No {kind} plan on this catalogue stays within epsilon {person} per user at delta "
            f"{delta}; use a larger epsilon or delta."
        )
    return max(found, key=lambda terms: float(f"{terms.told:.6g}"))


def _most(at: Callable[[str], Plan], person: str, delta: str, n_items: int) -> SlotTerms | None:
    """The largest epsilon per slot within the person's: it costs more the larger it is."""
    low, high, best = 0, len(STEPS), None
    while low < high:
        middle = (low + high) // 2
        asked = at(STEPS[middle])
        found = asked.tight_guarantee(n_items, delta)
        if found is None or found.epsilon is None:
            raise RequestError(
                "The epsilon per user of a plan requires dp-accounting. Run pip install "
                "'tacit-recommender[curator]'."
            )
        if Decimal(found.epsilon) <= Decimal(person):
            best = SlotTerms(
                plan=asked.name,
                cap=asked.cap,
                epsilon=STEPS[middle],
                slot=asked.guarantee,
                person=found,
                told=_told(asked, n_items),
            )
            low = middle + 1
        else:
            high = middle
    return best


def _told(plan: Plan, n_items: int) -> float:
    """Information of a person's answers, where one slot in twenty is rated.

    About theta, in 1 / stars^2; where there is one level, about the logarithm of how many rate.
    """
    slots, channel = plan.asked_slots(n_items) or 0, plan.channels[0]
    density = RATED_SHARE
    if plan.cap is not None:
        density = min(density, plan.cap / slots)
    told = slots * fisher_information(channel, density=density)
    return told * density**2 if len(channel.levels) == 1 else told
