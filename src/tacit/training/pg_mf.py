"""PG-MF (Shin et al. 2018): matrix factorization from private gradients of devices.

Epsilon covers a complete profile, which items and which values, over all rounds. In each round the
devices of some users report one entry of their gradient (`tacit.training.gradient_report`), and the
server updates the item rows to their posterior mean given all reports (`Gradients`).

Users' rows never leave the device: predictions exist on devices only. The paper names a projection
and a stabilising factor, but their constants could not be recovered. The projection here is ours,
and a posterior under a public prior replaces the factor, the step, and the ridge on item rows.

Posterior means of item rows from the noisy gradients of all rounds.

The gradient of round t is nearly linear in the rows of that round. With rows relative to their
initial values, for each column:

    g_t = u (d_t - n) + noise of variance v_t,     n ~ N(0, s^2)

d_t is a row's value in round t, n its optimum, s the public standard deviation of levels. The slope
u grows with the number of raters of an item, which is private. It is estimated from all items
together, by maximum likelihood (empirical Bayes), conservatively: the least slope that is not
rejected. If noise alone explains the gradients that is 0, and the rows keep their initial values.

Gradient report of a device: a single bit per round, after Shin et al.

The server queries one entry of each user's projected gradient, chosen independently of all data.
The device folds in its user's row from the true ratings, clips the entry to [-1, 1], and sends one
of two symbols. Row, ratings and the entry itself stay on the device.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from tacit.channels.mechanism import MOST_EPSILON
from tacit.channels.table import Channel
from tacit.collection.sampler import BulkWords
from tacit.errors import RequestError, integer
from tacit.kernels.foldin import Home
from tacit.kernels.layout import Side, by_user
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import LEVEL_SPREAD, OWN_BIAS_RIDGE, RATING_SPREAD, shortest
from tacit.training.gradient_report import (
    Doubles,
    Gradients,
    Questions,
    ReportAccount,
    two_points,
)
from tacit.training.mechanism.accounting import nats
from tacit.training.mechanism.contributions import require_vocabularies

START = 0.05  # initial deviation of item factors, as a fraction of half the range

PUBLIC = ("who takes part", "the catalogue and the scale", "which entry each report is about")
ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "each user takes part once; taking part again costs epsilon again",
)


@dataclass(frozen=True, kw_only=True)
class PGMF:
    """PG-MF (Shin et al. 2018): matrix factorization from private gradients of devices.

    `factors`: K, in addition to biases of items and users. 0 was best wherever measured, since each
    factor takes a fraction of the reports. `rounds`: k, number of updates of the item rows.
    `reports`: per user, in as many rounds, each at epsilon / reports: 1 divides the users among the
    rounds, `rounds` is the paper's scheme (all users in every round), None minimizes the noise at
    this epsilon. `width`: rows q of the projection.

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
        integer("rounds", self.rounds, 1)
        integer("width", self.width, 1)
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
        """Simulate all devices and the server. `epsilon`: nats per user, a decimal string.

        All users of the vocabulary take part, with or without ratings. `rng` seeds public choices:
        queries, groups and initial values. `words` is replaced in tests only. Raises `RequestError`
        for an epsilon that is not a positive decimal, or above 16 for a single report.
        """
        require_vocabularies(ratings)
        ratings.scale.require_stars("A trainer that predicts ratings")
        ratings.require_distinct_pairs()  # a gradient report assumes one rating per item
        reports, share = self.budget(epsilon)
        public_rng = np.random.default_rng(rng)
        profiles = _Profiles.of(ratings, self.rounds // reports, public_rng)
        home = self._home(ratings, public_rng)
        account = ReportAccount.of(epsilon, ratings.n_users)
        for done, moved in enumerate(
            self._rounds(profiles, home, two_points(share), account, public_rng, words)
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
        rng: np.random.Generator,
        words: BulkWords | None,
    ) -> Iterator[Home]:
        """Yield the item side after each round."""
        start, spread = home.items.astype(np.float64), LEVEL_SPREAD * np.ptp(home.levels)
        statistics, offset = Gradients.none(start.shape), np.zeros(start.shape)
        for number in range(self.rounds):
            turn = profiles.turn(number)
            people = profiles.of_people(turn)
            count = len(people.counts)
            if count:  # there may be fewer users than groups
                account.pay(turn, channel.epsilon)
                queries = Questions.draw(count, start.shape[1], self.width, rng)
                device = home._replace(prior=np.zeros((count, start.shape[1])))
                symbols = queries.answered(people, profiles.ratings, device, channel, words)
                gradient = queries.gradient(symbols, channel, start.shape)
                statistics = statistics.joined(
                    gradient, offset, queries.noise(channel, start.shape[1])
                )
                offset = statistics.posterior_mean(spread)
                home = home._replace(items=(start + offset).astype(np.float32))
            yield home

    def budget(self, epsilon: str) -> tuple[int, str]:
        """Return the reports per user and the epsilon of each, in nats.

        Their total is at most `epsilon`.
        """
        total = nats(epsilon)
        reports = self.reports or min(
            _divisors(self.rounds), key=lambda count: _noise(float(epsilon) / count, count)
        )
        each = (total / reports).quantize(Decimal("1e-15"), ROUND_FLOOR)
        return reports, shortest(each)

    def guarantee(self, epsilon: str) -> Guarantee:
        """Return the guarantee of participation: the certificate of one report, times the reports.

        `epsilon`: nats per user.
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

    def _home(self, ratings: Ratings, rng: np.random.Generator) -> Home:
        """Return initial values and the prior of a user's row on the device: all public.

        mu is the middle of the scale: the mean rating is private.
        """
        levels = np.asarray(ratings.scale.values)
        half = (levels[-1] - levels[0]) / 2
        items = np.zeros((ratings.n_items, 1 + self.factors), np.float32)
        items[:, 1:] = START * half * rng.standard_normal((len(items), self.factors))
        # Factors of unit variance, damped by the noise of a rating.
        factor = (RATING_SPREAD * 2 * half) ** 2
        precision = np.array([OWN_BIAS_RIDGE] + [factor] * self.factors)
        no_rows = np.zeros((0, 1 + self.factors))
        return Home(float(levels[0] + half), items, precision, no_rows, levels, 0.0)

    def _fitted(self, ratings: Ratings, home: Home, guarantee: Guarantee) -> Fitted:
        """Return the item side with average user rows."""
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
    """All true ratings, one row per user, divided into `groups` independently of all data."""

    everybody: Side
    ratings: Doubles
    groups: int

    @classmethod
    def of(cls, ratings: Ratings, groups: int, rng: np.random.Generator) -> "_Profiles":
        positions = rng.permutation(ratings.n_users).astype(np.int32)
        side, order = by_user(
            positions[ratings.users], ratings.items, ratings.n_users, ratings.n_items
        )
        values = np.asarray(ratings.scale.values)[ratings.levels[order]]
        return cls(side, values, groups)

    def turn(self, number: int) -> slice:
        """Return the users of a round: groups alternate, each as often as a user has reports.

        With fewer users than groups some are empty: no user may report more often instead.
        """
        people, group = len(self.everybody.start) - 1, number % self.groups
        return slice(group * people // self.groups, (group + 1) * people // self.groups)

    def of_people(self, turn: slice) -> Side:
        """Return the ratings of those users."""
        return self.everybody._replace(start=self.everybody.start[turn.start : turn.stop + 1])


def _divisors(rounds: int) -> Iterator[int]:
    return (count for count in range(1, rounds + 1) if rounds % count == 0)


def _noise(epsilon: float, reports: int) -> float:
    """Return B^2 / reports, proportional to the variance of the summed gradients."""
    return math.inf if epsilon > MOST_EPSILON else 1 / (math.tanh(epsilon / 2) ** 2 * reports)
