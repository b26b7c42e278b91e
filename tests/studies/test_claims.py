"""Verdicts, figures that are kept, and settings: what all studies rest on."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

from tacit.errors import RequestError
from tacit_studies.claim import ClaimVerdict, PaperClaim
from tacit_studies.kept import Kept
from tacit_studies.settings import with_settings
from tacit_studies.summary import counted


@pytest.mark.parametrize(
    ("held", "verdict", "said"),
    [
        ({"a": True, "b": True}, ClaimVerdict.HOLDS, "in 2 of 2"),
        ({"a": True, "b": False}, ClaimVerdict.PARTLY, "in 1 of 2 (a)"),
        ({"a": False}, ClaimVerdict.FAILS, "in 0 of 1"),
        ({}, ClaimVerdict.OPEN, ""),
    ],
)
def test_a_claim_holds_in_all_cases_or_in_part(held, verdict, said):
    claim = PaperClaim.of_cases("words", "lower", held)
    assert (claim.verdict, claim.ours) == (verdict, said)


@pytest.mark.parametrize(
    ("by", "verdict"), [(0.0, ClaimVerdict.HOLDS), (0.02, ClaimVerdict.PARTLY)]
)
def test_lower_is_lower_by_the_margin_in_every_common_case(by, verdict):
    lower, higher = {"1": 0.90, "2": 0.80, "3": 9.0}, {"1": 0.91, "2": 0.90}
    claim = PaperClaim.of_figures("lower", lower, higher, by)
    assert claim.verdict == verdict
    assert "0.900 and 0.910 at 1" in claim.ours
    assert "9.0" not in claim.ours


def test_an_equal_error_is_not_lower_by_a_margin_and_a_higher_one_fails():
    same = {"1": 0.9}
    assert PaperClaim.of_figures("lower", same, {"1": 0.8}).verdict == ClaimVerdict.FAILS
    assert PaperClaim.of_figures("lower", same, same, by=0.001).verdict == ClaimVerdict.FAILS


def test_verdicts_are_counted_in_words():
    claims = [
        PaperClaim("w", "p", "o", v)
        for v in (ClaimVerdict.HOLDS, ClaimVerdict.HOLDS, ClaimVerdict.OPEN)
    ]
    assert counted(claims) == "Of 3 claims 2 hold, 1 is not measured."


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
