"""Standard errors where all or no attempts succeed: chance alone is not reported as a leak."""

import numpy as np
import pytest
from scipy.stats import binom

from tacit.audit.attacks.chains.aliases import Aliases
from tacit.audit.attacks.changes import ACCURACY, Changes
from tacit.audit.attacks.linkage import places
from tacit.audit.attacks.membership import inference
from tacit.audit.attacks.protocol import DEVIATIONS, balanced_error, mean_error


@pytest.mark.parametrize("count", [1, 2, 5, 8, 20, 50, 200, 1000])
def test_a_fraction_exceeds_its_expectation_rarely(count):
    """Exact: the largest probability is 3e-5. With one success and one failure added, it is .01."""
    right = np.arange(count + 1)
    errors = np.array([mean_error(np.arange(count) < each) for each in right])
    assert (errors > 0).all()
    for share in 1 - np.geomspace(1e-5, 0.99, 100):
        exceeds = right / count > share + DEVIATIONS * errors
        assert binom.pmf(right, count, share)[exceeds].sum() < 1e-4


def test_errors_of_many_values_are_the_usual_ones():
    values = np.random.default_rng(0).random(100_000)
    usual = values.std() / np.sqrt(len(values))
    assert mean_error(values) == pytest.approx(usual, rel=1e-3)
    assert balanced_error([values, values]) == pytest.approx(usual / np.sqrt(2), rel=1e-3)


def test_few_titles_and_few_slots_do_not_leak(world):
    """Seeds where all attempts succeed are among them: of six titles and of two slots."""
    certain = 0
    for seed in range(8):
        known = world("catalogue", "2", seed)
        found = Aliases(titles=6, ids=(3, 11)).run(known)
        found += [each for each in Changes(slots=4).run(known) if each.figure == ACCURACY]
        certain += sum(each.value == 1 for each in found)
        assert not any(each.leaks for each in found)
    assert certain


def test_one_victim_that_is_identified_has_an_error(world):
    better, ties = np.zeros(1, np.int32), np.ones(1, np.int32)
    for each in places("4 items", better, ties, world()):
        assert each.value == 1
        assert each.error == mean_error(np.ones(1)) > 0.1


def test_few_models_that_all_separate_members_have_an_error():
    """Eight models of 20 users each: 80 members, of which all have larger scores."""
    inside = np.arange(20) % 2 == np.arange(8)[:, None] % 2
    area, rare = inference("x", inside.astype(np.float64), inside, (0.95, 0.9))
    assert area.value == 1
    assert area.error > mean_error(np.ones(80))
    assert rare.error >= mean_error(np.ones(80))
    assert not area.leaks
