"""The level of a rating is found by exact arithmetic, as by a search among all levels."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import RequestError
from tacit.scale import THERE, RatingScale

SCALES = ("1:5:1", "0.5:5:0.5", "-10:10:0.125", "0:1000:0.1", THERE)


@pytest.mark.parametrize("text", SCALES)
def test_every_level_has_its_number(text):
    scale = RatingScale.parse(text)
    for number, level in enumerate(scale.levels):
        for spelled in (level, f"{level}", f"{level}0" if "." in str(level) else f"{level}.0"):
            assert scale.level_of(spelled) == number
        if level == int(level):
            assert scale.level_of(int(level)) == number


@given(st.sampled_from(SCALES), st.decimals(-20, 20, places=3) | st.decimals())
def test_any_other_rating_is_refused(text, rating):
    scale = RatingScale.parse(text)
    if not rating.is_nan() and rating in scale.levels:
        assert scale.levels[scale.level_of(rating)] == rating
    else:
        with pytest.raises(RequestError, match=r"not on the scale|For implicit feedback"):
            scale.level_of(rating)


@pytest.mark.parametrize(
    "rating", ["", "five", None, [], "1e99999999", "0." + "0" * 50 + "1", Decimal("sNaN")]
)
def test_what_is_no_decimal_is_refused(rating):
    with pytest.raises(RequestError, match=r"This rating is not on the scale 1:5:1\."):
        RatingScale.parse("1:5:1").level_of(rating)


def test_a_large_scale_is_not_searched():
    """65,536 levels, of which none is listed for a rating."""
    scale = RatingScale.parse("0:6.5535:0.0001")
    assert [scale.level_of(f"{k / 10_000:.4f}") for k in range(0, 65_536, 7)] == [
        *range(0, 65_536, 7)
    ]
