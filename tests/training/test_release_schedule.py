"""How many factors a budget bears: none where their gain is not far above their price."""

import numpy as np
import pytest

from tacit.training.person.item_means import Counted
from tacit.training.person.release_schedule import (
    LEFT,
    MEANS,
    ReleaseSchedule,
    _Guess,
    release_schedule,
)

HALF, STEPS, SEVERAL = 2.0, 4, 4.0


def known(raters: float) -> Counted:
    """800 items by a power law; everybody rates some 50."""
    popular = 1 / (np.arange(800) + 20.0)
    return Counted(0.5, np.zeros(800), raters, raters * 7 * popular / popular.sum(), 3.0)


def ratio(counted: Counted, alone: float) -> float:
    """Gain over cost of the best number of factors."""
    every = np.ones(len(counted.weights), bool)
    guess = _Guess(counted, alone, HALF, every, every)
    head = counted.weights > 6 * counted.noise
    gain = max(guess.gain(K, head, STEPS) for K in range(1, 13))
    return gain / (guess.loss(MEANS) - guess.loss(LEFT))


def test_factors_are_learnt_where_their_gain_is_several_times_their_cost():
    ratios, factors = [], []
    for alone in np.geomspace(0.5, 50, 25):
        ratios.append(ratio(known(5000), alone))
        factors.append(release_schedule(known(5000), alone, HALF, STEPS, None).factors)
    assert any(1.2 < r < 0.8 * SEVERAL for r in ratios)
    assert any(r > SEVERAL for r in ratios)
    assert [K > 0 for K in factors] == [r > SEVERAL for r in ratios]


def test_who_links_no_domains_does_not_pay_for_factors():
    assert release_schedule(known(5000), 0.5, HALF, STEPS, None, linked=1.0).factors > 0
    assert release_schedule(known(5000), 0.5, HALF, STEPS, None, linked=0.01).factors == 0


def test_more_people_bear_more_factors():
    counts = [
        release_schedule(known(n), 4.0, HALF, STEPS, None).factors for n in (500, 20_000, 10**6)
    ]
    assert counts[0] == 0 < counts[1] < counts[2]


@pytest.mark.parametrize("factors", [0, 5])
def test_the_shares_of_a_training_are_what_the_counts_left(factors):
    shares = ReleaseSchedule(factors, np.ones(3, bool), STEPS).shares
    assert sum(shares.values()) == pytest.approx(LEFT)
    assert min(shares.values()) > 0
    pulls = [share for name, share in shares.items() if name.startswith("pull")]
    assert pulls == sorted(pulls)
    assert len(pulls) == (STEPS if factors else 0)


def test_nothing_stands_out_of_the_noise_of_counts():
    drowned = Counted(0.5, np.zeros(50), 100.0, np.full(50, 10.0), 3.0)
    assert release_schedule(drowned, 0.01, HALF, STEPS, 3).factors == 0


def test_of_numbers_that_explain_nearly_as_much_the_largest_is_taken():
    """Where noise is small gains level off behind the best; where it is large they fall at once."""
    every = np.ones(800, bool)
    more = []
    for alone in np.geomspace(1, 10, 6):
        guess = _Guess(known(200_000), alone, HALF, every, every)
        gains = [guess.gain(K, every, STEPS) for K in range(1, 13)]
        found = release_schedule(known(200_000), alone, HALF, STEPS, None).factors
        assert gains[found - 1] >= 0.98 * max(gains)
        assert all(gain < 0.98 * max(gains) for gain in gains[found:])
        more.append(found - 1 - int(np.argmax(gains)))
    assert min(more) >= 0 < max(more)
