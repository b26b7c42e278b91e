"""Predicted error on devices per method: a simulation with all synthetic users, or with a sample
that represents them (`fewer_people`)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.collection.perturb import kept_rows, perturb
from tacit.collection.plans import Sample
from tacit.collection.slot_terms import SlotTerms
from tacit.learners import fit
from tacit.models import ChannelMF, Fitted, evidence, item_model
from tacit.planning.population import (
    AskedRounds,
    AskedSlots,
    MadeUpWorld,
    Population,
    asked_rounds,
    curator_epsilon,
    extrapolated,
    reported_slots,
)
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.training import PGMF
from tacit.wire.report import Report, dumps, upload

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
    sample = reported_slots(
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
        return fit(name, ratings, epsilon=spent, delta=delta, rng=rng)

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


NAME = "0" * 32
"""Placeholder for report ids and pseudonyms, which all have the same length."""


def model_bytes(fitted: Fitted, guarantee: Guarantee) -> int:
    """Return the size of the item model with the given guarantee."""
    return len(item_model(replace(fitted, guarantee=guarantee)).to_bytes())


def report_bytes(channel: Channel, places: int, n_items: int) -> int:
    """Return the size of an upload on `places` slots of a catalogue of `n_items`.

    Exact for all slots. For a sample, which a hash selects per user, it is the average: indices
    with more digits take more bytes.
    """
    nothing, everything = (_length(channel, count) for count in (0, n_items))
    a_cell = (everything - nothing + 1) / n_items  # includes a comma, which the last one lacks
    return ceil(nothing + places * a_cell - 1)


def profile_bytes(scale: RatingScale, ratings: int, n_items: int) -> int:
    """Return the size of an upload of true ratings to a curator, each an index and a level."""
    levels = compile_channel("randomized-response", epsilon="1", scale=scale)
    return report_bytes(levels, ratings, n_items)


def _length(channel: Channel, places: int) -> int:
    report = Report(NAME, channel.id, 0, NAME, tuple(range(places)), (0,) * places)
    return len(upload([dumps(report, channel)]))
