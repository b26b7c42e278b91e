"""A changed rating is detected where devices repeat reports, and not where they answer once."""

import numpy as np
import pytest

from tacit.audit.attacks import attack
from tacit.audit.attacks.changes import ACCURACY, RECALL, Changes
from tacit.audit.attacks.device_reports import device_reports
from tacit.errors import RequestError


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("epsilon", "least", "most"), [("1", 0.75, 0.85), ("4", 0.9, 0.99)])
def test_recall_is_that_of_two_draws(world, epsilon, least, most):
    """Against the table: two draws of different rows differ with this probability."""
    found = {each.setting: each for each in Changes(slots=4000).run(world("catalogue", epsilon))}
    table = np.array(world("catalogue", epsilon).channel.likelihood)
    same = table @ table.T
    expected = 1 - (same.sum() - np.trace(same)) / (same.size - len(same))
    every = found["reports in every epoch"]
    assert (every.figure, every.bound) == (RECALL, None)
    assert every.value == pytest.approx(expected, abs=5 * every.error)
    assert least < expected < most  # the draws are within five standard errors of it
    once = found["one report by block"]
    assert (once.value, once.bound, once.error) == (0, 0, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_accuracy_after_a_renewal_is_within_the_guarantee(world, epsilon):
    (found,) = (
        each
        for each in Changes(slots=4000).run(world("sample:40", epsilon))
        if each.figure == ACCURACY
    )
    assert not found.leaks
    table = np.array(world("sample:40", epsilon).channel.likelihood)
    same = table @ table.T
    agree = np.trace(same) / len(same)
    others = (same.sum() - np.trace(same)) / (same.size - len(same))
    assert found.value == pytest.approx(0.5 + (agree - others) / 2, abs=5 * found.error)


def test_every_change_is_detected_where_presence_is_public(world):
    (found,) = attack("changes").run(world("rated", "1"))
    assert (found.value, found.error) == (1, 0)


def test_a_device_that_draws_a_changed_rating_anew_leaks(world):
    """A planted fault: blocks whose memory is keyed by the rating, as for other tasks."""

    def forgetful(channel, scale, rows, seed, renewals):
        return device_reports(channel, scale, rows, seed)

    found = Changes(slots=500, history=forgetful).run(world("catalogue", "1"))
    assert [each.leaks for each in found if each.setting == "one report by block"] == [True]


def test_fewer_than_two_slots_are_refused():
    with pytest.raises(RequestError, match="slots must be at least 2, got 1"):
        Changes(slots=1)
