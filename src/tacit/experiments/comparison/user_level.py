"""Comparison at equal epsilon per user: the request, and how it is run.

Choice of the number of slots per user and the epsilon per slot, for a given epsilon per user.

The choice precedes any report. It maximizes the information under the public prior of
`tacit.scale`, in which one slot in twenty has a rating. The information of a user's reports
is that of one slot, `fisher_information`, times the number of slots, less what a cap drops. The
cost is the tight guarantee of the plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial

from tacit.channels import fisher_information
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.experiments import grid
from tacit.experiments.comparison.comparison import Comparison, ComparisonRunner, beside_free
from tacit.experiments.grid import IDENTITY, Experiment, Journal, Progress
from tacit.experiments.results import ResultRow
from tacit.experiments.tools import Tools
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.reporting.table import Table
from tacit.scale import RATED_SHARE, RatingScale
from tacit.training import LIST_TRAININGS, PER_PERSON, modes, unit

MakePlan = Callable[[str, str, str, RatingScale, int | None], Plan]
"""Factory of plans: name, channel, epsilon per slot, scale and cap, as in `tacit compare`."""
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
    make: MakePlan,
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
                "The epsilon per user of a plan requires dp-accounting. Run pip install "
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
    slots, channel = plan.asked_slots(n_items) or 0, plan.channels[0]
    density = RATED_SHARE
    if plan.cap is not None:
        density = min(density, plan.cap / slots)
    information = slots * fisher_information(channel, density=density)
    return information * density**2 if len(channel.levels) == 1 else information


Terms = Mapping[tuple[str, str], SlotTerms]
"""Report terms, by kind of plan and epsilon per user."""
RATED = (
    "The plan rated is not here: which items a person rated leaves as it is, so no epsilon bounds "
    "what a whole person gives away."
)


@dataclass(frozen=True, kw_only=True)
class PersonComparison:
    """`epsilons`: nats per user at `every.delta`, decimal strings. `every`: the common settings of
    all cells. Its plan, cap and epsilons are replaced. `kinds`: plans under which models of reports
    run. Trainers have their own guarantee.

    Raises `RequestError` for a trainer whose guarantee is not per user, or has no declared unit.
    """

    epsilons: Sequence[str]
    every: Comparison
    kinds: Sequence[str] = field(default=KINDS)

    def __post_init__(self) -> None:
        for name in self.every.models:
            per = unit(name) if modes(name) else "user"
            if per is None:
                raise RequestError(
                    f"{name} does not declare the unit of its epsilon; set unit = 'user' if its "
                    "guarantee is per user."
                )
            if per != "user":
                raise RequestError(
                    f"The guarantee of {name} is per {per} and does not bound a user's privacy "
                    f"loss; choose from {', '.join((*PER_PERSON, *LIST_TRAININGS.own))}."
                )

    def terms(self, ratings: Ratings, make: Tools) -> Terms:
        """Return the report terms by kind and epsilon per user. They depend only on the public
        scale and the size of the catalogue."""
        if all(modes(name) for name in self.every.models):
            return {}
        return {
            (kind, epsilon): slot_terms(
                kind,
                epsilon,
                self.every.delta,
                n_items=ratings.n_items,
                channel=self.every.channels[0],
                scale=ratings.scale,
                make=make.plan,
            )
            for epsilon in self.epsilons
            for kind in self.kinds
        }

    def experiments(self, ratings: Ratings, terms: Terms) -> list[Experiment]:
        """Return all experiments: without privacy, then trainers, then each of the terms."""
        trained = replace(self.every, epsilons=self.epsilons).experiments(ratings)
        cells = [one for one in trained if one.channel in (IDENTITY, None)]
        for chosen in terms.values():
            cell = replace(self.every, plan=chosen.plan, cap=chosen.cap, epsilons=(chosen.epsilon,))
            cells += [
                one
                for one in cell.experiments(ratings)
                if one.channel not in (IDENTITY, None) and one not in cells
            ]
        return cells

    def run(
        self,
        ratings: Ratings,
        terms: Terms,
        tools: Tools,
        journal: Journal[ResultRow],
        progress: Progress,
    ) -> list[ResultRow]:
        """Run all experiments that are not in `journal`. Returns the rows of all of them."""
        runner = ComparisonRunner(
            ratings,
            self.every.protocol,
            tools,
            relevant=self.every.relevant,
            delta=self.every.delta,
            options=self.every.options,
            slices=self.every.slices,
            items=self.every.items,
        )
        experiments = self.experiments(ratings, terms)
        return beside_free(grid.run(experiments, runner, journal, progress))

    def finished(
        self, ratings: Ratings, terms: Terms, journal: Journal[ResultRow]
    ) -> list[ResultRow]:
        """Return the finished rows, after an interrupt."""
        experiments = self.experiments(ratings, terms)
        return beside_free(journal.rows(experiment.key for experiment in experiments))


def on_axis(rows: Sequence[ResultRow], terms: Terms) -> list[ResultRow]:
    """Replace the epsilon of each row by the epsilon per user of its terms. Sorts by trust.

    `terms`: by kind of plan and epsilon per user. A row of a channel gets the kind in its channel's
    name. Raises `RequestError` for a trainer's row whose guarantee is not per user.
    """
    requested = {
        (each.plan, each.cap, float(each.slot.epsilon or 0)): (kind, float(person))
        for (kind, person), each in terms.items()
    }
    placed = [_on_axis(row, requested) for row in rows]
    return sorted(placed, key=lambda row: (row.epsilon is None, row.trust != "nobody"))


def _on_axis(
    row: ResultRow, requested: Mapping[tuple[str, int | None, float], tuple[str, float]]
) -> ResultRow:
    if row.channel is None and row.epsilon is not None and row.unit != "user":
        raise RequestError(
            f"{row.model} declares the unit user but guarantees its epsilon per {row.unit}; "
            "correct its unit, or leave the model out."
        )
    if row.channel in (None, IDENTITY) or row.epsilon is None:
        return row
    kind, person = requested[row.plan, row.cap, row.epsilon]
    return replace(
        row,
        channel=f"{row.channel}, {kind}",
        epsilon=person,
        unit="user",
        user_epsilon=None,
        tight_epsilon=None,  # `epsilon` now has this role, at the row's delta
    )


def terms_table(terms: Terms, delta: str) -> Table:
    """Return the reports requested of every user at each epsilon, and the resulting epsilon."""
    lines = tuple(
        (person, each.words, each.person.epsilon or "") for (_, person), each in terms.items()
    )
    heading = ("epsilon per user", "reports", f"epsilon of one user, delta = {delta}")
    return Table("Terms, chosen by a public prior before any report", heading, lines)
