"""Reports about several ids of one title reveal as much as that many draws, and no more."""

from itertools import product

import numpy as np
import pytest

from tacit.audit.attacks.chains.aliases import Aliases, once
from tacit.errors import RequestError


def best_accuracy(table, draws):
    """The accuracy of the likeliest row after `draws` symbols of it, over all outcomes."""
    outcomes = product(range(table.shape[1]), repeat=draws)
    return sum(table[:, outcome].prod(1).max() for outcome in map(list, outcomes)) / len(table)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
@pytest.mark.parametrize("epsilon", ["1", "2"])
def test_accuracy_is_that_of_as_many_draws(world, plan, epsilon):
    known = world(plan, epsilon)
    table = np.array(known.channel.likelihood)
    for each, draws in zip(Aliases(ids=(1, 3), titles=1200).run(known), (1, 3), strict=False):
        assert each.setting == f"{draws} ids of a title, all queried"
        assert each.value == pytest.approx(best_accuracy(table, draws), abs=4.5 * each.error)
        assert not each.leaks


def test_a_fraction_of_the_ids_is_queried(world):
    known = world("catalogue", "2")
    table = np.array(known.channel.likelihood)
    found = {each.setting: each for each in Aliases(ids=(3,), titles=1200).run(known)}
    few = found["3 ids of a title, 10% queried"]
    chances = (0.9**3, 3 * 0.1 * 0.9**2, 3 * 0.1**2 * 0.9, 0.1**3)
    values = (1 / len(table), *(best_accuracy(table, draws) for draws in (1, 2, 3)))
    expected = sum(p * value for p, value in zip(chances, values, strict=True))
    assert few.value == pytest.approx(expected, abs=4.5 * few.error)
    assert not few.leaks
    assert few.bound < found["3 ids of a title, all queried"].bound / 2


def test_fewer_titles_than_rows_are_refused(world):
    with pytest.raises(RequestError, match="titles must be at least 6, the number of rows"):
        Aliases(titles=5).run(world("catalogue", "2"))


def test_ids_that_are_all_queried_leak(world):
    """A planted fault: ids chosen after the key is known, so that a device answers all of them."""

    def ground(channel, scale, rows, seed, queried):
        return once(channel, scale, rows, seed, None)

    found = Aliases(ids=(1, 5), titles=300, answers=ground).run(world("catalogue", "2"))
    assert [each.leaks for each in found if "10%" in each.setting] == [True, True]


@pytest.mark.parametrize(
    "settings", [{"ids": ()}, {"ids": (0, 1)}, {"titles": 0}, {"queried": 501}]
)
def test_other_numbers_are_refused(settings):
    with pytest.raises(RequestError, match="ids, titles and queried must be at least 1, and"):
        Aliases(**settings)
