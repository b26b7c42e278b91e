"""What to expect before anybody is asked: every way to learn at one epsilon per person.

Predictions come from made-up people alone (`tacit.readers.synthetic`), whose tastes have the
spreads of MovieLens 100K: they tell ways apart, and are off where real people are not like that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import fmean
from typing import Any, Self

from tacit.evaluation.comparison.tools import plan
from tacit.evaluation.grid import Progress
from tacit.evaluation.person import prediction, traffic
from tacit.evaluation.person.population import MadeUpWorld, Population
from tacit.evaluation.person.prediction import Prediction
from tacit.evaluation.person.slots import KINDS, SlotTerms, slot_terms
from tacit.evaluation.results import checked, plain
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.scale import shortest
from tacit.training import PER_PERSON, PGMF
from tacit.training.mechanism.accounting import check_promise

AUTO = "auto"
NOTHING, MEAN = "no privacy", "mean rating"
WORLDS = 2
"""Made-up worlds that are averaged where all people are made up; else there is one."""


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """One way to learn, and what to expect of it.

    `epsilon`: nats per `unit`, "user", at `delta`; None without privacy. `asked`: what everybody
    is asked, in words. `rmse`: in stars, on devices, the mean over made-up worlds; `lowest` and
    `highest` of them. `simulated`: as `tacit.evaluation.person.prediction.Simulated`, of
    `simulated_people`. Bytes are of one person: all they download, and all they upload.
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
        """The row as JSON-ready values."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The row that `to_dict` wrote; raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Who will be asked, and the promise to each: `epsilon` nats per person at `delta`, decimal
    strings. Raises `RequestError` for one that promises nothing, and without the extra `curator`.
    """

    population: Population
    epsilon: str
    delta: str

    def __post_init__(self) -> None:
        check_promise(self.epsilon, self.delta)

    def rows(self, seed: int, progress: Progress) -> list[PlanRow]:
        """A row for each way, by who is trusted; `seed` makes up the worlds, not the noise."""
        terms = {
            kind: slot_terms(
                kind,
                self.epsilon,
                self.delta,
                n_items=self.population.items,
                channel=AUTO,
                scale=self.population.scale,
                make=plan,
            )
            for kind in KINDS
        }
        found: dict[str, list[Prediction]] = {}
        means = list[float]()
        whole = self.population.simulated == self.population.people
        worlds = WORLDS if whole else 1
        total = worlds * (len(terms) + len(PER_PERSON)) + 1
        done = 0
        for number in range(worlds):
            world = self.population.world(seed + number)
            means.append(world.error_of_mean)
            for way, predicted in self._predictions(terms, world, seed + number, number == 0):
                found.setdefault(way, []).append(predicted)
                done += 1
                progress(way, done, total)
        rows = [self._slots(kind, each, found[kind]) for kind, each in terms.items()]
        rows += [self._training(name, found[name]) for name in PER_PERSON]
        return [*rows, self._without(found[NOTHING]), _mean(means, self.population)]

    def _predictions(
        self, terms: Mapping[str, SlotTerms], world: MadeUpWorld, rng: int, first: bool
    ) -> Iterator[tuple[str, Prediction]]:
        people = self.population
        for kind, each in terms.items():
            yield kind, prediction.of_slots(each, AUTO, people, world, rng)
        for name in PER_PERSON:
            yield (
                name,
                prediction.of_training(name, self.epsilon, self.delta, people, world, rng),
            )
        if first:  # an anchor, which takes as long as all the rest
            yield NOTHING, prediction.without_privacy(people, world, rng)

    def _slots(self, kind: str, terms: SlotTerms, found: Sequence[Prediction]) -> PlanRow:
        items, scale = self.population.items, self.population.scale
        asked = plan(terms.plan, AUTO, terms.epsilon, scale, terms.cap)
        places = asked.asked_slots(items) or items
        return _row(
            kind,
            found,
            promise=terms.person,
            asked=terms.words,
            download=traffic.model_bytes(found[0].fitted, terms.slot),
            upload=traffic.report_bytes(asked.channels[0], places, items),
        )

    def _training(self, name: str, found: Sequence[Prediction]) -> PlanRow:
        if name == PGMF.name:
            return self._rounds(name, found)
        fitted = found[0].fitted
        promise = replace(fitted.guarantee, epsilon=shortest(Decimal(self.epsilon)))
        return _row(
            name,
            found,
            promise=promise,
            asked="all ratings, by the curator",
            download=traffic.model_bytes(fitted, promise),
            upload=self._profile,
        )

    def _rounds(self, name: str, found: Sequence[Prediction]) -> PlanRow:
        """With the item side before each answer, and the last one; an answer is taken for a byte,
        since rounds have no format of their own."""
        reports, promise = PGMF().budget(self.epsilon)[0], PGMF().guarantee(self.epsilon)
        return _row(
            name,
            found,
            promise=promise,
            asked=promise.released,
            download=(reports + 1) * traffic.model_bytes(found[0].fitted, promise),
            upload=reports,
        )

    def _without(self, found: Sequence[Prediction]) -> PlanRow:
        return _row(
            NOTHING,
            found,
            promise=NO_PRIVACY,
            asked="all ratings, as they are",
            download=traffic.model_bytes(found[0].fitted, NO_PRIVACY),
            upload=self._profile,
        )

    @property
    def _profile(self) -> int:
        people = self.population
        return traffic.profile_bytes(people.scale, people.ratings_each, people.items)


def _row(
    way: str,
    found: Sequence[Prediction],
    *,
    promise: Guarantee,
    asked: str,
    download: int,
    upload: int,
) -> PlanRow:
    errors = [each.rmse for each in found]
    return PlanRow(
        way=way,
        trust=promise.trust,
        epsilon=None if promise.epsilon is None else float(promise.epsilon),
        delta=float(promise.delta),
        unit=promise.unit,
        asked=asked,
        rmse=fmean(errors),
        lowest=min(errors),
        highest=max(errors),
        simulated=found[0].simulated,
        simulated_people=found[0].people,
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
