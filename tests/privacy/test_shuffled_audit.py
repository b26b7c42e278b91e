"""A canary audit of shuffled messages is below the certificate, and above it for planted bugs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from shuffled_tasks import SCALE, certificate, star_task

from tacit.audit.channel_audits import log_odds_bound
from tacit.channels.table import secret_word
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.signs import signed_items
from tacit.privacy.shuffled_messages import ShuffledRound, calibrated

EPSILON, DELTA, DEVICES, DRAWS = 1.0, 0.03, 100, 1_000_000
SHAPE = ShuffledRound(buckets=60, messages=2)
(ROUND,) = calibrated([SHAPE], [1.0], devices=DEVICES, epsilon=EPSILON, delta=DELTA)
THREE = star_task(None, items=(0, 1, 2), certificate=certificate(replace(SHAPE, dummies=60)))
DUMMIES, FILLS = ROUND.dummies * DEVICES, ROUND.messages * DEVICES


def counts(own: Sequence[int], background: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of the first six buckets over many batches, other devices' own messages removed."""
    cells = np.full(7, 1 / ROUND.buckets)
    cells[-1] = 1 - cells[:-1].sum()
    uniform = rng.multinomial(background, cells, DRAWS)[:, :-1]
    return uniform + np.bincount(own, minlength=6)


def lower_bound(mine: Sequence[int], other: Sequence[int], background: int) -> float:
    """Lower bound on epsilon at `DELTA` with 99 % confidence, from draws of two profiles.

    The event is a likelihood ratio above the largest certified one. delta is subtracted from its
    probability under the first profile.
    """
    rng = np.random.default_rng(1)

    def hits(own: Sequence[int]) -> int:
        k = np.maximum(counts(own, background, rng), 1e-9)
        added, removed = np.bincount(mine, minlength=6), np.bincount(other, minlength=6)
        return int((np.log(k) @ (added - removed) > EPSILON).sum())

    first, second = hits(mine), hits(other)
    shifted = first - DELTA * DRAWS
    return float(log_odds_bound(int(shifted), second, DRAWS, 0.005))


def test_audit_of_the_certified_round_stays_below():
    bound = lower_bound([0, 1], [2, 3], DUMMIES)
    assert 0.75 * EPSILON < bound <= EPSILON


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("mine", "other", "background"),
    [
        pytest.param([0, 1], [2, 3], DUMMIES * 4 // 5, id="a fifth of the dummies missing"),
        pytest.param([0, 1], [2, 3], DUMMIES - FILLS, id="fills of others counted as noise"),
        pytest.param(
            [0, 0], [2, 2], DUMMIES, id="own buckets with replacement", marks=pytest.mark.long
        ),
        pytest.param(
            [0, 1, 2],
            [3, 4, 5],
            DUMMIES,
            id="three messages, two certified",
            marks=pytest.mark.long,
        ),
    ],
)
def test_audit_rejects_planted_bugs(mine, other, background):
    assert lower_bound(mine, other, background) > EPSILON


def signed(levels: Sequence[int]) -> list[int]:
    """Own buckets of a device that has rated three items: 0 to 2, and 3 to 5 with the sign +."""
    return signed_items(THREE, SCALE, dict(enumerate(levels)), secret_word)


@pytest.mark.long
def test_audit_of_signed_messages_stays_below():
    """Opposite ratings of the same items: each sign is certain, and all buckets differ."""
    mine, other = signed([0, 0]), signed([4, 4])
    assert (sorted(mine), sorted(other)) == ([0, 1], [3, 4])
    assert 0.75 * EPSILON < lower_bound(mine, other, DUMMIES) <= EPSILON


@pytest.mark.parametrize("levels", [[0, 0, 0], [4, 4, 4], [1, 2, 3], [2], []])
def test_own_messages_are_distinct_items_with_one_sign(levels):
    """What the audit and the certificate rely on, whatever the signs."""
    for _ in range(300):
        own = signed(levels)
        assert len({bucket % 3 for bucket in own}) == len(own) == min(len(levels), 2)


def test_audited_counts_are_those_of_devices():
    """Means and variances of the counts of real bundles of a batch of five devices."""
    small = ShuffledRound(buckets=12, messages=2, dummies=8)
    batches = np.zeros((2_000, 12))
    for batch in batches:
        for own in ([0, 1], [2, 3, 4], [5], [], [6, 7]):
            np.add.at(batch, draw_bundle(own, small), 1)
    uniform = (5 * 8 + 3) / 12
    expected = np.array([1, 1, 2 / 3, 2 / 3, 2 / 3, 1, 1, 1, 0, 0, 0, 0]) + uniform
    spread = np.sqrt(uniform * 11 / 12 + np.array([0, 0, 2 / 9, 2 / 9, 2 / 9, *[0] * 7]))
    assert np.abs((batches.mean(0) - expected) / spread * np.sqrt(2_000)).max() < 5
    assert batches.std(0) == pytest.approx(spread, rel=0.08)
