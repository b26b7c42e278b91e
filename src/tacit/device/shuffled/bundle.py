"""Bundle of a device in one round of shuffled messages: its draws, before they are sealed.

The round `items` has a bucket per item. The round `pairs` has a bucket per pair i < j of the n most
frequent items, the *head*, and n buckets (i, i), the *decoys*, which no device has. Item and pair
(i, j) of the head have the bucket j (j + 1) / 2 + i, so a head of n items has n (n + 1) / 2.
For star ratings, see `tacit.device.shuffled.signs`.
"""

from collections.abc import Iterator, Sequence
from math import isqrt

from tacit.channels.table import Words, secret_word
from tacit.errors import RequestError
from tacit.privacy.shuffled_messages import ShuffledRound

WORDS = 1 << 64


def pair_bucket(first: int, second: int) -> int:
    """Return the bucket of two items, by their indices in the head. Equal indices: a decoy.

    >>> pair_bucket(0, 0), pair_bucket(1, 0), pair_bucket(1, 1), pair_bucket(0, 2)
    (0, 1, 2, 3)
    """
    low, high = sorted((first, second))
    return high * (high + 1) // 2 + low


def draw_bundle(
    own: Sequence[int], shuffled: ShuffledRound, words: Words = secret_word
) -> list[int]:
    """Return the M + D messages of one device, in random order.

    `own`: distinct buckets of the user. M of them are drawn, or all if there are fewer, and uniform
    buckets fill up to M. The length does not depend on `own`. `words` is replaced in tests only.

    Raises `RequestError` for buckets that are not distinct, or not in the round.
    """
    _check_distinct(own, shuffled.buckets)
    return completed(sampled(own, shuffled.messages, words), shuffled, words)


def draw_pair_bundle(
    items: Sequence[int], shuffled: ShuffledRound, words: Words = secret_word
) -> list[int]:
    """Return the M + D messages of one device about pairs, in random order, as `draw_bundle`.

    `items`: indices of the user's items in the head. Raises `RequestError` for one that is there
    twice, or not in the head.
    """
    # Distinct items of the head: these have distinct decoys, and their pairs distinct buckets.
    _check_distinct([pair_bucket(item, item) for item in items], shuffled.buckets)
    pairs = sampled_pairs(items, shuffled.messages, words)
    return completed([pair_bucket(*pair) for pair in pairs], shuffled, words)


def sampled(items: Sequence[int], most: int, words: Words) -> list[int]:
    """Return a uniform subset of min(`most`, `len(items)`) entries, in their order."""
    return [items[index] for index in sorted(subset(len(items), most, words))]


def sampled_pairs(items: Sequence[int], most: int, words: Words) -> list[tuple[int, int]]:
    """Return a uniform subset of min(`most`, m (m - 1) / 2) pairs of the m `items`.

    The later entry of a pair is first. Pairs are in the order of that entry, then of the other one.

    >>> sampled_pairs([4, 0, 2], 3, iter([0, 1, 2]).__next__)
    [(0, 4), (2, 4), (2, 0)]
    """
    # Indices of pairs are drawn, and only those pairs are computed: the shuffler sees the time from
    # the download of a task to the bundle, which would grow with the square of the secret m.
    chosen = sorted(subset(len(items) * (len(items) - 1) // 2, most, words))
    later = [(1 + isqrt(8 * index + 1)) // 2 for index in chosen]
    return [
        (items[at], items[index - at * (at - 1) // 2])
        for index, at in zip(chosen, later, strict=True)
    ]


def completed(
    chosen: Sequence[int], shuffled: ShuffledRound, words: Words = secret_word
) -> list[int]:
    """Return the M + D messages of one device, in random order.

    `chosen`: at most M distinct buckets of the user, all of which are sent. Raises `RequestError`
    for others.
    """
    buckets = shuffled.buckets
    # Distinct buckets: the privacy loss of two equal messages exceeds that of two different ones.
    _check_distinct(chosen, buckets)
    if len(chosen) > shuffled.messages:
        raise RequestError(f"chosen must contain at most {shuffled.messages} buckets.")
    # Uniform on all buckets, own ones included. Dummies are the noise of the certificate, whose
    # number does not depend on the profile. Fills hide how many buckets the user has.
    uniform = shuffled.messages - len(chosen) + shuffled.dummies
    messages = [*chosen, *(below(buckets, words) for _ in range(uniform))]
    return list(_permuted(messages, words))


def _check_distinct(chosen: Sequence[int], buckets: int) -> None:
    if len(set(chosen)) < len(chosen) or not all(0 <= each < buckets for each in chosen):
        raise RequestError(
            f"own must contain distinct buckets from 0 to {buckets - 1}; a bucket that is sent "
            "twice costs more than the certificate states."
        )


def below(limit: int, words: Words) -> int:
    """Return a uniform integer from 0 to `limit` - 1, exactly: words of the last part are redrawn.

    How often words are redrawn does not depend on any data.
    """
    accepted = WORDS - WORDS % limit
    while (word := words()) >= accepted:
        pass
    return word % limit


def subset(size: int, most: int, words: Words) -> set[int]:
    """Return a uniform set of min(`most`, `size`) indices below `size` (Floyd's algorithm)."""
    chosen = set[int]()
    for last in range(max(size - most, 0), size):
        index = below(last + 1, words)
        chosen.add(last if index in chosen else index)
    return chosen


def _permuted(messages: list[int], words: Words) -> Iterator[int]:
    """Yield the messages in uniform order (Fisher and Yates). The order carries no information."""
    rest = list(messages)
    while rest:
        index = below(len(rest), words)
        rest[index], rest[-1] = rest[-1], rest[index]
        yield rest.pop()
