"""Comparison at equal epsilon per user: every system at the same guarantee of a user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tacit.collection.named_plans import IDENTITY
from tacit.collection.slot_terms import KINDS, SlotTerms, slot_terms
from tacit.errors import RequestError
from tacit.experiments.comparison.comparison import Comparison, ComparisonCell
from tacit.experiments.comparison.measurement import Measurement, with_baseline_columns
from tacit.experiments.experiment import Experiment
from tacit.learners.learner import Learner
from tacit.ratings import Ratings
from tacit.reporting.page import Provenance
from tacit.reporting.table import Table, text
from tacit.results.comparison.report import report
from tacit.results.comparison.row import ResultRow
from tacit.results.comparison.tables import accuracy
from tacit.results.guarantee_text import sentences
from tacit.training import LIST_TRAININGS, PER_PERSON

Terms = Mapping[tuple[str, str], SlotTerms]
"""Report terms, by kind of plan and epsilon per user."""
RATED = (
    "The plan rated is excluded: it reveals which items a user rated, so it has no finite epsilon "
    "per user."
)
SHOWN = {"rmse": "RMSE", "ndcg_at_20": "NDCG@20"}
"""Printed metrics."""


STARS_MODELS = ("channel-mf", "pg-mf", "dpals", "dp-covariance")
LIST_MODELS = ("ease", "dp-ease")
SHUFFLED_STARS = ("shuffled-covariance", "shuffled-item-mean")
SHUFFLED_LISTS = ("shuffled-ease", "shuffled-popularity")
SHUFFLED = (*SHUFFLED_STARS, *SHUFFLED_LISTS)


def default_models(ratings: Ratings) -> tuple[str, ...]:
    """Return the models of a comparison that names none, by the scale."""
    return LIST_MODELS if ratings.scale.has_one_level else STARS_MODELS


def with_shuffled(every: Comparison, ratings: Ratings, messages: int) -> Comparison:
    """Add the trainers from shuffled messages for the scale, with M = `messages`.

    Those that the comparison names have the same M.
    """
    find = every.learner
    added = SHUFFLED_LISTS if ratings.scale.has_one_level else SHUFFLED_STARS

    def named(name: str, mode: str) -> Learner:
        known = find(name, mode)
        if name not in SHUFFLED:
            return known
        return replace(known, settings=replace(known.settings, messages=messages))

    return replace(
        every,
        models=tuple(dict.fromkeys((*every.models, *added))),
        rounds=dict.fromkeys(SHUFFLED, f"shuffled:{messages}"),
        learner=named,
    )


@dataclass(frozen=True, kw_only=True)
class UserLevelComparison:
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
            learner = self.every.learner(name, "strict")
            per = learner.unit if learner.is_trainer else "user"
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

    def terms(self, ratings: Ratings) -> Terms:
        """Return the report terms by kind and epsilon per user. They depend only on the public
        scale and the size of the catalogue."""
        if all(self.every.learner(name, "strict").is_trainer for name in self.every.models):
            return {}
        return {
            (kind, epsilon): slot_terms(
                kind,
                epsilon,
                self.every.delta,
                n_items=ratings.n_items,
                channel=self.every.channels[0],
                scale=ratings.scale,
                make=self.every.make_plan,
            )
            for epsilon in self.epsilons
            for kind in self.kinds
        }

    def cells(self, ratings: Ratings, terms: Terms) -> list[ComparisonCell]:
        """Return all cells: without privacy, then trainers, then each of the terms."""
        trained = replace(self.every, epsilons=self.epsilons).cells(ratings)
        cells = [one for one in trained if one.channel in (IDENTITY, None)]
        for chosen in terms.values():
            every = replace(
                self.every, plan=chosen.plan, cap=chosen.cap, epsilons=(chosen.epsilon,)
            )
            cells += [
                one
                for one in every.cells(ratings)
                if one.channel not in (IDENTITY, None) and one not in cells
            ]
        return cells

    def experiment(
        self, ratings: Ratings, terms: Terms, run: Provenance | None = None
    ) -> Experiment[ComparisonCell, ResultRow]:
        """Declare the experiment. `terms`: of `terms`. `run`: the provenance of its report."""
        words = self.every.protocol.words
        return Experiment(
            title="comparing",
            row=ResultRow,
            cells=self.cells(ratings, terms),
            measure=Measurement(self.every, ratings),
            derive=with_baseline_columns,
            text=lambda rows: _as_text(on_axis(rows, terms), terms, self.every.delta),
            page=lambda rows: report(on_axis(rows, terms), split=words, run=run),
        )


def _as_text(rows: Sequence[ResultRow], terms: Terms, delta: str) -> str:
    """Return the tables for a terminal, then the guarantees. `rows`: of `on_axis`."""
    tables = [
        accuracy(rows, metric, f"{caption}, mean over splits") for metric, caption in SHOWN.items()
    ]
    tables += [terms_table(terms, delta)] if terms else []
    shown = [f"{text(table)}\n" for table in tables if table.lines]
    return "\n".join([*shown, *sentences(rows), RATED])


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
    heading = ("epsilon per user", "reports", f"epsilon of all reports, delta = {delta}")
    return Table(
        "Collection parameters, chosen from a public prior before any report is collected",
        heading,
        lines,
    )
