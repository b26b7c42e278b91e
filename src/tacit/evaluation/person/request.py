"""A comparison on one axis: every system set so that a whole person has the same epsilon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.runner import ComparisonRunner, Tools
from tacit.evaluation.comparison.without_privacy import beside_free
from tacit.evaluation.grid import IDENTITY, Experiment, Progress
from tacit.evaluation.journal import Journal
from tacit.evaluation.person.slots import KINDS, SlotTerms, slot_terms
from tacit.evaluation.results import ResultRow
from tacit.ratings import Ratings
from tacit.training import LIST_TRAININGS, PER_PERSON, modes, unit

Terms = Mapping[tuple[str, str], SlotTerms]
"""What is asked, by kind of plan and epsilon per person."""
RATED = (
    "The plan rated is not here: which items a person rated leaves as it is, so no epsilon bounds "
    "what a whole person gives away."
)


@dataclass(frozen=True, kw_only=True)
class PersonComparison:
    """`epsilons`: nats per person at `every.delta`, decimal strings. `every`: what all cells share;
    its plan, cap and epsilons are set here. Models of it that learn from reports get them under
    each kind of plan; trainings have their own promise.

    Raises `RequestError` for a training whose promise is of less than a person, or that does not
    say of what.
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
        """What is asked, by kind and epsilon per person: from the public scale and catalogue's size
        alone."""
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
        """Every experiment: without privacy once, then trainings, then each of the terms."""
        trained = replace(self.every, epsilons=self.epsilons).experiments(ratings)
        found = [one for one in trained if one.channel in (IDENTITY, None)]
        for asked in terms.values():
            cell = replace(self.every, plan=asked.plan, cap=asked.cap, epsilons=(asked.epsilon,))
            found += [
                one
                for one in cell.experiments(ratings)
                if one.channel not in (IDENTITY, None) and one not in found
            ]
        return found

    def run(
        self,
        ratings: Ratings,
        terms: Terms,
        tools: Tools,
        journal: Journal[ResultRow],
        progress: Progress,
    ) -> list[ResultRow]:
        """The rows of all experiments; those in `journal` already are not run again."""
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
        """The rows that are done, after an interrupt."""
        experiments = self.experiments(ratings, terms)
        return beside_free(journal.rows(experiment.key for experiment in experiments))
