"""Claims about a trainer: its guarantee is the requested one, and its releases are as declared."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tacit.audit.replay import replay
from tacit.errors import RequestError
from tacit.metrics.lists import list_figures
from tacit.models import FittedLists, fold_in
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.training import AbstractListTraining, AbstractTraining
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases

Claim = Callable[[AbstractTraining], None]
ListClaim = Callable[[AbstractListTraining], None]
AnyTraining = AbstractTraining | AbstractListTraining
DELTA = "1e-6"
RICH = "300"  # nats, enough for all releases of a trainer


@cache
def made_up() -> tuple[Ratings, Ratings]:
    """Return ratings to train on, and held-out ones."""
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2400, rng=2)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    return ratings.where(~held), ratings.where(held)


def promises_what_it_was_asked(training: AnyTraining) -> None:
    """The guarantee has the requested epsilon, its unit, and who is trusted."""
    for epsilon in ("0.5", "3"):
        guarantee = training.fit(made_up()[0], epsilon=epsilon, delta=DELTA).guarantee
        if guarantee.epsilon != epsilon or guarantee.delta not in ("0", DELTA) or guarantee.fails:
            raise AssertionError(
                f"The guarantee for epsilon {epsilon} at delta {DELTA} is {guarantee}."
            )
        if getattr(training, "unit", guarantee.unit) != guarantee.unit:
            raise AssertionError(
                f"The unit of the trainer is {training.unit}, but the unit of its "
                f"guarantee is {guarantee.unit}."
            )


def refuses_what_promises_nothing(training: AnyTraining) -> None:
    """An epsilon that is not a positive decimal raises `RequestError`."""
    for epsilon in ("0", "-1", "NaN"):
        try:
            training.fit(made_up()[0], epsilon=epsilon, delta=DELTA)
        except RequestError:
            continue
        raise AssertionError(f"The trainer accepted epsilon {epsilon}.")


def answers_without_ratings(training: AnyTraining) -> None:
    """User-level trainers accept data without ratings; all others raise `RequestError`.

    Data without ratings and data of a single user are neighbours at the unit `user`, so an error
    would reveal which of the two a trainer saw.
    """
    for none in without_ratings():
        try:
            unit = training.fit(none, epsilon="1", delta=DELTA).guarantee.unit
        except RequestError as error:
            if getattr(training, "unit", None) == "user":
                raise AssertionError(
                    f"The trainer failed on data without ratings: {error}"
                ) from None
            continue
        if unit != "user":
            raise AssertionError(f"The trainer accepted data without ratings at the unit {unit}.")


def without_ratings() -> Iterator[Ratings]:
    """Yield data in which no declared user rated a declared item."""
    known = made_up()[0]
    yield known.where(np.zeros(len(known), bool))
    # The neighbour without the only user who rated: the list of users names others alone.
    ids = known.user_ids.ids
    yield known.where(known.users == 0).with_people(ids[1:])
    yield known.with_catalogue([-1, -2, -3, -4])


def learns_where_it_may(training: AbstractTraining) -> None:
    """At a large epsilon, devices predict held-out ratings better than the mean rating does."""
    known, test = made_up()
    home = fold_in(training.fit(known, epsilon=RICH, delta=DELTA), known)
    error = np.sqrt(np.mean((home.predict_codes(test.users, test.items) - test.values) ** 2))
    constant = np.std(test.values)
    if error > constant:
        raise AssertionError(f"RMSE is {error:.3f} on devices, but {constant:.3f} for a constant.")


def lists_what_people_have(training: AbstractListTraining) -> None:
    """At a large epsilon, lists made on the device have more hits than random lists.

    Users have about 27 of 60 items, and about 3 of the others are held out.
    """
    known, test = made_up()
    lists = training.fit(known, epsilon=RICH, delta=DELTA).lists(known, 10)
    counts = np.bincount(known.items, minlength=known.n_items)
    recall = list_figures(lists, test.users, test.items, counts).recall
    random_recall = 10 / (known.n_items - len(known) / known.n_users)
    if recall < 1.2 * random_recall:
        raise AssertionError(f"Recall@10 is {recall:.3f}; random lists have {random_recall:.3f}.")


def releases_what_it_declares(training: AnyTraining) -> None:
    """Replayed on neighboring data sets, releases change by at most their declared sensitivity, and
    nothing else is released.

    A trainer whose guarantee trusts a curator accepts `releases`, so that it can be replayed.
    """
    known = made_up()[0]
    guarantee = training.fit(known, epsilon="1", delta=DELTA).guarantee
    if guarantee.trust != "curator":
        return
    if "releases" not in signature(training.fit).parameters:
        raise AssertionError(
            "The trainer trusts a curator and does not take the argument `releases`, so it cannot "
            "be audited."
        )
    for neighbour in neighbours(known, guarantee.unit):
        violations = replay(trained(training), known, neighbour, SecretReleases())
        if violations:
            raise AssertionError(" ".join(violations))


def trained(training: AnyTraining) -> Callable[[Ratings, NoisyReleases], Any]:
    """Return a function that runs the trainer with given releases and returns all its arrays."""
    fit: Callable[..., Any] = training.fit

    def run(ratings: Ratings, releases: NoisyReleases) -> Any:
        result = fit(ratings, epsilon=RICH, delta=DELTA, releases=releases)
        if isinstance(result, FittedLists):
            everything = csr_array(np.eye(len(result.item_ids), dtype=np.float32))
            return result.weights.scores(everything), result.presence.reported.toarray()
        return result.mu, result.people, result.items, result.precision

    return run


def neighbours(ratings: Ratings, unit: str) -> Iterator[Ratings]:
    """Yield ratings that differ in one value, or in one user's complete profile."""
    if unit == "user":
        yield ratings.where(ratings.users != ratings.users[0])
        yield ratings.where((ratings.users != 7) | (np.arange(len(ratings)) % 2 == 0))
        return
    top = ratings.scale.n_levels - 1
    for row in (0, len(ratings) // 2):
        levels = ratings.levels.copy()
        levels[row] = 0 if levels[row] > top // 2 else top
        yield replace(ratings, levels=levels)


TRAINING_CLAIMS: tuple[Claim, ...] = (
    promises_what_it_was_asked,
    refuses_what_promises_nothing,
    answers_without_ratings,
    learns_where_it_may,
    releases_what_it_declares,
)
"""All claims about a rating trainer whose guarantee holds."""

LIST_TRAINING_CLAIMS: tuple[ListClaim, ...] = (
    promises_what_it_was_asked,
    refuses_what_promises_nothing,
    answers_without_ratings,
    lists_what_people_have,
    releases_what_it_declares,
)
"""All claims about a top-N trainer."""


def check_training(training: AbstractTraining) -> None:
    """Run every claim about a trainer; raises `AssertionError` for the first that fails."""
    for claim in TRAINING_CLAIMS:
        claim(training)
