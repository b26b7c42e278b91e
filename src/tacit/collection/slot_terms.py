"""Slots per user and epsilon per slot, for a given epsilon per user.

The choice precedes any report. It maximizes the information under a public prior, in which one slot
in twenty has a rating (`tacit.scale.RATED_SHARE`). The information of a user's reports is that of
one slot, `fisher_information`, times the number of slots, less what a cap drops. The cost is the
tight guarantee of the plan.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from tacit.channels import fisher_information
from tacit.collection.named_plans import PlanMaker, plan_of
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RATED_SHARE, RatingScale

KINDS = ("sample", "catalogue")
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Candidate numbers of slots in a sample, and candidate caps."""
STEPS = tuple(
    f"{Decimal(mantissa).scaleb(power):f}"
    for power in (-4, -3, -2, -1)
    for mantissa in range(10, 100)
)
"""Epsilons per slot from .001 to 9.9, two digits each, nats."""


@dataclass(frozen=True, kw_only=True)
class SlotTerms:
    """Report terms of every user: `plan` and `cap`, with a channel of `epsilon`, nats, a decimal.

    `slot`: the guarantee per slot. With a cap it is weaker than that of the channel, because one
    rating may displace another. `person`: the guarantee per user at the requested delta.
    `information`: of all reports of a user under the public prior.
    """

    plan: str
    cap: int | None
    epsilon: str
    slot: Guarantee
    person: Guarantee
    information: float

    @property
    def words(self) -> str:
        """The plan, its cap and the epsilon of its channel."""
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
    make: PlanMaker = plan_of,
) -> SlotTerms:
    """Return the terms of a kind, "sample" or "catalogue", with the most information.

    `person`: nats per user at `delta`, decimal strings. Raises `RequestError` without the extra
    `curator`, whose accounting is required, and if even .001 per slot exceeds the budget.
    """
    ways = [(f"sample:{size}", None) for size in SIZES if size <= n_items]
    if kind == "catalogue":
        ways = [("catalogue", size) for size in SIZES if size <= n_items]

    def at(plan: str, cap: int | None, epsilon: str) -> Plan:
        return make(plan, channel, epsilon, scale, cap)

    candidates = [
        terms
        for plan, cap in ways
        if (terms := _most(partial(at, plan, cap), person, delta, n_items)) is not None
    ]
    if not candidates:
        raise RequestError(
            f"No {kind} plan on this catalogue stays within epsilon {person} per user at delta "
            f"{delta}; use a larger epsilon or delta."
        )
    return max(candidates, key=lambda terms: float(f"{terms.information:.6g}"))


def _most(at: Callable[[str], Plan], person: str, delta: str, n_items: int) -> SlotTerms | None:
    """Return the terms with the largest epsilon per slot within the budget, by bisection: the cost
    increases with epsilon."""
    low, high, best = 0, len(STEPS), None
    while low < high:
        middle = (low + high) // 2
        candidate = at(STEPS[middle])
        guarantee = candidate.tight_guarantee(n_items, delta)
        if guarantee is None or guarantee.epsilon is None:
            raise RequestError(
                "Computing a plan's epsilon per user requires dp-accounting. Run pip install "
                "'tacit-recommender[curator]'."
            )
        if Decimal(guarantee.epsilon) <= Decimal(person):
            best = SlotTerms(
                plan=candidate.name,
                cap=candidate.cap,
                epsilon=STEPS[middle],
                slot=candidate.guarantee,
                person=guarantee,
                information=_information(candidate, n_items),
            )
            low = middle + 1
        else:
            high = middle
    return best


def _information(plan: Plan, n_items: int) -> float:
    """Return the information of a user's reports, if one slot in twenty is rated.

    About theta, in 1 / stars^2. On a one-level scale, about the logarithm of the number of raters.
    """
    slots, channel = plan.reported_slots(n_items) or 0, plan.channels[0]
    density = RATED_SHARE
    if plan.cap is not None:
        density = min(density, plan.cap / slots)
    information = slots * fisher_information(channel, density=density)
    return information * density**2 if len(channel.levels) == 1 else information
