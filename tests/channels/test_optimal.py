"""The optimal table is optimal, exact, and honest about what its rank loses."""

from decimal import Decimal

import numpy as np
import pytest

from tacit import optimal_channel
from tacit.channels import compile_channel, threshold_mix
from tacit.channels.information import fisher_information
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.optimal_channel import Optimal
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)


def explained(channel: Channel, prior=(0.2,) * 5) -> float:
    """Share of the rating's variance that one report explains under a prior."""
    joint = np.array(channel.likelihood) * np.array(prior)[:, None]
    levels = np.array([float(level) for level in channel.levels])
    mean = levels @ joint.sum(1)
    posterior = levels @ joint / joint.sum(0)
    return float(joint.sum(0) @ (posterior - mean) ** 2 / (prior @ (levels - mean) ** 2))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "3", "4"])
def test_optimal_explains_most_variance(epsilon):
    best = explained(compile_channel("optimal", epsilon=epsilon, scale=STARS))
    for name in ("randomized-response", "duchi", "piecewise", "bounded-laplace", "clamped-laplace"):
        assert explained(compile_channel(name, epsilon=epsilon, scale=STARS)) <= best * (1 + 2e-4)


@pytest.mark.parametrize(("epsilon", "share"), [("1", 0.151), ("2", 0.411), ("4", 0.824)])
def test_variance_explained_under_a_star_prior(epsilon, share):
    channel = compile_channel("optimal", epsilon=epsilon, scale=STARS, prior=SHARES)
    assert explained(channel, SHARES) == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize("setting", [{"prior": SHARES}, {"thetas": (2.0, 4.0)}])
def test_a_setting_may_be_a_list(setting):
    listed = {name: list(values) for name, values in setting.items()}
    tables = [
        compile_channel("optimal", epsilon="1", scale=STARS, **each) for each in (setting, listed)
    ]
    assert tables[0] == tables[1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("objective", ["variance", "information"])
def test_random_private_tables_are_no_better(objective):
    chance, best = (
        np.random.default_rng(4),
        compile_channel("optimal", epsilon="1.5", scale=STARS, objective=objective),
    )
    for _ in range(300):
        columns = np.where(chance.random((5, 5)) < 0.5, np.exp(1.5), 1.0) * chance.random(5)
        # The last column makes the rows equal; enough of a constant in it keeps it private.
        rest = columns.sum(1).max() - columns.sum(1)
        rest += rest.max() / (np.exp(1.5) - 1) + 1e-9
        table = np.column_stack([columns, rest]) / (columns.sum(1) + rest)[:, None]
        channel = channel_of(table)
        assert channel.exact_epsilon < 1.5 + 1e-6
        if objective == "variance":
            assert explained(channel) <= explained(best) * (1 + 2e-4)
        else:
            assert fisher_information(channel) <= fisher_information(best) * (1 + 2e-4)


def channel_of(table) -> Channel:
    whole = [[int(share * (1 << 40)) for share in row] for row in table]
    rows = [(*row[:-1], (1 << 40) - sum(row[:-1])) for row in whole]
    outputs = tuple(map(Decimal, range(len(rows[0]))))
    return Channel(STARS.levels, outputs, tuple(rows), "1.5", word_bits=40)


def test_small_epsilon_asks_one_question():
    for objective in ("variance", "information"):
        channel = compile_channel("optimal", epsilon="0.1", scale=STARS, objective=objective)
        assert [row[1] > row[0] for row in channel.weights] == [False] * 3 + [True] * 2


def test_large_epsilon_is_randomized_response():
    optimal = compile_channel("optimal", epsilon="4", scale=STARS)
    plain = compile_channel("randomized-response", epsilon="4", scale=STARS)
    for row, other in zip(optimal.weights, plain.weights, strict=True):
        assert row == pytest.approx(other, abs=64)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scale", ["0.5:5:0.5", "1:12:1", "-10:10:0.5", "0:1:1"])
@pytest.mark.parametrize("epsilon", ["0.2", "2", "6"])
def test_other_scales_have_at_most_as_many_symbols_as_levels(scale, epsilon):
    parsed = RatingScale.parse(scale)
    channel = compile_channel("optimal", epsilon=epsilon, scale=parsed)
    assert 2 <= len(channel.outputs) <= parsed.n_levels
    assert list(channel.outputs) == sorted(channel.outputs)


def test_mixed_thresholds_restore_the_rank():
    lone = np.array(compile_channel("optimal", epsilon="0.5", scale=STARS).likelihood)
    mixed = [
        np.array(c.likelihood) for c in threshold_mix(epsilon="0.5", scale=STARS, thresholds=4)
    ]
    assert np.linalg.matrix_rank(lone) == 2
    assert np.linalg.matrix_rank(np.hstack(mixed)) == 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objective": "fame"}, "objective must be variance or information, got 'fame'"),
        ({"prior": (1.0, 2.0)}, "must have 5 positive weights"),
        ({"prior": (1.0, 2.0, 3.0, 4.0, 0.0)}, "must have 5 positive weights"),
        ({"density": 0.0}, "the share of rated slots, must be between 0 and 1, got 0.0"),
        ({"density": 1.0}, "the share of rated slots, must be between 0 and 1, got 1.0"),
        ({"scale": RatingScale.parse("0:256:1")}, "257 levels, more than 256"),
    ],
)
def test_impossible_settings_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        Optimal(**{"epsilon": "1", "scale": STARS, **options})


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("epsilon", ["0.0000001", "0.000000001"])
def test_an_epsilon_too_small_for_the_solver_is_named_with_the_remedy(epsilon, missing):
    with pytest.raises(RequestError) as fault:
        compile_channel("optimal", epsilon=epsilon, scale=STARS, missing=missing)
    assert str(fault.value).startswith("No optimal table can be computed in floating point")
    least, other = str(fault.value).partition(". Use epsilon ")[2].split(" or more, or ")
    compile_channel("optimal", epsilon=least, scale=STARS, missing=missing)
    compile_channel(other.rstrip("."), epsilon=epsilon, scale=STARS, missing=missing)


def test_public_thetas_are_those_it_serves():
    settings = {"epsilon": "2", "scale": STARS, "objective": "information"}
    usual, chosen = Optimal(**settings).table(), Optimal(**settings, thetas=(1.2,)).table()
    assert fisher_information(chosen, (1.2,)) > 1.01 * fisher_information(usual, (1.2,))


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
@pytest.mark.parametrize("prior", [(0.96, 0.01, 0.01, 0.01, 0.01), (0.1, 0.5, 0.05, 0.3, 0.05)])
def test_symbols_stand_for_means_from_low_to_high(epsilon, prior):
    channel = Optimal(epsilon=epsilon, scale=STARS, prior=prior).table()
    joint = np.array(prior)[:, None] * np.array(channel.likelihood)
    means = np.array(STARS.values) @ joint / joint.sum(0)
    assert [float(y) for y in channel.outputs] == pytest.approx(means, abs=1e-6)
    assert list(channel.outputs) == sorted(channel.outputs)


def test_a_failure_that_is_not_of_a_small_epsilon_keeps_its_own_sentence(monkeypatch):
    def solve(columns):
        raise RequestError("The rows do not sum.")

    monkeypatch.setattr(optimal_channel, "solve", solve)
    with pytest.raises(RequestError, match="do not sum"):
        Optimal(epsilon="1.0625", scale=STARS).table()
