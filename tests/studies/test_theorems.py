"""Studies of theorems: their verdicts, and that a wrong theorem would be found."""

import math
from dataclasses import replace

import pytest

from tacit import RequestError, synthetic
from tacit.channels.laplace import BoundedLaplace
from tacit_studies.kept import Kept
from tacit_studies.neera import theorem_1 as neera_theorem
from tacit_studies.verdict import ClaimVerdict
from tacit_studies.x_map.theorem_1 import XMapTheorem1, fixed_loss
from tacit_studies.x_map.two_domains import made_up
from tacit_studies.xian.theorems import XianTheorem4, XianTheorem7, largest_change
from tacit_studies.zheng.bounds import Slots, response_bound
from tacit_studies.zheng.rule import EpsilonRule
from tacit_studies.zheng.theorem_3 import missed_entry

HOLDS, FAILS = ClaimVerdict.HOLDS, ClaimVerdict.FAILS


def verdicts(study, data=None):
    return [claim.verdict for claim in study.find(data, Kept()).claims]


def test_neeras_lemmas_and_theorem_hold_and_the_scale_can_be_inherited():
    assert verdicts(neera_theorem.NeeraTheorem1(epsilons=("0.5", "3"))) == [HOLDS] * 3 + [FAILS]


def test_the_laplace_scale_is_not_enough_for_one_star():
    """b of epsilon 1 claimed for epsilon .9: the loss on the grid is found to be above."""
    law = BoundedLaplace(epsilon="1", scale=neera_theorem.STARS, sensitivity="1")
    assert neera_theorem.loss(law, 1.0) == pytest.approx(1.0)
    claim = neera_theorem.theorem_1({("1", "0.9"): law})
    assert claim.verdict == FAILS


@pytest.mark.parametrize("study", [XianTheorem4(), XianTheorem7(designs=50)])
def test_the_noise_of_xians_theorems_is_enough_and_raw_levels_are_found(study):
    *noise, output = verdicts(study)
    assert set(noise) == {HOLDS}
    assert output == FAILS


@pytest.mark.parametrize("ridge", [0.05, 0.5, 5.0])
def test_the_largest_change_of_a_row_is_attained(ridge):
    """Dr t / (lambda + t^2) with t = min(1, sqrt lambda), by hand."""
    t = min(1.0, math.sqrt(ridge))
    assert largest_change(ridge, 100) == pytest.approx(4 * t / (ridge + t * t))


def test_theorem_1_of_x_map_holds_for_fixed_candidates_alone():
    study = XMapTheorem1(epsilons=("0.6",), cases=50, users=2, k=5)
    assert verdicts(study, made_up(True)) == [HOLDS, FAILS]


def test_the_loss_of_a_replacement_needs_the_sensitivity_of_2():
    """At twice the epsilon, the loss is above it: the bound of fixed candidates is not slack."""
    assert 0.5 < fixed_loss("2", 1000) / 2 <= 1


def test_a_missed_entry_has_no_constant():
    rho, error = missed_entry()
    assert (rho, error) == (0.0, pytest.approx(1.0))


def test_the_rule_for_epsilon_is_solved_as_by_hand():
    """e^epsilon + L = 8 (L - 1)^2 m n L / (gamma rho_0^2 s (c - 1)^2), c = 2, rho_0 = 1/2."""
    data = synthetic(60, 80, 2000)
    study = EpsilonRule(order=2.0, misfit=0.5)
    line = study.find(data, Kept()).tables[0].lines[1]
    m, n, s = data.n_users, data.n_items, len(data)
    epsilon = math.log(8 * 16 * m * n * 5 / (0.1 * 0.25 * s) - 5)
    assert float(line[1]) == pytest.approx(epsilon, abs=0.051)
    shape = Slots(users=m, items=n, rated=s, misfit=0.5)
    assert response_bound(shape, epsilon, 0.1, 5) == pytest.approx(2 * shape.own)
    with pytest.raises(RequestError, match="order must be at least"):
        replace(study, order=1.0).find(data, Kept())
