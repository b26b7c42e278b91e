"""What each mechanism promises beside epsilon: its moments, its settings, its name."""

import math
import subprocess
import sys
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from tacit.channels import MECHANISMS, choose_channel, compile_channel, settings_of, threshold_mix
from tacit.channels.certificate import certify
from tacit.channels.compiler import public_numbers
from tacit.channels.information import fisher_information, level_intervals, public_thetas
from tacit.channels.thresholds import Threshold, hash_id, pair_key, which
from tacit.errors import RequestError
from tacit.scale import RatingScale
from tacit.testing import CHANNEL_CLAIMS

STARS = RatingScale.parse("1:5:1")
TENS = RatingScale.parse("1:10:1")
SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)


def test_tables_are_complete(member):
    channel = member("1")
    assert len(set(channel.outputs)) == len(channel.outputs)
    assert channel.levels == STARS.levels
    assert channel.epsilon == "1"
    assert channel.word_bits == 64
    assert channel.exact_epsilon == pytest.approx(1, abs=1e-12)
    assert channel.information() > 0
    assert member("1").id == channel.id


def test_a_scale_may_be_written():
    """As whoever reads or makes ratings writes it; one that cannot be is refused in a sentence."""
    for name in ("randomized-response", "optimal"):
        written = compile_channel(name, epsilon="1", scale="1:10:1")
        assert written == compile_channel(name, epsilon="1", scale=TENS)
    assert choose_channel(epsilon="1", scale="1:5:1") == choose_channel(epsilon="1", scale=STARS)
    with pytest.raises(RequestError, match="5:1:1"):
        compile_channel("randomized-response", epsilon="1", scale="5:1:1")


def test_information_is_that_of_the_joint_law(member):
    rows = np.array(member("1").likelihood)
    prior = np.arange(1, len(rows) + 1) / (len(rows) * (len(rows) + 1) / 2)
    joint = prior[:, None] * rows
    apart = joint.sum(1, keepdims=True) * joint.sum(0)
    expected = np.sum(joint * np.log(joint / apart, where=joint > 0, out=np.zeros_like(joint)))
    even, known = [1 / len(rows)] * len(rows), [1.0] + [0.0] * (len(rows) - 1)
    assert member("1").information(prior) == pytest.approx(expected, abs=1e-12)
    assert member("1").information() == pytest.approx(member("1").information(even), abs=1e-12)
    assert member("1").information(known) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="zip"):
        member("1").information([0.5, 0.5])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("claim", CHANNEL_CLAIMS, ids=lambda claim: claim.__name__)
def test_every_claim_about_a_channel_holds(member, claim):
    claim(member)


@pytest.mark.parametrize("claim", CHANNEL_CLAIMS, ids=lambda claim: claim.__name__)
def test_every_claim_holds_where_presence_is_all_there_is(one_level_member, claim):
    claim(one_level_member)


@pytest.mark.parametrize("name", ["laplace", "duchi", "piecewise"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("scale", [STARS, TENS])
def test_unbiased_members_are_unbiased(name, epsilon, scale):
    channel = compile_channel(name, epsilon=epsilon, scale=scale)
    assert max(abs(channel.bias(row)) for row in range(scale.n_levels)) < 3e-6


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_variances_of_duchi_and_piecewise(epsilon):
    root, odds = math.exp(epsilon / 2), math.exp(epsilon)
    duchi = compile_channel("duchi", epsilon=str(epsilon), scale=STARS)
    piecewise = compile_channel("piecewise", epsilon=str(epsilon), scale=STARS)
    for row, rating in enumerate(STARS.values):
        x = (rating - 3) / 2
        two_points = ((odds + 1) / (odds - 1)) ** 2 - x**2
        assert float(duchi.variance(row)) / 4 == pytest.approx(two_points, rel=1e-5)
        plateau = x**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
        # Each cell gives its middle, which takes off the variance within a cell.
        assert 0.75 * plateau < float(piecewise.variance(row)) / 4 <= plateau


@pytest.mark.parametrize(
    ("name", "epsilon", "ratio"),
    [
        ("bounded-laplace", "1", 0.026),
        ("clamped-laplace", "1", 0.050),
        ("laplace", "1", 0.031),
        ("duchi", "1", 0.058),
        ("randomized-response", "1", 0.037),
        ("bounded-laplace", "3", 0.248),
        ("clamped-laplace", "3", 0.365),
        ("duchi", "3", 0.300),
        ("randomized-response", "3", 0.937),
    ],
)
def test_signal_to_noise(name, epsilon, ratio):
    channel = compile_channel(name, epsilon=epsilon, scale=STARS)
    means = [float(channel.mean(row)) for row in range(5)]
    centre = sum(p * rating for p, rating in zip(SHARES, STARS.values, strict=True))
    spread = sum(p * (rating - centre) ** 2 for p, rating in zip(SHARES, STARS.values, strict=True))
    pairs = zip(SHARES, STARS.values, means, strict=True)
    slope = sum(p * (rating - centre) * mean for p, rating, mean in pairs) / spread
    noise = sum(p * float(channel.variance(row)) for row, p in enumerate(SHARES))
    assert slope**2 / noise == pytest.approx(ratio, rel=0.03)


def test_missing_is_one_more_answer():
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True)
    assert len(channel.weights) == len(channel.outputs) == 6
    assert channel.outputs[0] is None
    assert channel.missing
    assert channel.id != compile_channel("randomized-response", epsilon="1", scale=STARS).id


def test_unknown_requests_are_sentences():
    with pytest.raises(RequestError, match=r"identity adds no noise, .* choose one of rand"):
        compile_channel("identity", epsilon="1", scale=STARS)
    with pytest.raises(RequestError, match="channel must be one of rand"):
        compile_channel("best", epsilon="1", scale=STARS)
    with pytest.raises(RequestError, match="duchi has no setting missing"):
        compile_channel("duchi", epsilon="1", scale=STARS, missing=True)
    with pytest.raises(RequestError, match="has no setting bins, symbols; leave"):
        compile_channel("optimal", epsilon="1", scale=STARS, symbols=8, bins=3)


@pytest.mark.parametrize("epsilon", ["0", "-1", "1e3", "nan", "16.1", "", "½", "0." + "1" * 19])
def test_epsilon_is_a_decimal_string_in_range(epsilon):
    with pytest.raises(RequestError, match="Epsilon"):
        compile_channel("duchi", epsilon=epsilon, scale=STARS)


def test_words_have_1_to_64_bits(member):
    for word_bits in (0, 65):
        with pytest.raises(RequestError, match="word_bits must be from 1 to 64"):
            member("1", word_bits=word_bits)
    if len(member("0.001").outputs) > 2:
        with pytest.raises(RequestError):
            member("0.001", word_bits=1)


def test_the_ends_of_what_may_be_asked_are_included():
    widest = {"scale": RatingScale.parse("0:255:1"), "epsilon": "16", "word_bits": 1}
    assert settings_of("randomized-response")(**widest).claim == "16"


@pytest.mark.parametrize(("missing", "word_bits"), [(False, 64), (True, 64), (False, 3)])
def test_randomized_response_at_epsilon_0_is_the_uniform_law(missing, word_bits):
    """Every row the same, and as even as whole weights are; nobody else has such a table."""
    channel = compile_channel(
        "randomized-response", epsilon="0", scale=STARS, missing=missing, word_bits=word_bits
    )
    (row,) = set(channel.weights)
    assert sum(row) == 2**word_bits
    assert max(row) - min(row) <= 1
    assert channel.epsilon == "0"
    certify(channel)
    with pytest.raises(RequestError, match="must be above 0 and at most 16"):
        compile_channel("optimal", epsilon="0", scale=STARS)


def test_answers_need_a_word_that_holds_them():
    four, five = RatingScale.parse("1:4:1"), STARS
    even = compile_channel("randomized-response", epsilon="0.1", scale=four, word_bits=2)
    assert even.weights == ((1, 1, 1, 1),) * 4
    with pytest.raises(RequestError, match="2 bits is too short for 5 outputs"):
        compile_channel("randomized-response", epsilon="0.1", scale=five, word_bits=2)


def test_symbols_never_share_a_number():
    third = Decimal(1) / 3
    assert public_numbers([third, third, Decimal(4)]) == (
        Decimal("0.333333"),
        Decimal("0.333334"),
        Decimal(4),
    )
    small = public_numbers([Decimal(0), Decimal("0.00000123456789")])
    assert small == (0, Decimal("0.00000123456789").quantize(Decimal("1e-12")))


def test_a_table_too_large_is_refused(member):
    with pytest.raises(RequestError, match="use a larger step"):
        member("1", RatingScale.parse("0:100:0.01"))


def test_every_name_has_settings():
    for name in MECHANISMS:
        assert settings_of(name).__name__.lower() == name.replace("-", "")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("scale", "epsilon"),
    [
        *product([STARS], ["0.1", "0.5", "1", "2", "3", "8"]),
        *product([TENS], ["0.1", "1", "8"]),
        (RatingScale.parse("-10:10:0.5"), "2"),
    ],
)
def test_choose_tells_at_least_as_much_as_any(epsilon, scale):
    name, channel = choose_channel(epsilon=epsilon, scale=scale)
    assert name in MECHANISMS
    each = [*((n, {}) for n in MECHANISMS), ("optimal", {"objective": "information"})]
    told = [
        fisher_information(compile_channel(n, epsilon=epsilon, scale=scale, **options))
        for n, options in each
    ]
    assert fisher_information(channel) >= max(told) * (1 - 1e-5)


def test_level_cells_are_a_distribution_and_its_slope():
    for theta in public_thetas(STARS.values):
        shares, slopes = level_intervals(theta, STARS.values)
        ahead, _ = level_intervals(theta + 1e-6, STARS.values)
        assert sum(shares) == pytest.approx(1)
        assert slopes == pytest.approx(
            [(b - a) / 1e-6 for a, b in zip(shares, ahead, strict=True)], abs=1e-5
        )


def test_the_public_model_is_a_normal_of_a_fixed_share_of_the_range():
    thetas = public_thetas([2.0, 4.0, 6.0, 8.0, 10.0])
    assert (len(thetas), thetas[0], thetas[-1]) == (33, 2 + 0.4 * 8, pytest.approx(2 + 0.8 * 8))
    assert np.diff(thetas) == pytest.approx(0.4 * 8 / 32)
    shares, _ = level_intervals(3.0, STARS.values)
    assert shares[2] == pytest.approx(math.erf(0.5 / (0.85 * math.sqrt(2))), rel=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_information_about_theta_is_that_of_its_definition(missing):
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS, missing=missing)
    table, rated = np.array(channel.likelihood), 0.3 if missing else 1.0
    inputs, told, step = table[missing:], [], 1e-5
    for theta in (2.5, 3.0, 4.2):
        low, at, high = (
            rated * np.array(level_intervals(theta + move, STARS.values)[0]) @ inputs
            + (1 - rated) * table[0]
            for move in (-step, 0, step)
        )
        told.append((((high - low) / (2 * step)) ** 2 / at).sum())
    found = fisher_information(channel, (2.5, 3.0, 4.2), density=0.3)
    assert found == pytest.approx(np.mean(told), rel=1e-6)


def test_threshold_mix_spreads_cuts_evenly():
    low, high = threshold_mix(epsilon="1", scale=STARS)
    assert [row[1] > row[0] for row in low.weights] == [False, False, True, True, True]
    assert [row[1] > row[0] for row in high.weights] == [False, False, False, True, True]
    assert len(threshold_mix(epsilon="1", scale=TENS, thresholds=9)) == 9
    (short,) = threshold_mix(epsilon="1", scale=STARS, thresholds=1, word_bits=16)
    assert short.word_bits == 16
    for thresholds in (0, 5):
        with pytest.raises(
            RequestError, match=f"thresholds must be from 1 to 4 .*, got {thresholds}"
        ):
            threshold_mix(epsilon="1", scale=STARS, thresholds=thresholds)
    for cut in (0, 5):
        with pytest.raises(RequestError, match="cut must be from 1 to 4"):
            Threshold(epsilon="1", scale=STARS, cut=cut)


def test_a_threshold_is_told_truly_with_the_odds_of_its_epsilon():
    channel = Threshold(epsilon="1", scale=STARS, cut=3).table()
    truly = math.e / (1 + math.e)
    for number, row in enumerate(channel.likelihood):
        assert row[number >= 3] == pytest.approx(truly, rel=1e-12)
    means = [
        sum((truly if (k < 3) == low else 1 - truly) * (k + 1) for k in range(5)) / weight
        for low, weight in ((True, 2 + truly), (False, 3 - truly))
    ]
    assert [float(y) for y in channel.outputs] == pytest.approx(means, abs=1e-6)


def test_the_public_hash_is_fixed_even_and_needs_both_ids():
    assert [which("ann", item, 2) for item in range(8)] == [
        which("ann", str(k), 2) for k in range(8)
    ]
    assert hash_id("ann") == 0x2E404B7D0D5E9149  # fixed: page and device draw the same cuts
    assert pair_key(hash_id("ann"), hash_id(242)) == 0x8DDF3EF62289CEC8
    assert pair_key(hash_id(7), hash_id(8)) == 0xF05AE3700E88CFDB
    assert pair_key((1 << 64) - 1, 1 << 62) == 0xC05AC1F580000000
    cells = [(person, item) for person in range(100) for item in range(100)]
    chosen = [which(person, item, 3) for person, item in cells]
    for k in range(3):
        assert abs(chosen.count(k) - 3333) < 5 * 47
    by_item = [sum(which(person, item, 2) for person in range(400)) for item in range(20)]
    by_person = [sum(which(person, item, 2) for item in range(400)) for person in range(20)]
    assert all(abs(count - 200) < 60 for count in (*by_item, *by_person))


LOADED = """
import sys, tacit.device, tacit.channels, tacit.wire.channel, tacit.channels.table
from tacit.scale import RatingScale
for name in tacit.channels.MECHANISMS:
    if name != "optimal":
        tacit.channels.compile_channel(name, epsilon="1", scale=RatingScale.parse("1:5:1"))
heavy = {name.split(".")[0] for name in sys.modules} & {
    "numpy", "scipy", "numba", "polars", "matplotlib", "typer", "cryptography", "pyarrow"
}
print(sorted(heavy))
"""


def test_a_device_loads_the_standard_library_alone():
    command = [sys.executable, "-c", LOADED]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_room_gives_what_it_names_and_nothing_else():
    """Members are loaded when they are asked for, and a slip of the pen is an `AttributeError`."""
    from tacit import channels

    for name in ("Channel", "certify", "fisher_information", "threshold_mix"):
        assert getattr(channels, name).__name__ == name
    with pytest.raises(AttributeError, match=r"^module 'tacit.channels' has no attribute 'Lap'$"):
        _ = channels.Lap


@pytest.mark.parametrize("epsilon", ["1000", "99999999999999999999", "16.5", "0", "0000"])
def test_an_epsilon_out_of_range_gets_the_range(epsilon):
    with pytest.raises(
        RequestError, match=f"above 0 and at most 16, got {epsilon}; for no privacy"
    ):
        compile_channel("duchi", epsilon=epsilon, scale=STARS)


@pytest.mark.parametrize("epsilon", [".5", "1e-3", "+1", "0001", "1.", "٣"])
def test_an_epsilon_written_otherwise_gets_the_form(epsilon):
    with pytest.raises(RequestError, match=r"must be a decimal string such as '0\.5', got"):
        compile_channel("duchi", epsilon=epsilon, scale=STARS)
