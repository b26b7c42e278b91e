"""Verdicts, figures that are kept, and settings: what all studies rest on."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit_studies.claim import PaperClaim
from tacit_studies.kept import Kept, averaged, by_draw, samples
from tacit_studies.settings import with_settings
from tacit_studies.summary import counted
from tacit_studies.verdict import ClaimVerdict, share_verdict

HOLDS, FAILS, CLOSE, OPEN = ClaimVerdict


@pytest.mark.parametrize(
    ("cases", "verdict", "ours"),
    [
        ({"a": True, "b": HOLDS}, HOLDS, "holds in 2 of 2"),
        ({"a": True, "b": False, "c": CLOSE}, FAILS,
         "holds in 1 of 3 (a); too close to tell in 1 of 3 (c)"),
        ({"a": HOLDS, "b": CLOSE}, CLOSE, "holds in 1 of 2 (a); too close to tell in 1 of 2 (b)"),
        ({"a": False}, FAILS, "holds in 0 of 1"),
        ({}, OPEN, ""),
    ],
)  # fmt: skip
def test_a_claim_has_the_least_favourable_verdict_of_its_cases(cases, verdict, ours):
    claim = PaperClaim.of_cases("words", "lower", cases)
    assert (claim.verdict, claim.ours) == (verdict, ours)


def judged(lower, higher, least=0.001):
    return PaperClaim.of_draws("lower", {"1": lower}, {"1": higher}, least=least).verdict


@pytest.mark.parametrize(
    ("lower", "higher", "verdict"),
    [
        ([0.9, 0.9, 0.9], [0.9, 0.9, 0.9], CLOSE),
        ([0.9, 0.9, 0.9], [0.9005, 0.9005, 0.9005], CLOSE),
        ([0.90, 0.91, 0.92], [0.95, 0.96, 0.98], HOLDS),
        ([0.95, 0.96, 0.98], [0.90, 0.91, 0.92], FAILS),
        ([0.90, 0.95, 0.91], [0.91, 0.91, 0.92], CLOSE),
        ([0.9], [2.0], CLOSE),
    ],
)
def test_a_difference_counts_beyond_its_spread_and_the_least(lower, higher, verdict):
    """One draw has no spread, so it decides nothing."""
    assert judged(lower, higher) == verdict


def test_draws_are_paired_and_only_common_cases_count():
    """Splits differ by more than the methods, and by the same for both."""
    splits = [0.5, 1.0, 1.5]
    assert judged(splits, [one + 0.01 + one / 1000 for one in splits]) == HOLDS
    claim = PaperClaim.of_draws(
        "lower", {"1": [0.9, 0.9], "3": [9.0, 9.0]}, {"1": [0.91, 0.91]}, least=0.001
    )
    assert claim.ours == (
        "0.900 and 0.910 at 1 (+0.010, ± 0.000); least difference 0.001; holds in 1 of 1"
    )


def test_equal_methods_are_rarely_told_apart():
    """Of 4,000 pairs of methods with equal errors, one in twenty is beyond its interval."""
    chance = np.random.default_rng(0)
    noise = chance.uniform(-1, 1, (4000, 2, 5))
    verdicts = [judged(one, other, least=1e-9) for one, other in noise.tolist()]
    assert 0.03 < 1 - verdicts.count(CLOSE) / len(verdicts) < 0.07


@pytest.mark.parametrize(
    ("hits", "draws", "cases", "verdict"),
    [
        (40, 40, 1, HOLDS), (20, 20, 1, CLOSE), (30, 40, 1, FAILS), (30, 40, 1000, CLOSE),
        (0, 5, 1, FAILS),
    ],
)  # fmt: skip
def test_a_share_of_draws_is_judged_by_its_interval(hits, draws, cases, verdict):
    assert share_verdict(hits, draws, 0.9, cases=cases) == verdict


def test_verdicts_are_counted_in_words():
    claims = [PaperClaim("w", "p", "o", v) for v in (HOLDS, HOLDS, CLOSE, OPEN)]
    assert counted(claims) == "Of 4 claims 2 hold, 1 is too close to tell, 1 is not measured."


class Case(NamedTuple):
    name: str
    size: int | None


CASES = [Case("a", 1), Case("b", None), Case("c", 3)]


def test_what_was_measured_before_an_interrupt_is_not_measured_again(tmp_path):
    seen = []

    def measure(case, stop):
        if case.name == stop:
            raise KeyboardInterrupt
        seen.append(case.name)
        return {"rmse": float(len(case.name))}

    kept = Kept(tmp_path, "data")
    with pytest.raises(KeyboardInterrupt):
        kept.measured("study", CASES, lambda case: measure(case, "b"))
    found = kept.measured("study", CASES, lambda case: measure(case, ""))
    assert seen == ["a", "b", "c"]
    assert found == {case: {"rmse": 1.0} for case in CASES}


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: (Kept(folder, "other data"), "study", CASES[:1]),
        lambda folder: (Kept(folder, "data"), "study", [Case("a", 2)]),
        lambda folder: (Kept(folder, "data"), "other study", CASES[:1]),
    ],
)
def test_no_figure_is_taken_for_one_of_other_data_or_another_case(tmp_path, other):
    Kept(tmp_path, "data").measured("study", CASES[:1], lambda case: {"rmse": 1.0})
    kept, study, cases = other(tmp_path)
    assert kept.measured(study, cases, lambda case: {"rmse": 2.0}) == {cases[0]: {"rmse": 2.0}}


def test_figures_are_grouped_by_all_but_the_draw():
    rows = {Case("a", 1): {"mae": 1.0}, Case("b", 1): {"mae": 5.0}, Case("a", 2): {"mae": 2.0}}
    groups = by_draw(rows, lambda case: case.name)
    assert samples(groups["a"], "mae") == [1.0, 2.0]
    assert averaged(groups) == {"a": {"mae": 1.5}, "b": {"mae": 5.0}}


@dataclass(frozen=True)
class Study:
    epsilons: tuple[str, ...] = ("1",)
    ridges: tuple[float, ...] = (0.1,)
    folds: int = 10
    ridge: float | None = None
    y: str | None = None

    name: ClassVar[str] = "study"


@dataclass(frozen=True)
class Another:
    draws: int = 5

    name: ClassVar[str] = "another"


def test_settings_are_read_by_their_types_where_a_study_has_them():
    given = {"epsilons": "0.3,1", "ridges": "1,2.5", "folds": "2", "ridge": "0.3", "y": "mean"}
    one, other = with_settings([Study(), Another()], given | {"draws": "3"})
    assert one == Study(("0.3", "1"), (1.0, 2.5), 2, 0.3, "mean")
    assert other == Another(3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fold": "2"}, "No selected study has the setting 'fold'; the settings are draws"),
        ({"folds": "two"}, "folds must be a value of type int, got 'two'."),
        ({"ridges": "1,x"}, "ridges must be comma-separated values of type float, got '1,x'"),
        ({"name": "x"}, "No selected study has the setting 'name'"),
        ({"folds": "-1"}, "folds of study study must be an integer of at least 0, got -1"),
    ],
)
def test_a_setting_that_is_none_is_a_sentence(given, said):
    with pytest.raises(RequestError, match="^" + said.replace("(", r"\(")):
        with_settings([Study(), Another()], given)
