"""From a slot to a person: what all slots of one profile cost together."""

from decimal import Decimal


def profile_loss(
    *, between: Decimal, rated: Decimal, unrated: Decimal, slots: int, cap: int
) -> Decimal:
    """The largest loss between two profiles of at most `cap` ratings on `slots` slots, in nats.

    Slots answer independently, so losses add up. With k slots rated in both profiles (and
    differently), a in the first and b in the second, a, b <= cap and a + b - k <= slots,

        loss = k between + (a - k) rated + (b - k) unrated,

    largest over k, a and b. It is attained, so no smaller figure holds. Where presence costs the
    same both ways (randomized response) it is min(slots, 2 cap) epsilon; for Zheng's modified
    Laplace, whose `unrated` is epsilon / 2, it is 1.5 cap epsilon if 2 cap <= slots.
    """
    most = min(cap, slots)
    # Linear in k, but for the kink where two full profiles just fit beside each other.
    ends = {0, most, max(0, 2 * most - slots)}
    return max(_apart(both, most, slots, between, rated, unrated) for both in ends)


def changed_slot_loss(*, between: Decimal, rated: Decimal, unrated: Decimal) -> Decimal:
    """The largest loss when one slot of a profile changes *before* a cap is applied, in nats.

    A new rating may push another one out of the cap: then two slots change, one each way.
    """
    return max(between, rated + unrated)


def _apart(
    both: int, most: int, slots: int, between: Decimal, rated: Decimal, unrated: Decimal
) -> Decimal:
    dear, cheap = max(rated, unrated), min(rated, unrated)
    first = most - both
    second = min(first, slots - both - first)
    return both * between + first * dear + second * cheap
