"""Membership inference: whether a user's ratings were in the training data of a release.

Shadow models are trained on random halves of the users, with the real trainer and its real noise.
The attacker has a user's ratings, and compares how well a release serves them with how well other
models do: for an item model, the squared error of predictions folded in on the device; for the list
shown by the user's device, the gain of ratings hidden from the device. The deviation from the mean
over models, in standard deviations, is the score of Carlini et al. 2022, with one variance for
members and non-members.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.linkage import drawn
from tacit.audit.attacks.protocol import Finding, balanced_error, mean_error
from tacit.audit.attacks.world import World
from tacit.collection.sampler import SeededWords
from tacit.errors import RequestError
from tacit.metrics.lists import gains
from tacit.metrics.separation import auc, true_positives
from tacit.models import Fitted, FittedLists
from tacit.models.simulated_devices import device_predict
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Mask, Ratings
from tacit.training import LIST_TRAININGS, list_training, training
from tacit.training.mechanism.noisy_releases import IntegerNoise, SecretReleases

Doubles = NDArray[np.float64]
Learn = Callable[[str, Ratings, str, str, int], Fitted | FittedLists]
"""Run a trainer, given its name, the training ratings, epsilon, delta, and a seed of its noise."""
HIDDEN = 0.25  # fraction of a user's ratings hidden from the device, to evaluate lists
RARE = 0.001  # false-positive rate
FEWEST, MOST_PEOPLE = 8, 1000
"""Fewest models that allow to estimate a standard deviation; most users of an attack."""


def learnt(
    name: str, members: Ratings, epsilon: str, delta: str, seed: int
) -> Fitted | FittedLists:
    """Run the named trainer with reproducible noise."""
    releases = SecretReleases(IntegerNoise(SeededWords(seed)))
    return _fit(name)(members, epsilon=epsilon, delta=delta, releases=releases)


def _fit(name: str) -> Callable[..., Fitted | FittedLists]:
    return list_training(name).fit if name in LIST_TRAININGS else training(name).fit


@dataclass(frozen=True, kw_only=True)
class Membership:
    """Settings of membership inference.

    `models`: per trainer in `trainings` and epsilon in `epsilons`, nats per user at `delta`.
    `most_people`: a sample of this size is drawn from more users. `length`: of lists. `learn`: runs
    a trainer, replaced to test another one.

    Raises `RequestError` for fewer models than 8, for fewer than two users, and for a trainer whose
    noise is drawn on devices.
    """

    trainings: tuple[str, ...] = ("dp-covariance", "dp-ease")
    epsilons: tuple[str, ...] = ("1", "2", "10")
    delta: str = "1e-6"
    models: int = 64
    most_people: int = MOST_PEOPLE
    length: int = 20
    learn: Learn = learnt

    name = "membership"
    knows = (
        "The attacker observes a trainer's releases, or the list that a user's device shows, has "
        "access to that user's ratings, and has trained shadow models with and without them."
    )
    baseline = "a guess"
    needs = "ratings"

    def __post_init__(self) -> None:
        for name in self.trainings:
            if "releases" not in signature(_fit(name)).parameters:
                raise RequestError(
                    "`trainings` must draw noise at the curator, so that a seed reproduces "
                    f"it; {name} draws noise on devices."
                )
        check_size(self.models, self.most_people)

    def run(self, world: World) -> list[Finding]:
        """Return the area under the curve, and the true-positive rate at 0.1 % false positives."""
        rng = np.random.default_rng(world.seed)
        ratings = world.among(drawn(world, self.most_people, rng))
        inside = rng.random((self.models, ratings.n_users)) < 0.5
        hidden = rng.random(len(ratings)) < HIDDEN
        findings: list[Finding] = []
        for name in self.trainings:
            lists = name in LIST_TRAININGS
            serves = partial(_by_list, hidden=hidden, length=self.length) if lists else _by_model
            what = "a list on a device" if lists else "the item model"
            for epsilon in self.epsilons:
                models = self._models(name, epsilon, ratings, inside)
                served, guarantee = _served(models, partial(serves, ratings=ratings))
                named = f"{name}, {what}, epsilon {guarantee.epsilon} per {guarantee.unit}"
                findings += inference(named, served, inside, _allowed(guarantee))
        return findings

    def _models(
        self, name: str, epsilon: str, ratings: Ratings, inside: Mask
    ) -> Iterator[Fitted | FittedLists]:
        for run, who in enumerate(inside):
            members = ratings.where(who[ratings.users])
            yield self.learn(name, members, epsilon, self.delta, run)


def check_size(models: int, most_people: int) -> None:
    """Raise `RequestError` for too few shadow models, and for fewer than two users."""
    if models < FEWEST:
        raise RequestError(
            f"models must be at least {FEWEST}, got {models}: with fewer models, the "
            "result cannot be distinguished from chance."
        )
    if most_people < 2:
        raise RequestError(f"most_people must be at least 2, got {most_people}.")


def most_area(epsilon: float, delta: float) -> float:
    """Return the largest area under the curve that (epsilon, delta) allows; epsilon in nats.

    The true-positive rate is at most e^epsilon times the false-positive rate plus delta, and vice
    versa: the two lines meet at the false-positive rate (1 - delta) / (1 + e^epsilon), and the area
    above them is (1 - delta)^2 / (1 + e^epsilon).
    """
    return 1 - (1 - delta) ** 2 / (1 + math.exp(min(epsilon, 99)))


def _served(
    models: Iterator[Fitted | FittedLists], serves: Callable[[Fitted | FittedLists], Doubles]
) -> tuple[Doubles, Guarantee]:
    """Return how well each model serves each user, (models, users), and their common guarantee."""
    each, guarantees = list[Doubles](), set[Guarantee]()
    for fitted in models:  # one of them in memory at a time
        each.append(serves(fitted))
        guarantees.add(fitted.guarantee)
    (guarantee,) = guarantees
    return np.stack(each), guarantee


def _by_model(fitted: Fitted | FittedLists, ratings: Ratings) -> Doubles:
    """Return minus the mean squared error of each user's ratings, shape (users,)."""
    assert isinstance(fitted, Fitted)
    predicted = device_predict(fitted, ratings, ratings.users, ratings.items)
    errors = (ratings.values - predicted) ** 2
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    return -np.bincount(ratings.users, errors, ratings.n_users) / np.maximum(counts, 1)


def _by_list(
    fitted: Fitted | FittedLists, ratings: Ratings, *, hidden: Mask, length: int
) -> Doubles:
    """Return the discounted gain of each user's hidden ratings in the device's list; (users,)."""
    assert isinstance(fitted, FittedLists)
    lists = fitted.lists(ratings.where(~hidden), length)
    hidden_ratings = ratings.where(hidden)
    return gains(lists, hidden_ratings.users, hidden_ratings.items, ratings.n_items, length)


def inference(
    setting: str,
    served: Doubles,
    inside: Mask,
    bounds: tuple[float | None, float | None] = (None, None),
) -> list[Finding]:
    """Return both metrics of shadow models, with their `bounds`.

    `served`: a statistic of each user in each model, larger for members; `inside`: the members.
    Both of shape (models, users).
    """
    spread = served.std(0)
    score = (served - served.mean(0)) / np.where(spread > 0, spread, 1)
    threshold = np.sort(score[~inside])[::-1][int(RARE * (~inside).sum())]
    models = list(zip(score, inside, strict=True))
    # Scores of one model are dependent, so the error is estimated between models. Few of them may
    # agree by chance: it is at least the error of independent scores (DeLong et al. 1988).
    areas = np.array([auc(row, who) for row, who in models])
    caught = np.array([(row[who] > threshold).mean() for row, who in models])
    groups = (score[inside], score[~inside])
    area, rare = bounds
    return [
        Finding(
            setting=setting,
            figure="AUC",
            value=auc(score.ravel(), inside.ravel()),
            baseline=0.5,
            bound=area,
            error=max(2 * balanced_error([_above(*groups), _above(*groups[::-1])]), _error(areas)),
            count=served.size,
        ),
        Finding(
            setting=setting,
            figure="true-positive rate at a false-positive rate of .001",
            value=true_positives(score.ravel(), inside.ravel(), RARE),
            baseline=RARE,
            bound=rare,
            error=max(mean_error(groups[0] > threshold), _error(caught)),
            count=served.size,
        ),
    ]


def _allowed(guarantee: Guarantee) -> tuple[float | None, float | None]:
    """Return the bounds of both metrics, None if the guarantee's unit is not the user."""
    if guarantee.epsilon is None or guarantee.unit != "user":
        return None, None
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
    return most_area(epsilon, delta), min(1.0, RARE * math.exp(min(epsilon, 99)) + delta)


def _above(scores: Doubles, others: Doubles) -> Doubles:
    """Return the fraction of `others` that each score exceeds; ties count half. Shape (n,)."""
    order = np.sort(others)
    below = np.searchsorted(order, scores) + np.searchsorted(order, scores, side="right")
    return below / (2 * len(others))


def _error(parts: Doubles) -> float:
    return float(np.nanstd(parts, ddof=1) / math.sqrt(len(parts)))
