"""PG-MF (Shin et al. 2018): matrix factorization from private gradients of devices.

Epsilon covers a whole profile, which items and which values, over all rounds. In each round the
devices of some people answer one question about their gradient (`gradient_report`), and the server
moves the item rows to where all that was said so far has them (`item_posterior`).

People's rows never leave home: predictions exist on devices only. The projection and a stabilising
factor are named in the paper, but their constants could not be recovered: the projection here is
ours, and a posterior under a public prior takes the place of the factor, of the step, and of the
ridge on item rows.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from tacit.channels.mechanism import MOST_EPSILON
from tacit.channels.table import Channel
from tacit.collection.keystream import BulkWords
from tacit.errors import RequestError
from tacit.kernels.devices.foldin import Home
from tacit.kernels.layout import Side, by_user
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import Guarantee
from tacit.public_priors import LEVEL_SPREAD, OWN_BIAS_RIDGE, RATING_SPREAD
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.epsilon import nats
from tacit.training.mechanism.inputs import require_vocabularies
from tacit.training.rounds.gradient_report import Questions, two_points
from tacit.training.rounds.item_posterior import Gradients
from tacit.training.rounds.report_account import ReportAccount

Doubles = NDArray[np.float64]
START = 0.05  # spread of the item factors at the start, as a share of half the range

PUBLIC = ("who takes part", "the catalogue and the scale", "which entry each report is of")
ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "each person takes part once; taking part again costs epsilon again",
)


@dataclass(frozen=True, kw_only=True)
class PGMF:
    """`factors`: K, beside the levels of items and people. 0 was best wherever that was measured,
    since each factor takes its share of the answers.

    `rounds`: k, between which the item rows move. `reports`: of one person, in so many of the
    rounds, each at epsilon / reports: 1 splits the people over the rounds, `rounds` is the paper's
    way (everybody in every round); None for whichever has the least noise at this epsilon.
    `width`: rows q of the projection.

    Raises `RequestError` for fewer than one round, or `reports` that do not divide `rounds`.
    """

    factors: int = 0
    rounds: int = 128
    reports: int | None = None
    width: int = 8

    name = "pg-mf"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise RequestError(f"rounds must be at least 1, got {self.rounds}.")
        if self.reports is not None and (self.reports < 1 or self.rounds % self.reports):
            raise RequestError(
                f"reports must be a divisor of the {self.rounds} rounds, such as 1, got "
                f"{self.reports} reports per user."
            )

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "0",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        words: BulkWords | None = None,
    ) -> Fitted:
        """Play all devices and the server; `epsilon` is in nats per person, a decimal string.

        Everybody of the vocabulary takes part, rated or not. `rng` seeds what is public: questions,
        groups and the start. `words` is replaced in tests only. Raises `RequestError` for an
        epsilon that is no positive decimal, or above 16 for a single report.
        """
        require_vocabularies(ratings)
        ratings.scale.require_stars("A training that predicts ratings")
        ratings.require_distinct_pairs()  # a gradient report assumes one rating per item
        reports, share = self.budget(epsilon)
        chance = np.random.default_rng(rng)
        profiles = _Profiles.of(ratings, self.rounds // reports, chance)
        home = self._home(ratings, chance)
        account = ReportAccount.of(epsilon, ratings.n_users)
        for done, moved in enumerate(
            self._rounds(profiles, home, two_points(share), account, chance, words)
        ):
            home = moved
            advance((done + 1) / self.rounds)
        return self._fitted(ratings, home, self.guarantee(epsilon))

    def _rounds(
        self,
        profiles: "_Profiles",
        home: Home,
        channel: Channel,
        account: ReportAccount,
        chance: np.random.Generator,
        words: BulkWords | None,
    ) -> Iterator[Home]:
        """The item side after each round."""
        start, spread = home.items.astype(np.float64), LEVEL_SPREAD * np.ptp(home.levels)
        told, offset = Gradients.none(start.shape), np.zeros(start.shape)
        for number in range(self.rounds):
            turn = profiles.turn(number)
            people = profiles.of_people(turn)
            count = len(people.counts)
            if count:  # there may be fewer people than groups
                account.pay(turn, channel.epsilon)
                asked = Questions.draw(count, start.shape[1], self.width, chance)
                device = home._replace(prior=np.zeros((count, start.shape[1])))
                symbols = asked.answered(people, profiles.ratings, device, channel, words)
                gradient = asked.gradient(symbols, channel, start.shape)
                told = told.joined(gradient, offset, asked.noise(channel, start.shape[1]))
                offset = told.posterior_mean(spread)
                home = home._replace(items=(start + offset).astype(np.float32))
            yield home

    def budget(self, epsilon: str) -> tuple[int, str]:
        """Reports of one person, and the epsilon of each: together never more than `epsilon`.

        Nats per person.
        """
        whole = nats(epsilon)
        reports = self.reports or min(
            _divisors(self.rounds), key=lambda count: _noise(float(epsilon) / count, count)
        )
        each = (whole / reports).quantize(Decimal("1e-15"), ROUND_FLOOR)
        return reports, shortest(each)

    def guarantee(self, epsilon: str) -> Guarantee:
        """What taking part promises: the certificate of one report, times the reports.

        `epsilon`: nats per person.
        """
        reports = self.budget(epsilon)[0]
        return Guarantee(
            epsilon=shortest(Decimal(epsilon)),
            unit="user",
            trust="nobody",
            released=f"one bit per user in each of {reports} of {self.rounds} rounds",
            public=PUBLIC,
            assumptions=ASSUMPTIONS,
            exact=True,
        )

    def _home(self, ratings: Ratings, chance: np.random.Generator) -> Home:
        """The start, and the prior a device solves its owner's row with: public, all of it.

        mu is the middle of the scale: the mean rating is nobody's to know.
        """
        levels = np.asarray(ratings.scale.values)
        half = (levels[-1] - levels[0]) / 2
        items = np.zeros((ratings.n_items, 1 + self.factors), np.float32)
        items[:, 1:] = START * half * chance.standard_normal((len(items), self.factors))
        # Tastes of unit variance, beside the noise of a rating.
        factor = (RATING_SPREAD * 2 * half) ** 2
        precision = np.array([OWN_BIAS_RIDGE] + [factor] * self.factors)
        nobody = np.zeros((0, 1 + self.factors))
        return Home(float(levels[0] + half), items, precision, nobody, levels, 0.0)

    def _fitted(self, ratings: Ratings, home: Home, guarantee: Guarantee) -> Fitted:
        """The item side; at the provider everybody is the average person."""
        return Fitted.point(
            self.name,
            ratings,
            mu=home.mu,
            people=np.zeros((ratings.n_users, home.items.shape[1])),
            items=home.items,
            precision=home.precision,
            guarantee=ratings.qualified(guarantee),
        )


@dataclass(frozen=True, eq=False)
class _Profiles:
    """Everybody's true ratings, a row per person, in `groups` groups that nobody's data decide."""

    everybody: Side
    ratings: Doubles
    groups: int

    @classmethod
    def of(cls, ratings: Ratings, groups: int, chance: np.random.Generator) -> "_Profiles":
        place = chance.permutation(ratings.n_users).astype(np.int32)
        side, order = by_user(place[ratings.users], ratings.items, ratings.n_users, ratings.n_items)
        values = np.asarray(ratings.scale.values)[ratings.levels[order]]
        return cls(side, values, groups)

    def turn(self, number: int) -> slice:
        """The people of a round: groups take turns, as often each as a person has reports.

        Where there are fewer people than groups some are empty: none may come more often for it.
        """
        people, group = len(self.everybody.start) - 1, number % self.groups
        return slice(group * people // self.groups, (group + 1) * people // self.groups)

    def of_people(self, turn: slice) -> Side:
        """The ratings of those people."""
        return self.everybody._replace(start=self.everybody.start[turn.start : turn.stop + 1])


def _divisors(rounds: int) -> Iterator[int]:
    return (count for count in range(1, rounds + 1) if rounds % count == 0)


def _noise(epsilon: float, reports: int) -> float:
    """B^2 / reports, to which the variance of the summed gradients is proportional."""
    return math.inf if epsilon > MOST_EPSILON else 1 / (math.tanh(epsilon / 2) ** 2 * reports)
