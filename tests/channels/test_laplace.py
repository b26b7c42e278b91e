"""The continuous laws, against the published theory corrected, and the tables against the laws."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.channels import compile_channel
from tacit.channels.laplace import BoundedLaplace, ClampedLaplace, Laplace, ModifiedLaplace
from tacit.channels.laplace_line import laplace_line
from tacit.collection.named_plans import channel_of
from tacit.errors import RequestError
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)
FAMILY = (BoundedLaplace, ClampedLaplace, Laplace)
EPSILONS = ("0.1", "0.5", "1", "3")


def bounded(epsilon: str, **more) -> BoundedLaplace:
    return BoundedLaplace(epsilon=epsilon, scale=STARS, **more)


def integral(function, low: float, high: float, cells: int = 4000) -> float:
    gap = (high - low) / cells
    return gap * sum(function(low + (k + 0.5) * gap) for k in range(cells))


@pytest.mark.parametrize(
    ("epsilon", "at_end", "at_middle"),
    [
        ("0.1", 0.0476, 0.0488),
        ("0.5", 0.1967, 0.2212),
        ("1", 0.3161, 0.3935),
        ("3", 0.4751, 0.7769),
    ],
)
def test_normalisers(epsilon, at_end, at_middle):
    law = bounded(epsilon)
    assert law.normaliser(1) == law.normaliser(5) == pytest.approx(at_end, abs=1e-4)
    assert law.normaliser(3) == pytest.approx(at_middle, abs=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounded_loss_is_epsilon_between_the_ends(epsilon):
    law = bounded(epsilon)
    grid = [1 + k / 100 for k in range(401)]
    worst = max(
        math.log(law.density(y, r) / law.density(y, other))
        for y, r, other in product(grid, STARS.values, STARS.values)
    )
    assert worst == pytest.approx(float(epsilon), abs=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("epsilon", "spread"), [("0.5", 3.3258), ("1", 1.5672), ("3", 0.4245)])
def test_smaller_sensitivity_needs_the_fixed_point(epsilon, spread):
    law = bounded(epsilon, sensitivity="1")
    assert law.spread == pytest.approx(spread, abs=1e-4)
    # One step apart the promise is kept and tight; between any two the table proves its claim.
    points = [1 + k / 100 for k in range(301)]
    near = max(math.log(law.density(1, 1) / law.density(1, 2)), 0)
    steps = [
        abs(math.log(law.density(y, r) / law.density(y, r + 1)))
        for y, r in product(points, range(1, 5))
    ]
    assert max(near, *steps) == pytest.approx(float(epsilon), abs=1e-9)
    channel = law.table()
    assert float(channel.epsilon) == pytest.approx(4 / spread, rel=1e-4)
    neighbours = max(
        max(Fraction(a, b), Fraction(b, a))
        for row, below in pairwise(channel.weights)
        for a, b in zip(row, below, strict=True)
    )
    assert math.log(neighbours) <= float(epsilon) + 2e-3


def test_sensitivity_scales_the_other_laws_as_laplace():
    for member in (ClampedLaplace, Laplace):
        law = member(epsilon="1", scale=STARS, sensitivity="2")
        assert law.spread == 2
        assert law.table().epsilon == "2"


@pytest.mark.parametrize(
    ("epsilon", "means"),
    [
        ("0.1", (2.967, 2.977, 3, 3.023, 3.033)),
        ("1", (2.672, 2.784, 3, 3.216, 3.328)),
        ("3", (2.124, 2.454, 3, 3.546, 3.876)),
    ],
)
def test_bounded_means_are_pulled_to_the_middle(epsilon, means):
    law = bounded(epsilon)
    assert [law.mean(r) for r in STARS.values] == pytest.approx(means, abs=1e-3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("member", FAMILY)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laws_agree_with_their_densities(member, epsilon):
    law = member(epsilon=epsilon, scale=STARS)
    low, high = (1, 5) if member is not Laplace else (-40 * law.spread, 40 * law.spread)
    for r in STARS.values:
        inner = law.below(high - 1e-9, r) - law.below(low + 1e-9, r)
        assert integral(lambda y, r=r: law.density(y, r), low, high) == pytest.approx(
            inner, abs=1e-3
        )
        mass = integral(lambda y, r=r: y * law.density(y, r), low, high)
        atoms = low * law.below(low + 1e-9, r) + high * (1 - law.below(high - 1e-9, r))
        assert mass + atoms == pytest.approx(law.mean(r), abs=2e-3 * law.spread)


def test_noise_histogram_of_bounded_laplace():
    expected = (0.03504, 0.10627, 0.19578, 0.28506, 0.23222, 0.10218, 0.03337, 0.01008)
    law = bounded("1")
    assert law.noise_law(SHARES) == pytest.approx(expected, abs=1e-5)
    assert sum(law.noise_law(SHARES)) == pytest.approx(1)
    mean = sum(p * (law.mean(r) - r) for p, r in zip(SHARES, STARS.values, strict=True))
    assert mean == pytest.approx(-0.432, abs=1e-3)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_epsilon_between_neighbouring_ratings_is_more_between_the_ends(epsilon):
    for member in (Laplace, ClampedLaplace):
        law = member(epsilon=epsilon, scale=STARS, sensitivity="1")
        assert Decimal(law.claim) == 4 * Decimal(epsilon)
        assert law.spread == pytest.approx(1 / float(epsilon))


def test_the_noise_of_even_shares_is_the_default():
    law = Laplace(epsilon="2", scale=RatingScale.parse("0.5:5:0.5"))
    cuts = [k / 2 for k in range(-9, 10)]
    assert law.noise_law() == law.noise_law([0.1] * 10) == law.noise_law([0.1] * 10, cuts)
    assert sum(law.noise_law()) == pytest.approx(1 - math.exp(-4.5 / law.spread))
    with pytest.raises(ValueError, match="longer"):
        law.noise_law([0.5, 0.5])


def test_the_last_bin_of_noise_is_closed():
    """All that is above the scale is reported as its end, which is the end of the last bin."""
    law = ClampedLaplace(epsilon="1", scale=STARS)
    assert law.noise_law([1, 0, 0, 0, 0], [3, 4])[0] == pytest.approx(1 - law.below(4, 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_corrected_equations_four_and_five(epsilon):
    law, steps = bounded(epsilon), range(5)
    b = law.spread

    def piece(i: int, near: float, far: float) -> float:
        return SHARES[i] * (math.exp(-near / b) - math.exp(-far / b)) / 2 / law.normaliser(i + 1)

    below = [sum(piece(i, t, t + 1) for i in steps if i > t) for t in reversed(range(4))]
    above = [sum(piece(i, t, t + 1) for i in steps if i + t < 4) for t in range(4)]
    assert law.noise_law(SHARES) == pytest.approx([*below, *above], abs=1e-12)


@given(
    epsilon=st.sampled_from(EPSILONS),
    low=st.floats(1, 5),
    reach=st.floats(0.01, 4),
    apart=st.floats(0, 1),
)
def test_lemma_2(epsilon, low, reach, apart):
    """F(r, z) = C(r + z)/C(r) e^(z/b), 0 <= z <= Df, peaks at r = l, z = Df."""
    law, z = bounded(epsilon), reach * apart
    if low + z > 5:
        return
    peak = law.normaliser(1 + reach) / law.normaliser(1) * math.exp(reach / law.spread)
    here = law.normaliser(low + z) / law.normaliser(low) * math.exp(z / law.spread)
    assert here <= peak * (1 + 1e-12)


@given(
    epsilon=st.sampled_from(EPSILONS),
    weights=st.lists(st.floats(0.01, 1), min_size=5, max_size=5),
)
def test_bounded_noise_is_truncated_and_peaks_at_zero(epsilon, weights):
    """Whatever the prior: no noise beyond the range, rising up to zero, falling after it."""
    prior = [weight / sum(weights) for weight in weights]
    law = bounded(epsilon)
    bins = law.noise_law(prior, [k / 4 for k in range(-20, 21)])
    assert bins[:4] == bins[-4:] == (0, 0, 0, 0)
    below, above = bins[:20], bins[20:]
    assert all(a <= b + 1e-12 for a, b in pairwise(below))
    assert all(a >= b - 1e-12 for a, b in pairwise(above))
    assert sum(bins) == pytest.approx(1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("symbols", "error"), [(64, 0.011), (256, 0.0026)])
@pytest.mark.parametrize("member", FAMILY)
def test_table_means_approach_the_law(member, symbols, error):
    law = member(epsilon="1", scale=STARS, symbols=symbols)
    channel = law.table()
    assert len(channel.outputs) <= symbols
    for row, rating in enumerate(STARS.values):
        assert float(channel.mean(row)) == pytest.approx(law.mean(rating), abs=error / 10)


def test_table_histogram_approaches_the_law():
    law = bounded("1", symbols=257)
    channel = law.table()
    cuts = [-4.5 + k for k in range(10)]
    noise = [0.0] * 9
    for row, rating in enumerate(STARS.values):
        for share, output in zip(channel.likelihood[row], channel.outputs, strict=True):
            noise[math.floor(float(output) - rating + 4.5)] += SHARES[row] * share
    assert noise == pytest.approx(law.noise_law(SHARES, cuts), abs=2e-3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "4", "8"])
@pytest.mark.parametrize("scale", ["1:5:1", "0.5:5:0.5", "-10:10:0.5"])
def test_merged_laplace_stays_unbiased_and_no_cell_is_rare(epsilon, scale):
    law = Laplace(epsilon=epsilon, scale=RatingScale.parse(scale))
    channel = law.table()
    assert max(abs(channel.bias(row)) for row in range(len(channel.levels))) < 3e-6
    assert min(map(min, channel.weights)) >= 1 << 40
    # Merging can only lose variance: the cells replace their points by their means.
    for row in range(len(channel.levels)):
        assert 0.8 < float(channel.variance(row)) / (2 * law.spread**2) < 1.0 + 1e-3


@pytest.mark.parametrize("member", [Laplace, ModifiedLaplace])
@pytest.mark.parametrize("symbols", [64, 1024])
def test_cells_too_rare_to_be_drawn_to_64_bits_are_merged(member, symbols):
    """At the largest epsilon all beyond an end has 2^-25; unmerged, the farthest had 2^-29."""
    channel = member(epsilon="16", scale=STARS, symbols=symbols).table()
    first = len(channel.outputs) - len(channel.weights[0]) + channel.missing
    assert min(min(row[first], row[-1]) for row in channel.weights) >= 1 << (64 - 25)


def test_bounded_laplace_has_no_density_off_the_scale():
    law = bounded("1")
    assert law.density(0.999, 3.0) == law.density(5.001, 3.0) == 0
    assert min(law.density(1.0, 3.0), law.density(5.0, 3.0)) > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"symbols": 1}, "symbols must be from 2 to 4096, got 1"),
        ({"sensitivity": "0"}, "sensitivity must be above 0"),
        ({"sensitivity": "5"}, "at most 4, the range"),
        ({"symbols": 4097}, "symbols must be from 2 to 4096, got 4097"),
        ({"epsilon": "10", "sensitivity": "1"}, "nats between any two ratings, above 16"),
    ],
)
def test_impossible_settings_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        BoundedLaplace(**{"epsilon": "1", "scale": STARS, **options})


@pytest.mark.parametrize("symbols", [2, 4096])
def test_the_ends_of_the_settings_are_included(symbols):
    ends = {"epsilon": "16", "symbols": symbols, "sensitivity": "4"}
    assert BoundedLaplace(**ends, scale=STARS).claim == "16"


def test_laplace_needs_a_symbol_for_each_level():
    with pytest.raises(RequestError, match=r"symbols must be at least 7 .*, got 6"):
        compile_channel("laplace", epsilon="1", scale=STARS, symbols=6)


@pytest.mark.parametrize(
    ("symbols", "finest", "fine"),
    [(7, 1, 1), (17, 1, 1), (18, 1, 2), (33, 1, 2), (34, 1, 4), (11, 2, 2), (64, 2, 4)],
)
def test_a_line_is_as_fine_as_half_of_its_symbols_allow(symbols, finest, fine):
    line = laplace_line(STARS, Decimal(9), symbols=symbols, rarest=Decimal(0), finest=finest)
    assert line.fine == fine
    assert symbols - 1 <= len(line.outputs()) <= symbols
    cells = (symbols - 4 * fine - 1) // 2
    # Each run starts at the last point that still leaves its share of what lies beyond.
    for k, start in enumerate(line.starts):
        assert line.q**start < 1 - Decimal(k) / cells <= line.q ** (start - 1)
    with pytest.raises(RequestError, match=f"symbols must be at least {4 * finest + 3} "):
        laplace_line(STARS, Decimal(9), symbols=4 * finest + 2, rarest=Decimal(0), finest=finest)


@pytest.mark.parametrize(("spread", "rarest"), [("1", "0.002"), ("2", "0.01"), ("4", "0.02")])
def test_runs_are_merged_until_none_is_too_rare_and_no_further(spread, rarest):
    least = Decimal(rarest)
    free, merged = (
        laplace_line(STARS, Decimal(spread), symbols=64, rarest=floor)
        for floor in (Decimal(0), least)
    )
    assert 1 < len(merged.starts) < len(free.starts)
    assert min(merged.row(0)[-len(merged.starts) :]) >= least
    further = min(start for start in free.starts if start > merged.starts[-1])
    assert free.q ** (free.last + further) / (1 + free.q) < least


def test_clamped_noise_has_atoms_at_the_ends_and_a_density_between():
    law = ClampedLaplace(epsilon="1", scale=STARS)
    assert law.below(0, 2) == law.below(1, 2) == 0 < law.below(1 + 1e-6, 2)
    assert law.below(5, 2) < 1 == law.below(5 + 1e-6, 2)
    assert law.density(1, 2) == law.density(5, 2) == 0 < law.density(1.001, 2)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("sensitivity", "abc", "sensitivity must be a decimal such as '1', got 'abc'"),
        ("sensitivity", "NaN", "got 'NaN'"),
        ("sensitivity", "-1", "got '-1'"),
        ("symbols", "7", "symbols must be an integer, got '7'"),
    ],
)
def test_other_values_of_settings_are_refused(setting, value, message):
    with pytest.raises(RequestError, match=message):
        compile_channel("laplace", epsilon="1", scale="1:5:1", **{setting: value})


def test_integers_of_named_channels_are_parsed():
    named = channel_of("laplace symbols=7", "1", RatingScale.parse("1:5:1"))
    assert named.id == compile_channel("laplace", epsilon="1", scale="1:5:1", symbols=7).id
