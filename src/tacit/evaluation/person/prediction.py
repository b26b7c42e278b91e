"""The error that devices will have, for each way to learn: simulated on made-up people, all of them
or as few as stand for all (`fewer_people`)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from tacit.collection.perturb import kept_rows, perturb
from tacit.collection.sample import Sample
from tacit.evaluation.person.fewer_people import (
    AskedRounds,
    AskedSlots,
    asked_rounds,
    asked_slots,
    curator_epsilon,
    extrapolated,
)
from tacit.evaluation.person.population import MadeUpWorld, Population
from tacit.evaluation.person.slots import SlotTerms
from tacit.models import ChannelMF, Fitted, evidence
from tacit.ratings import Ratings
from tacit.training import PGMF, train

Simulated = Literal["whole", "scaled", "extrapolated", "bounded"]
"""All people; fewer who stand for them; two such sizes and a line; fewer whose answers are noisier
than those of all, so that the error is below the one that is predicted."""
SHORT = ChannelMF(draws=16, burn_in=60)
"""With fewer sweeps than by default, for speed."""
MOST_PLAIN = 300_000
"""Ratings that channel-mf learns from without privacy."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Prediction:
    """`rmse`: in stars. `fitted`: the model, as large as the real one. `people`: made up."""

    rmse: float
    fitted: Fitted
    people: int
    simulated: Simulated


def of_slots(
    terms: SlotTerms, through: str, population: Population, world: MadeUpWorld, rng: int
) -> Prediction:
    """channel-mf from reports under `terms`, through the channel named `through`."""
    known = world.own
    if terms.cap is not None:
        # Answers are for what a cap keeps of the whole catalogue, however few slots are simulated.
        known = known.where(kept_rows(known, terms.cap))
    density = len(known) / (known.n_users * known.n_items)
    asked = asked_slots(
        terms,
        through,
        people=population.people,
        simulated=population.simulated,
        n_items=population.items,
        density=density,
        scale=population.scale,
    )
    answering = replace(world, own=known).first(asked.people)
    reports = perturb(answering, Sample(asked.channel, asked.slots))
    fitted = SHORT.fit(evidence(reports), rng=rng)
    return _of_answers(fitted, asked, population, world)


def of_training(
    name: str, epsilon: str, delta: str, population: Population, world: MadeUpWorld, rng: int
) -> Prediction:
    """The named training at `epsilon` nats per person and `delta`, decimal strings."""
    if name == PGMF.name:
        return _of_rounds(epsilon, population, world, rng)

    def learn(ratings: Ratings) -> Fitted:
        share = ratings.n_users / population.people
        spent = epsilon if share >= 1 else curator_epsilon(epsilon, delta, share)
        return train(name, ratings, epsilon=spent, delta=delta, rng=rng)

    return _on_line(learn, population.simulated, 1.0, population, world)


def without_privacy(population: Population, world: MadeUpWorld, rng: int) -> Prediction:
    """channel-mf from true ratings."""
    most = max(100, MOST_PLAIN // population.ratings_each)

    def learn(ratings: Ratings) -> Fitted:
        return SHORT.fit(evidence(ratings), rng=rng)

    return _on_line(learn, min(most, population.people), 0.5, population, world)


def _of_rounds(epsilon: str, population: Population, world: MadeUpWorld, rng: int) -> Prediction:
    """pg-mf, whose people stand for more by more reports at the epsilon of each."""
    asked = asked_rounds(PGMF(), epsilon, population.people, population.simulated)
    training = PGMF(reports=asked.reports)
    fitted = training.fit(world.first(asked.people), epsilon=asked.epsilon, rng=rng)
    return _of_answers(fitted, asked, population, world)


def _of_answers(
    fitted: Fitted, asked: AskedSlots | AskedRounds, population: Population, world: MadeUpWorld
) -> Prediction:
    """What was learnt from the answers of all people, or of fewer who stand for them."""
    whole = asked.people == population.people
    return Prediction(
        rmse=world.error(fitted),
        fitted=fitted,
        people=asked.people,
        simulated="whole" if whole else "scaled" if asked.share == 1 else "bounded",
    )


def _on_line(
    learn: Callable[[Ratings], Fitted],
    most: int,
    power: float,
    population: Population,
    world: MadeUpWorld,
) -> Prediction:
    """What `learn` makes of all people, or of half of `most` people and of `most`."""
    fitted = learn(world.first(most))
    rmse = world.error(fitted)
    if most >= population.people:
        return Prediction(rmse=rmse, fitted=fitted, people=most, simulated="whole")
    half = world.error(learn(world.first(most // 2)))
    line = extrapolated((half, rmse), (most // 2, most), population.people, power)
    return Prediction(rmse=line, fitted=fitted, people=most, simulated="extrapolated")
