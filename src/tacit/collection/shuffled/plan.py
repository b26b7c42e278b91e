"""Plan `shuffled:M`: a round about items and a round about pairs, under one certificate.

A device sends at most M pairs of its user's items, and at most as many items as have 3 M pairs.
Both rounds have one (epsilon, delta) per user: items a tenth of the variance of the privacy loss,
and pairs the rest. For star ratings, messages have a *sign*, and items a fifth of the variance.

The noise per bucket is fixed before the first round. The dummies of the second one follow from it
and from the number of its buckets, which depends on the head, and so on counts of the first round.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from functools import cached_property, lru_cache
from math import ceil, isqrt

from tacit.errors import RequestError, integer
from tacit.privacy.ledger import epsilon_text
from tacit.privacy.shuffled_certificate import LARGEST_DELTA, ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound, calibrated
from tacit.wire.shuffled.round_terms import UNUSED, pair_buckets_of

SHARES, SIGNED_SHARES = (0.1, 0.9), (0.2, 0.8)
"""Shares of the rounds `items` and `pairs` in the variance of the loss, without and with signs."""
PAIRS_OF_ITEMS = 3
"""Pairs of the items that a device sends at most, over M."""
BUCKETS_EACH = 20
"""Least number of buckets of the round `pairs` per message. More buckets do not raise the bound."""
_TWO_DIGITS = Context(prec=2, rounding=ROUND_FLOOR)


def largest_delta(bundles: int) -> str:
    """Return the largest delta of a batch with at least `bundles`, rounded down to two digits."""
    return f"{_TWO_DIGITS.divide(LARGEST_DELTA, bundles):f}"


def messages_of(name: str) -> int | None:
    """Return M of a plan named `shuffled:M`, and None for other plans.

    Raises `RequestError` for another M than an integer of at least 1.
    """
    kind, _, messages = name.partition(":")
    if kind != "shuffled":
        return None
    if not messages.isdecimal() or int(messages) < 1:
        raise RequestError(
            "plan shuffled:M must have an M of at least 1, the messages per device, as in "
            f"shuffled:100, got '{name}'."
        )
    return int(messages)


@dataclass(frozen=True, kw_only=True)
class ShuffledPlan:
    """Shuffled messages of all users, at `epsilon` nats per user and `delta`, decimal strings.

    Epsilon is for a profile that is replaced by any other one. `messages`: M. `items`: size of the
    catalogue. `bundles`: least number of bundles in a batch. `honest`: least fraction of them from
    devices that follow the protocol, a decimal string. `signed`: whether messages have a sign, and
    so two buckets per item and per pair.

    Raises `RequestError` for invalid numbers, and for a delta above .01 / bundles.
    """

    messages: int
    items: int
    epsilon: str
    delta: str
    bundles: int
    honest: str = "0.8"
    signed: bool = False

    def __post_init__(self) -> None:
        integer("messages", self.messages, 1)
        integer("items", self.items, 1)
        most = LARGEST_DELTA / self._claim.bundles
        if Decimal(self.delta) > most:
            raise RequestError(
                f"delta must be at most {most:.2g}, which is {LARGEST_DELTA} over the number of "
                f"bundles, {self.bundles}, got {self.delta}."
            )

    @property
    def least_head(self) -> int:
        """Least size of a head: its round has at least 20 M buckets."""
        return self._largest_with(BUCKETS_EACH * self.messages - 1) + 1

    @property
    def pair_density(self) -> float:
        """Dummies of honest devices per bucket of the round `pairs`."""
        return self._densities[1]

    def largest_head(self, dummies: int) -> int:
        """Return the size of the largest head for at most `dummies`; 0 if the least has more."""
        buckets = int(dummies * self._claim.devices / self.pair_density)
        size = min(self._largest_with(buckets), self.items)
        return size if size >= self.least_head else 0

    def item_round(self) -> ShuffledRound:
        """Return the round `items` if a round `pairs` follows."""
        return self._with_dummies(self._items, self._densities[0])

    def pair_round(self, head: int) -> ShuffledRound:
        """Return the round `pairs` for a head of at least `least_head` items."""
        shape = ShuffledRound(buckets=self.pair_buckets(head), messages=self.messages)
        return self._with_dummies(shape, self.pair_density)

    def pair_buckets(self, head: int) -> int:
        """Return the buckets of the round `pairs`: n (n + 1) / 2, and n (n - 1) + 300 with signs.

        Without signs, n of them are the decoys (i, i), which no device has.
        """
        return pair_buckets_of(head, signed=self.signed)

    def only_round(self) -> ShuffledRound:
        """Return the round `items` if it is the only one."""
        return self._with_dummies(self._items, self._calibrated((self._items,), (1.0,))[0])

    def certificate(self, rounds: Sequence[ShuffledRound]) -> ShuffledCertificate:
        """Return the verified certificate of these rounds at `epsilon`.

        Raises `CertificateError` if they do not attain it.
        """
        claim = ShuffledCertificate.of(
            rounds,
            bundles=self.bundles,
            honest=self.honest,
            delta=self.delta,
            replaced=epsilon_text(self.epsilon),
        )
        claim.verify()
        return claim

    @property
    def _items(self) -> ShuffledRound:
        """Round `items` without dummies."""
        buckets = (1 + self.signed) * self.items + UNUSED
        most = _fewest_with(PAIRS_OF_ITEMS * self.messages) + 1
        return ShuffledRound(buckets=buckets, messages=min(most, self.items, (buckets - 1) // 2))

    @cached_property
    def _densities(self) -> tuple[float, ...]:
        """Dummies of honest devices per bucket. The head is the smallest, of the largest bound."""
        buckets = BUCKETS_EACH * self.messages
        pairs = ShuffledRound(buckets=buckets, messages=self.messages)
        return self._calibrated((self._items, pairs), SIGNED_SHARES if self.signed else SHARES)

    def _largest_with(self, buckets: int) -> int:
        """Return the size of the largest head with at most `buckets` pairs, signs included."""
        pairs = max(buckets - UNUSED, 0) // 2 if self.signed else buckets
        return (isqrt(8 * pairs + 1) - 1) // 2 + self.signed

    def _calibrated(
        self, rounds: tuple[ShuffledRound, ...], shares: tuple[float, ...]
    ) -> tuple[float, ...]:
        return _least_densities(rounds, shares, float(self.epsilon), float(self.delta))

    def _with_dummies(self, one: ShuffledRound, density: float) -> ShuffledRound:
        return replace(one, dummies=ceil(density * one.buckets / self._claim.devices))

    @property
    def _claim(self) -> ShuffledCertificate:
        """Terms as a certificate, which validates them. Its `empty` is a placeholder."""
        epsilon = epsilon_text(self.epsilon)
        return ShuffledCertificate(
            rounds=(self._items,),
            bundles=self.bundles,
            honest=self.honest,
            delta=self.delta,
            replaced=epsilon,
            empty=epsilon,
        )


@lru_cache
def _least_densities(
    rounds: tuple[ShuffledRound, ...], shares: tuple[float, ...], epsilon: float, delta: float
) -> tuple[float, ...]:
    """Return the fewest dummies per bucket; cached, since a shop's rounds differ in users alone."""
    least = calibrated(rounds, shares, devices=1, epsilon=epsilon, delta=delta)
    return tuple(one.dummies / one.buckets for one in least)


def _fewest_with(pairs: int) -> int:
    """Return the least n with n (n + 1) / 2 >= `pairs`."""
    return (isqrt(8 * pairs - 7) + 1) // 2
