"""Claims about a channel: its certificate, its exact epsilon, its draws."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np

from tacit.audit.channel_audits import audit_table
from tacit.channels.certificate import certify
from tacit.channels.information import fisher_information
from tacit.channels.table import Channel, draw
from tacit.collection.sampler import BulkSampler
from tacit.errors import CertificateError

Build = Callable[..., Channel]
"""`build(epsilon, word_bits=..)`: the table at an epsilon, a decimal string, in nats."""

Claim = Callable[[Build], None]
EPSILONS = ("0.01", "0.1", "0.5", "1", "2", "2.718281", "4", "8")
SLACK = Decimal("1e-12")
FEW_BITS = 12


class _KnownWords:
    """Returns predefined words, which are not secret, so no release may use it."""

    def __init__(self, words: np.ndarray) -> None:
        self._words = words

    def fill(self, words: np.ndarray) -> None:
        words[:], self._words = self._words[: len(words)], self._words[len(words) :]


def is_certified(build: Build) -> None:
    """`certify` accepts the table at every epsilon, with words of any size."""
    for epsilon in EPSILONS:
        for word_bits in (16, 32, 64):
            certify(build(epsilon, word_bits=word_bits))


def spends_its_epsilon(build: Build) -> None:
    """The exact loss of the table equals its epsilon to 1e-12 nats, so no utility is wasted."""
    for epsilon in EPSILONS:
        short = audit_table(build(epsilon)).loss
        if not 0 <= short <= SLACK:
            raise AssertionError(
                f"At epsilon {epsilon}, the privacy loss of the table is {short} nats "
                "below its claim."
            )


def refuses_a_smaller_claim(build: Build) -> None:
    """The same table with a claim below its loss is rejected for that reason."""
    try:
        certify(replace(build("1"), epsilon="0.999999999999"))
    except CertificateError as refusal:
        if "claim a larger epsilon" in str(refusal):
            return
        raise AssertionError(
            f"The table was rejected for an unexpected reason: {refusal}"
        ) from refusal
    raise AssertionError("A table of epsilon 1 was certified for 0.999999999999.")


def describes_itself(build: Build) -> None:
    """Outputs are distinct, the claim is the requested epsilon, and the id is reproducible."""
    one, again = build("1"), build("1")
    if len(set(one.outputs)) != len(one.outputs):
        raise AssertionError(f"The outputs {one.outputs} are not distinct.")
    if one.epsilon != "1" or one.id != again.id:
        raise AssertionError(
            f"Two builds at epsilon 1 have epsilon {one.epsilon} and the ids {one.id} and "
            f"{again.id}."
        )


def reveals_more_for_more(build: Build) -> None:
    """Fisher information about the rating grows with epsilon, and is above 0."""
    information = [fisher_information(build(epsilon)) for epsilon in EPSILONS]
    if information[0] <= 0 or any(later < before for before, later in pairwise(information)):
        raise AssertionError(
            f"The Fisher information at epsilon {', '.join(EPSILONS)} is {information}."
        )


def draws_what_its_table_says(build: Build) -> None:
    """Over all 12-bit words, each symbol occurs exactly as often as its weight."""
    channel = build("1", word_bits=FEW_BITS)
    step = 1 << (64 - FEW_BITS)
    for row, weights in enumerate(channel.weights):
        drawn = (draw(channel, row, lambda w=word: w) for word in range(step - 1, 1 << 64, step))
        if Counter(drawn) != Counter(dict(enumerate(weights))):
            raise AssertionError(f"The symbol frequencies of row {row} differ from {weights}.")


def draws_alike_in_bulk(build: Build) -> None:
    """Bulk sampling maps every word to the same symbol as a device, also at the bounds."""
    channel, rng = build("1"), np.random.default_rng(5)
    for row, bounds in enumerate(channel.bounds):
        near = [bound + shift for bound in bounds for shift in (-1, 0, 1)]
        some = rng.integers(0, 1 << 64, 500, dtype=np.uint64)
        words = np.concatenate([np.array([*near, 0, 1, (1 << 64) - 1], np.uint64), some])
        rows = np.full(len(words), row, np.uint8)
        bulk = BulkSampler((channel,), _KnownWords(words.copy())).draw(rows).tolist()
        if bulk != [draw(channel, row, lambda w=word: int(w)) for word in words]:
            raise AssertionError(f"Row {row} draws different symbols in bulk and on a device.")


CHANNEL_CLAIMS: tuple[Claim, ...] = (
    is_certified,
    spends_its_epsilon,
    refuses_a_smaller_claim,
    describes_itself,
    reveals_more_for_more,
    draws_what_its_table_says,
    draws_alike_in_bulk,
)
"""All claims about a channel."""


def check_channel(build: Build) -> None:
    """Run every claim about the channel that `build` makes.

    `build(epsilon, word_bits=64)`: its table. Raises `AssertionError`, or the verifier's
    `CertificateError`, for the first claim that does not hold.
    """
    for claim in CHANNEL_CLAIMS:
        claim(build)
