"""Comparison at equal epsilon per user: the request, and how it is run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.runner import ComparisonRunner
from tacit.evaluation.comparison.tools import Tools
from tacit.evaluation.comparison.without_privacy import beside_free
from tacit.evaluation.grid import IDENTITY, Experiment, Progress
from tacit.evaluation.journal import Journal
from tacit.evaluation.person.slots import KINDS, SlotTerms, slot_terms
from tacit.evaluation.results import ResultRow
from tacit.ratings import Ratings
from tacit.training import LIST_TRAININGS, PER_PERSON, modes, unit

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
