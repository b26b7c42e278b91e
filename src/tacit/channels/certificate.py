"""Verifier: prove in integers that a table satisfies its epsilon, or state why it does not.

A device trusts this module and not the compiler of the table. If no symbol is more than R times
likelier under one input than under another, and R <= e^epsilon, then one report is epsilon-locally
private over *every* pair of inputs: rows have equal totals, which cancel.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.errors import CertificateError

if TYPE_CHECKING:
    from tacit.channels.table import Channel

DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,18})?")


def exp_lower(epsilon: Fraction, terms: int = 80) -> Fraction:
    """Return a rational at most e^epsilon, epsilon >= 0: a Taylor sum with positive remainder."""
    over, under = 1, 1  # of the partial sum; reduced once, at the end, since reducing is slow
    for k in range(terms, 0, -1):
        under *= k * epsilon.denominator
        over = under + over * epsilon.numerator
    return Fraction(over, under)


def flaw(weights: Sequence[Sequence[int]], word_bits: int, epsilon: str) -> str | None:
    """Return why the table does not prove `epsilon` nats per report; None if it does."""
    if not DECIMAL.fullmatch(epsilon):
        return f"Epsilon '{epsilon[:40]}' is not a plain decimal such as 0.5."
    if not 1 <= word_bits <= 64:
        return f"A word must have 1 to 64 bits, got {word_bits}."
    if not weights or not weights[0] or len({len(row) for row in weights}) != 1:
        return "The table is empty, or its rows differ in length."
    if any(type(weight) is not int or weight < 1 for row in weights for weight in row):
        return "Weights must be positive integers; leave out symbols that never occur."
    for number, row in enumerate(weights):
        if sum(row) != 1 << word_bits:
            return f"Row {number} of the table sums to {sum(row)}, not to 2^{word_bits}."
    ratio = exp_lower(Fraction(epsilon))
    for symbol, column in enumerate(zip(*weights, strict=True)):
        if max(column) * ratio.denominator > min(column) * ratio.numerator:
            worst = f"{max(column)}/{min(column)}"
            return (
                f"Symbol {symbol} has likelihood ratio {worst}, above e^{epsilon}; claim a larger "
                "epsilon."
            )
    return None


def certify(channel: "Channel") -> None:
    """Raise `CertificateError` unless the channel's table proves its declared epsilon."""
    sentence = flaw(channel.weights, channel.word_bits, channel.epsilon)
    if sentence is not None:
        raise CertificateError(sentence)
