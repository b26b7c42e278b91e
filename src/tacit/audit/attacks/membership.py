"""Membership: whether somebody's ratings were in a training, told from what it released.

Shadow models are trained on people drawn by coins, half of them each, with the real training and
its real noise. The attacker knows a person's ratings, and looks at how well what was released
serves them, beside how well it served them elsewhere: by an item model, the squared error of what
it predicts of their ratings at home; by the list that their device shows, how much of what they
hid from the device it holds. How far above its own mean over models that is, in its own deviations,
is the score of Carlini et al. 2022, with one variance for both answers.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.linkage import drawn
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import SeededWords, World
from tacit.errors import RequestError
from tacit.metrics.lists import gains
from tacit.metrics.separation import auc, true_positives
from tacit.models import Fitted, FittedLists
from tacit.models.simulated_devices import device_predict
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Mask, Ratings
from tacit.training import LIST_TRAININGS, list_training, training
from tacit.training.mechanism.noise import IntegerNoise
from tacit.training.mechanism.noisy_releases import SecretReleases

Doubles = NDArray[np.float64]
Learn = Callable[[str, Ratings, str, str, int], Fitted | FittedLists]
"""A training: its name, the ratings in it, epsilon, delta, and a seed of its noise."""
HIDDEN = 0.25  # of a person's ratings, from their device, where lists are looked at
RARE = 0.001  # false alarms
FEWEST = 8
"""Models; fewer have no deviation of their own."""


def learnt(
    name: str, members: Ratings, epsilon: str, delta: str, seed: int
) -> Fitted | FittedLists:
    """The training as it is, but that its noise repeats."""
    releases = SecretReleases(IntegerNoise(SeededWords(seed)))
    return _fit(name)(members, epsilon=epsilon, delta=delta, releases=releases)


def _fit(name: str) -> Callable[..., Fitted | FittedLists]:
    return list_training(name).fit if name in LIST_TRAININGS else training(name).fit


@dataclass(frozen=True, kw_only=True)
class Membership:
    """`models` of each of `trainings` at each of `epsilons`, nats per person at `delta`.

    `most_people`: of more people than this, so many are drawn. `length`: of lists. `learn`: how
    models are made, replaced to try out another training. Raises `RequestError` for fewer models
    than 8, for fewer than two people, and for a training whose noise is drawn on devices.
    """

    trainings: tuple[str, ...] = ("dp-covariance", "dp-ease")
    epsilons: tuple[str, ...] = ("1", "2", "10")
    delta: str = "1e-6"
    models: int = 64
    most_people: int = 1000
    length: int = 20
    learn: Learn = learnt

    name = "membership"
    knows = (
        "The attacker observes the releases of a trainer, or the list that a user's device "
        "shows, knows that user's ratings, and has trained models of the same kind with and "
        "without them."
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
        if self.models < FEWEST:
            raise RequestError(
                f"models must be at least {FEWEST}, got {self.models}: fewer models "
                "cannot distinguish the result from chance."
            )
        if self.most_people < 2:
            raise RequestError(f"most_people must be at least 2, got {self.most_people}.")

    def run(self, world: World) -> list[Finding]:
        """The area under the curve, and who is found where one alarm in a thousand is false."""
        chance = np.random.default_rng(world.seed)
        ratings = world.among(drawn(world, self.most_people, chance))
        inside = chance.random((self.models, ratings.n_users)) < 0.5
        hidden = chance.random(len(ratings)) < HIDDEN
        found: list[Finding] = []
        for name in self.trainings:
            lists = name in LIST_TRAININGS
            serves = partial(_by_list, hidden=hidden, length=self.length) if lists else _by_model
            what = "a list on a device" if lists else "the item model"
            for epsilon in self.epsilons:
                models = self._models(name, epsilon, ratings, inside)
                served, guarantee = _served(models, partial(serves, ratings=ratings))
                found += _findings(f"{name}, {what}", served, inside, guarantee)
        return found

    def _models(
        self, name: str, epsilon: str, ratings: Ratings, inside: Mask
    ) -> Iterator[Fitted | FittedLists]:
        for run, who in enumerate(inside):
            members = ratings.where(who[ratings.users])
            yield self.learn(name, members, epsilon, self.delta, run)


def most_area(epsilon: float, delta: float) -> float:
    """The largest area under the curve that (epsilon, delta) allows; epsilon in nats.

    True positives are at most e^epsilon times the false ones plus delta, and so the other way
    round: the two lines meet at false positives (1 - delta) / (1 + e^epsilon), and leave an area of
    (1 - delta)^2 / (1 + e^epsilon) above them.
    """
    return 1 - (1 - delta) ** 2 / (1 + math.exp(min(epsilon, 99)))


def _served(
    models: Iterator[Fitted | FittedLists], serves: Callable[[Fitted | FittedLists], Doubles]
) -> tuple[Doubles, Guarantee]:
    """How well each model serves everybody, (models, people), and what all of them promise."""
    each, promised = list[Doubles](), set[Guarantee]()
    for fitted in models:  # one of them in memory at a time
        each.append(serves(fitted))
        promised.add(fitted.guarantee)
    (guarantee,) = promised
    return np.stack(each), guarantee


def _by_model(fitted: Fitted | FittedLists, ratings: Ratings) -> Doubles:
    """Minus the mean squared error of each person's ratings, shape (people,)."""
    assert isinstance(fitted, Fitted)
    predicted = device_predict(fitted, ratings, ratings.users, ratings.items)
    errors = (ratings.values - predicted) ** 2
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    return -np.bincount(ratings.users, errors, ratings.n_users) / np.maximum(counts, 1)


def _by_list(
    fitted: Fitted | FittedLists, ratings: Ratings, *, hidden: Mask, length: int
) -> Doubles:
    """What each person's list holds of what is hidden from their device, discounted; (people,)."""
    assert isinstance(fitted, FittedLists)
    lists = fitted.lists(ratings.where(~hidden), length)
    asked = ratings.where(hidden)
    return gains(lists, asked.users, asked.items, ratings.n_items, length)


def _findings(setting: str, served: Doubles, inside: Mask, guarantee: Guarantee) -> list[Finding]:
    """Both figures of models (models, people), with what the guarantee allows of each."""
    spread = served.std(0)
    score = (served - served.mean(0)) / np.where(spread > 0, spread, 1)
    threshold = np.sort(score[~inside])[::-1][int(RARE * (~inside).sum())]
    models = list(zip(score, inside, strict=True))
    # Scores of one model hang together, so chance is what models differ by.
    areas = np.array([auc(row, who) for row, who in models])
    caught = np.array([(row[who] > threshold).mean() for row, who in models])
    area, rare = _allowed(guarantee)
    named = f"{setting}, epsilon {guarantee.epsilon} per {guarantee.unit}"
    return [
        Finding(
            setting=named,
            figure="AUC",
            value=auc(score.ravel(), inside.ravel()),
            baseline=0.5,
            bound=area,
            error=_error(areas),
            count=served.size,
        ),
        Finding(
            setting=named,
            figure="found at 1 false alarm in 1,000",
            value=true_positives(score.ravel(), inside.ravel(), RARE),
            baseline=RARE,
            bound=rare,
            error=_error(caught),
            count=served.size,
        ),
    ]


def _allowed(guarantee: Guarantee) -> tuple[float | None, float | None]:
    """The most of both figures; nothing is said of a person where the unit is another."""
    if guarantee.epsilon is None or guarantee.unit != "user":
        return None, None
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
    return most_area(epsilon, delta), min(1.0, RARE * math.exp(min(epsilon, 99)) + delta)


def _error(parts: Doubles) -> float:
    return float(np.nanstd(parts, ddof=1) / math.sqrt(len(parts)))
