"""Predicted error on devices per method: a simulation with all synthetic users, or with a sample
that represents them (`fewer_people`)."""

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
"""All users; an equivalent sample; an extrapolation from two samples; or a sample with more noise
than all users, so that the real error is below the prediction."""
SHORT = ChannelMF(draws=16, burn_in=60)
"""Fewer sweeps than by default, for speed."""
MOST_PLAIN = 300_000
"""Maximum number of ratings to fit channel-mf to without privacy."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Prediction:
    """`rmse`: in stars. `fitted`: a model of the real size. `people`: number of simulated users."""

    rmse: float
    fitted: Fitted
    people: int
    simulated: Simulated


def of_slots(
    terms: SlotTerms, through: str, population: Population, world: MadeUpWorld, rng: int
) -> Prediction:
    """Predict channel-mf on reports under `terms`, through the channel named `through`."""
    known = world.own
    if terms.cap is not None:
        # The cap applies to the complete catalogue, even if fewer slots are simulated.
        known = known.where(kept_rows(known, terms.cap))
    density = len(known) / (known.n_users * known.n_items)
    sample = asked_slots(
        terms,
        through,
        people=population.people,
        simulated=population.simulated,
        n_items=population.items,
        density=density,
        scale=population.scale,
    )
    answering = replace(world, own=known).first(sample.people)
    reports = perturb(answering, Sample(sample.channel, sample.slots))
    fitted = SHORT.fit(evidence(reports), rng=rng)
    return _of_answers(fitted, sample, population, world)


def of_training(
    name: str, epsilon: str, delta: str, population: Population, world: MadeUpWorld, rng: int
) -> Prediction:
    """Predict the named trainer at `epsilon` nats per user and `delta`, decimal strings."""
    if name == PGMF.name:
        return _of_rounds(epsilon, population, world, rng)

    def learn(ratings: Ratings) -> Fitted:
        share = ratings.n_users / population.people
        spent = epsilon if share >= 1 else curator_epsilon(epsilon, delta, share)
        return train(name, ratings, epsilon=spent, delta=delta, rng=rng)

    return _on_line(learn, population.simulated, 1.0, population, world)


def without_privacy(population: Population, world: MadeUpWorld, rng: int) -> Prediction:
    """Predict channel-mf on true ratings."""
    most = max(100, MOST_PLAIN // population.ratings_each)

    def learn(ratings: Ratings) -> Fitted:
        return SHORT.fit(evidence(ratings), rng=rng)

    return _on_line(learn, min(most, population.people), 0.5, population, world)


def _of_rounds(epsilon: str, population: Population, world: MadeUpWorld, rng: int) -> Prediction:
    """Predict pg-mf. Fewer users send more reports each, at the same epsilon per report."""
    sample = asked_rounds(PGMF(), epsilon, population.people, population.simulated)
    training = PGMF(reports=sample.reports)
    fitted = training.fit(world.first(sample.people), epsilon=sample.epsilon, rng=rng)
    return _of_answers(fitted, sample, population, world)


def _of_answers(
    fitted: Fitted, sample: AskedSlots | AskedRounds, population: Population, world: MadeUpWorld
) -> Prediction:
    """Evaluate a model that was fitted to the reports of all users or of a sample."""
    all_simulated = sample.people == population.people
    return Prediction(
        rmse=world.error(fitted),
        fitted=fitted,
        people=sample.people,
        simulated="whole" if all_simulated else "scaled" if sample.share == 1 else "bounded",
    )


def _on_line(
    learn: Callable[[Ratings], Fitted],
    most: int,
    power: float,
    population: Population,
    world: MadeUpWorld,
) -> Prediction:
    """Fit all users with `learn`, or extrapolate from `most` users and half of them."""
    fitted = learn(world.first(most))
    rmse = world.error(fitted)
    if most >= population.people:
        return Prediction(rmse=rmse, fitted=fitted, people=most, simulated="whole")
    half = world.error(learn(world.first(most // 2)))
    line = extrapolated((half, rmse), (most // 2, most), population.people, power)
    return Prediction(rmse=line, fitted=fitted, people=most, simulated="extrapolated")
