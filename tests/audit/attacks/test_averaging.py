"""Averaging: nothing is gained from devices that repeat themselves, all from ones that do not."""

import math

import numpy as np
import pytest

from tacit.audit.attacks.averaging import Averaging, fresh, likeliest, played
from tacit.channels import compile_channel
from tacit.errors import RequestError

SYNCS = 100


def forgetful(channel, scale, rows, syncs, seed):
    """Planted: fresh noise at every sync."""
    return fresh(channel, rows, syncs, seed)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_hundred_syncs_of_devices_say_no_more_than_one(world, figure, plan):
    found = Averaging(slots=2400).run(world(plan, "1"))
    one, last = (figure(found, "balanced accuracy", f"{n} syncs of") for n in (1, SYNCS))
    answers = 5 if plan == "rated" else 6
    bound = math.e / (math.e + answers - 1)
    assert last.value == one.value
    assert last.bound == pytest.approx(bound, abs=1e-12)
    # The likeliest row is right with exactly this probability.
    assert abs(last.value - bound) < 4.5 * last.error < 0.0465
    assert not last.leaks
    drawn = Averaging(slots=12_000, history=forgetful).run(world(plan, "1"))
    assert figure(drawn, "balanced accuracy", f"{SYNCS} fresh").value > 0.995
    assert figure(drawn, "balanced accuracy", "10 fresh").value > bound + 0.2


def test_a_device_that_draws_anew_at_each_sync_is_found(world, figure):
    found = Averaging(slots=500, history=forgetful).run(world("catalogue", "1"))
    assert not figure(found, "balanced accuracy", "1 syncs").leaks
    assert figure(found, "balanced accuracy", "10 syncs").leaks
    assert figure(found, "balanced accuracy", f"{SYNCS} syncs").value > 0.97


@pytest.mark.sampled(2)
@pytest.mark.parametrize("missing", [False, True])
def test_devices_answer_by_the_table(people, missing):
    """Shares of symbols, row by row, are those of the channel: nothing is mixed up on the way."""
    channel = compile_channel(
        "randomized-response", epsilon="1", scale=people.scale, missing=missing
    )
    rows = np.arange(3000) % len(channel.weights)
    said = played(channel, people.scale, rows, 3, seed=1)
    assert (said[:, 0] >= 0).all()
    later = said[:, 1:]
    assert (later == said[:, :1]).all() if missing else (later == -1).all()
    for row, likely in enumerate(channel.likelihood):
        shares = np.bincount(said[rows == row, 0], minlength=len(likely)) / (rows == row).sum()
        assert np.abs(shares - likely).max() < 4.5 * math.sqrt(0.25 / (rows == row).sum())


def test_the_likeliest_row_by_hand(people):
    channel = compile_channel("randomized-response", epsilon="1", scale=people.scale)
    assert likeliest(np.array([[3, 3, 1], [4, -1, -1], [-1, 2, 2]]), channel).tolist() == [3, 4, 2]


def test_no_sync_is_refused():
    with pytest.raises(RequestError, match="got 0 syncs and 5 slots"):
        Averaging(syncs=0, slots=5)
