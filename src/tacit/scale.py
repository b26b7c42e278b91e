"""The rating scale: a public grid of admissible levels, in exact decimals.

Public priors: statistics of published data sets, used before any rating is observed.

They are public, so using them has no privacy cost. Changing one changes every figure that was
measured with it.
"""

from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Self

from tacit.errors import RequestError, must_be

MOST_LEVELS = 1 << 16
"""Most levels of a scale: level indices have at most two bytes."""
MOST_DIGITS = 40
"""Most digits before and after the decimal point of a number in a scale."""

THERE = "there"
"""Text of the scale with one level, for implicit feedback."""

_EXACT = Context(prec=4 * MOST_DIGITS)  # no sum or product of such numbers is rounded in it


def shortest(value: Decimal) -> str:
    """Return the shortest plain decimal: no exponent, no trailing zeros and no negative zero."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


@dataclass(frozen=True)
class RatingScale:
    """The levels `low, low + step, .., high` of ratings.

    The scale is public. A scale that is inferred from private ratings reveals their minimum and
    maximum. Levels are numbered from 0 (the lowest) to n_levels - 1.

    The scale `there` has the single level 1, for implicit feedback: an item is present or missing.

    Raises `RequestError` for a step that is not positive or does not divide the range, for more
    than `MOST_LEVELS` levels, for numbers with more than `MOST_DIGITS` digits before or after the
    decimal point, and for values that are not `Decimal`.

    >>> RatingScale.parse("1:5:1").levels[-1]
    Decimal('5')
    >>> RatingScale.parse("0.5:5:0.5").n_levels
    10
    >>> RatingScale.parse("there").levels
    (Decimal('1'),)
    """

    low: Decimal
    high: Decimal
    step: Decimal

    def __post_init__(self) -> None:
        for part in (self.low, self.high, self.step):
            must_be(Decimal, part, "exact decimals", "write RatingScale.parse('1:5:1')")
            # Checked first: 1e999999 written out has a million digits.
            if not _is_short(part):
                raise RequestError(
                    f"Numbers in the rating scale must be finite, with at most {MOST_DIGITS} "
                    f"digits on each side of the point, got {_shown(part)}; write low:high:step."
                )
        if self.has_one_level:
            return
        if self.step <= 0 or self.high <= self.low:
            raise RequestError(
                f"The rating scale {self} is empty; write low:high:step with low < high and step > "
                "0."
            )
        if _EXACT.remainder(self._range, self.step) != 0:
            raise RequestError(
                f"The step of the rating scale {self} does not divide its range; choose one that "
                "does."
            )
        if self.n_levels > MOST_LEVELS:
            raise RequestError(
                f"The rating scale {self} has {self.n_levels} levels, more than {MOST_LEVELS}; "
                "choose a larger step."
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `low:high:step`, as in `1:5:1` or `-10:10:0.5`, or `there`.

        Raises `RequestError` for anything else.
        """
        if text == THERE:
            return cls(Decimal(1), Decimal(1), Decimal(1))
        try:
            low, high, step = (Decimal(part) for part in text.split(":"))
        except (AttributeError, ValueError, InvalidOperation):
            raise RequestError(
                f"The rating scale '{str(text)[:60]}' is not of the form low:high:step, such as "
                "1:5:1."
            ) from None
        scale = cls(low, high, step)
        if scale.has_one_level:
            raise RequestError(f"The rating scale '{text[:60]}' has one level; write {THERE}.")
        return scale

    @property
    def has_one_level(self) -> bool:
        """Whether this is the scale `there`, on which a rating only states presence."""
        return self.low == self.high == self.step == 1

    def require_stars(self, who: str) -> None:
        """Raise `RequestError` for the scale `there`. `who`: what requires several levels."""
        if self.has_one_level:
            raise RequestError(
                f"{who} requires ratings with several levels, got implicit feedback; use ratings "
                "on a scale such as 1:5:1."
            )

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(_EXACT.divide_int(self._range, self.step)) + 1

    @property
    def levels(self) -> tuple[Decimal, ...]:
        """All levels in ascending order."""
        return tuple(_EXACT.fma(k, self.step, self.low) for k in range(self.n_levels))

    def level_of(self, rating: str | int | Decimal) -> int:
        """Return the number of the level that a rating is, exactly.

        Raises `RequestError` for any other rating. The message does not contain it, because it may
        be logged.
        """
        try:
            value = Decimal(rating)
        except (TypeError, ValueError, InvalidOperation):
            raise RequestError(self._form) from None
        if not _is_short(value):
            raise RequestError(self._form)
        level, rest = _EXACT.divmod(_EXACT.subtract(value, self.low), self.step)
        if rest or not 0 <= level < self.n_levels:
            raise RequestError(self._form)
        return int(level)

    @property
    def values(self) -> tuple[float, ...]:
        """Levels as floats, for estimation. Channels on devices do not use them."""
        return tuple(float(level) for level in self.levels)

    @property
    def _form(self) -> str:
        """What is wrong with other ratings."""
        if self.has_one_level:
            return "For implicit feedback, a rating must be 1 (an interaction) or None."
        return f"This rating is not on the scale {self}."

    @property
    def _range(self) -> Decimal:
        return _EXACT.subtract(self.high, self.low)

    def __repr__(self) -> str:
        return f"RatingScale.parse({str(self)!r})"

    def __str__(self) -> str:
        if self.has_one_level:
            return THERE
        return ":".join(shortest(part) for part in (self.low, self.high, self.step))


def _is_short(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return False
    return exponent >= -MOST_DIGITS and value.adjusted() < MOST_DIGITS


def _shown(value: Decimal) -> str:
    return format(value, ".6g")[:20]


RATING_SPREAD = 0.2125
"""Residual scale of a user's ratings around their tastes, as a share of the scale's range: .85 on 1
to 5, as is common for star ratings. Used to choose channels and in likelihoods."""

SPREADS = (0.8, 1.0, 1.25)
"""Residual scales of users relative to `RATING_SPREAD`, each for a third of the users. Wider ones
would absorb variation that a model of tastes does not explain."""

LEVEL_NOISE = 0.23
"""Deviation of a rating around the levels of its item and user, likewise: .92 stars. It is above
`RATING_SPREAD`, because levels explain less of a rating than tastes do."""

LEVEL_SPREAD = 0.12
"""Deviation of the levels of items and of users around the mean, likewise: .48 stars."""

RATED_SHARE = 0.05
"""Assumed share of a catalogue that one user has rated."""

OWN_BIAS_RIDGE = 5.0
"""Number of ratings by which the mean of a user's own ratings is damped."""
