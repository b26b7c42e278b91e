"""Predicted error and traffic of every method at one epsilon per user, before data collection.

Predictions are simulated on synthetic users (`tacit.readers.synthetic`), whose preferences have the
variances of MovieLens 100K. They rank methods. Absolute errors differ for other real users.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import fmean
from typing import Any, Self

from tacit.collection.named_plans import AUTO, plan_of
from tacit.collection.slot_terms import KINDS, SlotTerms, slot_terms
from tacit.planning import prediction
from tacit.planning.population import MadeUpWorld, Population
from tacit.planning.prediction import Prediction
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.progress import Progress
from tacit.reporting.table import NOTHING, Table
from tacit.results.records import checked, plain
from tacit.scale import shortest
from tacit.training import PER_PERSON, PGMF, ShuffledCovariance, ShuffledItemMean
from tacit.training.mechanism.accounting import check_promise

FREE, MEAN = "no privacy", "mean rating"
TRAINERS = tuple(
    name for name in PER_PERSON if name not in (ShuffledCovariance.name, ShuffledItemMean.name)
)
"""Trainers of a curator or in rounds. Shuffled messages have another epsilon and other batches."""
WORLDS = 2
"""Number of synthetic data sets to average over, if all users are simulated. Otherwise one."""


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """One method with its predicted error and traffic.

    `epsilon`: nats per `unit`, "user", at `delta`. None without privacy. `asked`: the reports of
    each user, in words. `rmse`: in stars, on devices, the mean over synthetic data sets, between
    `lowest` and `highest`. `simulated`: as `tacit.planning.prediction.Simulated`, with
    `simulated_people` users. Bytes are totals per user.
    """

    way: str
    trust: str
    epsilon: float | None
    delta: float
    unit: str
    asked: str
    rmse: float
    lowest: float
    highest: float
    simulated: str
    simulated_people: int
    download_bytes: int
    upload_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A population and its guarantee: `epsilon` nats per user at `delta`, decimal strings.

    Raises `RequestError` for an invalid guarantee, and without the extra `curator`.
    """

    population: Population
    epsilon: str
    delta: str

    def __post_init__(self) -> None:
        check_promise(self.epsilon, self.delta)

    def rows(self, seed: int, progress: Progress) -> list[PlanRow]:
        """Return a row per method. `seed` determines the synthetic users, not the noise."""
        terms = {
            kind: slot_terms(
                kind,
                self.epsilon,
                self.delta,
                n_items=self.population.items,
                channel=AUTO,
                scale=self.population.scale,
            )
            for kind in KINDS
        }
        predictions: dict[str, list[Prediction]] = {}
        means = list[float]()
        all_simulated = self.population.simulated == self.population.people
        worlds = WORLDS if all_simulated else 1
        total = worlds * (len(terms) + len(TRAINERS)) + 1
        done = 0
        for number in range(worlds):
            world = self.population.world(seed + number)
            means.append(world.error_of_mean)
            for way, predicted in self._predictions(terms, world, seed + number, number == 0):
                predictions.setdefault(way, []).append(predicted)
                done += 1
                progress(way, done, total)
        rows = [self._slots(kind, each, predictions[kind]) for kind, each in terms.items()]
        rows += [self._training(name, predictions[name]) for name in TRAINERS]
        return [*rows, self._without(predictions[FREE]), _mean(means, self.population)]

    def _predictions(
        self, terms: Mapping[str, SlotTerms], world: MadeUpWorld, rng: int, first: bool
    ) -> Iterator[tuple[str, Prediction]]:
        people = self.population
        for kind, each in terms.items():
            yield kind, prediction.of_slots(each, AUTO, people, world, rng)
        for name in TRAINERS:
            yield (
                name,
                prediction.of_training(name, self.epsilon, self.delta, people, world, rng),
            )
        if first:  # the reference, once only: it takes as long as all the others
            yield FREE, prediction.without_privacy(people, world, rng)

    def _slots(self, kind: str, terms: SlotTerms, predictions: Sequence[Prediction]) -> PlanRow:
        items, scale = self.population.items, self.population.scale
        chosen = plan_of(terms.plan, AUTO, terms.epsilon, scale, terms.cap)
        places = chosen.reported_slots(items) or items
        return _row(
            kind,
            predictions,
            promise=terms.person,
            released=terms.words,
            download=prediction.model_bytes(predictions[0].fitted, terms.slot),
            upload=prediction.report_bytes(chosen.channels[0], places, items),
        )

    def _training(self, name: str, predictions: Sequence[Prediction]) -> PlanRow:
        if name == PGMF.name:
            return self._rounds(name, predictions)
        fitted = predictions[0].fitted
        promise = replace(fitted.guarantee, epsilon=shortest(Decimal(self.epsilon)))
        return _row(
            name,
            predictions,
            promise=promise,
            released="all ratings, by the curator",
            download=prediction.model_bytes(fitted, promise),
            upload=self._profile,
        )

    def _rounds(self, name: str, predictions: Sequence[Prediction]) -> PlanRow:
        """Count a download of the item model per round, and of the final one. A report counts as
        one byte, because rounds have no wire format."""
        reports, promise = PGMF().budget(self.epsilon)[0], PGMF().guarantee(self.epsilon)
        return _row(
            name,
            predictions,
            promise=promise,
            released=promise.released,
            download=(reports + 1) * prediction.model_bytes(predictions[0].fitted, promise),
            upload=reports,
        )

    def _without(self, predictions: Sequence[Prediction]) -> PlanRow:
        return _row(
            FREE,
            predictions,
            promise=NO_PRIVACY,
            released="all ratings, without noise",
            download=prediction.model_bytes(predictions[0].fitted, NO_PRIVACY),
            upload=self._profile,
        )

    @property
    def _profile(self) -> int:
        people = self.population
        return prediction.profile_bytes(people.scale, people.ratings_each, people.items)


def _row(
    way: str,
    predictions: Sequence[Prediction],
    *,
    promise: Guarantee,
    released: str,
    download: int,
    upload: int,
) -> PlanRow:
    errors = [each.rmse for each in predictions]
    return PlanRow(
        way=way,
        trust=promise.trust,
        epsilon=None if promise.epsilon is None else float(promise.epsilon),
        delta=float(promise.delta),
        unit=promise.unit,
        asked=released,
        rmse=fmean(errors),
        lowest=min(errors),
        highest=max(errors),
        simulated=predictions[0].simulated,
        simulated_people=predictions[0].people,
        download_bytes=download,
        upload_bytes=upload,
    )


def _mean(errors: Sequence[float], people: Population) -> PlanRow:
    return PlanRow(
        way=MEAN,
        trust="nobody",
        epsilon=None,
        delta=0.0,
        unit="none",
        asked="nothing",
        rmse=fmean(errors),
        lowest=min(errors),
        highest=max(errors),
        simulated="whole" if people.simulated == people.people else "scaled",
        simulated_people=people.simulated,
        download_bytes=0,
        upload_bytes=0,
    )


ABOUT = {
    "whole": "All users were simulated.",
    "scaled": "Fewer users were simulated, with reports that carry the same total information.",
    "extrapolated": "Fewer users were simulated, with proportionally less noise. The error is "
    "extrapolated from half of the simulated users and from all of them: linearly in 1 / users, "
    "or in 1 / sqrt(users) without privacy.",
    "bounded": "The simulated users have more noise than the plan's users, because epsilon or the "
    "number of reports reached its maximum. The real error is lower.",
}


def expected(rows: Sequence[PlanRow], people: str) -> Table:
    """Return errors and bytes, a line per way. `asked`: the users, in words."""
    heading = ("trusted", "method", "RMSE", "range", "download", "upload", "simulated")
    return Table(f"Expected on devices: {people}", heading, tuple(_line(row) for row in rows))


def asked_table(rows: Sequence[PlanRow]) -> Table:
    """Return the reports that each way requests of a user, and their epsilon."""
    private = [row for row in rows if row.epsilon is not None]
    lines = tuple((row.way, row.asked, f"{row.epsilon:g}", f"{row.delta:g}") for row in private)
    return Table("Reports per user", ("method", "reports", "epsilon per user", "delta"), lines)


def sentences(rows: Sequence[PlanRow]) -> list[str]:
    """Return how the figures were obtained, one sentence each."""
    used = [kind for kind in ABOUT if any(row.simulated == kind for row in rows)]
    return [
        *(f"{kind}: {ABOUT[kind]}" for kind in used),
        f"Range: the smallest and largest error over {WORLDS} synthetic data sets if all users are "
        "simulated, otherwise one data set. Errors differ by about .01 between synthetic data "
        "sets, and by more between real ones.",
        "Bytes per user, excluding HTTP headers: encoded models and reports; a profile counts as "
        "one report of true levels, a federated round as one byte.",
    ]


def _line(row: PlanRow) -> tuple[str, ...]:
    worlds = f"{row.lowest:.3f} to {row.highest:.3f}" if row.lowest < row.highest else NOTHING
    return (
        row.trust,
        row.way,
        f"{row.rmse:.3f}",
        worlds,
        f"{row.download_bytes:,}",
        f"{row.upload_bytes:,}",
        f"{row.simulated}, {row.simulated_people:,} users",
    )
