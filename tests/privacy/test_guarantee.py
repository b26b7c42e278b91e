"""A guarantee says what it is worth, and one that fails says so first."""

from dataclasses import replace

import pytest

from tacit.privacy.guarantee import Guarantee

HOLDS = Guarantee(epsilon="1", unit="value", trust="curator", released="a mean")


def test_a_claim_that_fails_says_so_before_it_says_anything_else():
    fails = replace(HOLDS, fails="the mean has no noise")
    assert fails.sentence == (
        "Claimed but not satisfied (the mean has no noise): epsilon = 1 per value, trusting "
        "the curator: releasing a mean protects the value of one rating; which items a user rated "
        "is public."
    )
    assert HOLDS.sentence.startswith("Epsilon = 1 per value")


def test_a_guarantee_survives_json_and_old_files_make_no_excuses():
    fails = replace(HOLDS, fails="the mean has no noise", public=("which items each user rated",))
    assert Guarantee.from_dict(fails.to_dict()) == fails
    old = HOLDS.to_dict()
    del old["fails"]
    assert Guarantee.from_dict(old) == HOLDS


def test_a_sentence_states_its_delta_and_what_is_public():
    whole = replace(HOLDS, delta="1e-6", unit="user", public=("the catalogue", "the scale"))
    assert whole.sentence == (
        "Epsilon = 1 per user, delta = 1e-6, trusting the curator: "
        "releasing a mean protects all data of "
        "one user. Public: the catalogue, the scale."
    )


@pytest.mark.parametrize(
    ("uncovered", "words"),
    [
        (("the scale",), "the scale"),
        (("the scale", "the people", "the catalogue"), "the scale, the people and the catalogue"),
    ],
)
def test_each_thing_that_is_left_out_is_named(uncovered, words):
    sentence = replace(HOLDS, uncovered=uncovered).sentence
    assert sentence.endswith(
        f" Not covered: {words}, inferred from the ratings because not declared."
    )


def test_what_is_left_out_is_said_and_kept():
    gap = replace(HOLDS, uncovered=("the scale", "the catalogue"))
    assert gap.sentence.endswith(
        " Not covered: the scale and the catalogue, inferred from the ratings because not declared."
    )
    assert Guarantee.from_dict(gap.to_dict()) == gap
    assert "uncovered" not in HOLDS.to_dict()
