"""How people spread around their tastes, against the conditional written out."""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.kernels.gibbs_rows import ReportRows
from tacit.kernels.gibbs_scales import Thetas, drawn_spreads
from tacit.models.channel_mf.likelihood import score_table
from tacit.models.channel_mf.side import gumbels
from tacit.scale import SPREADS, RatingScale

SCALE = RatingScale.parse("1:5:1")
PEOPLE, EACH, DRAWS = 40, 12, 5000


def world() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns, which of them everybody has, and what they reported, all by chance."""
    rng = np.random.default_rng(2)
    rows = rng.normal(0, 0.4, (PEOPLE, 3)).astype(np.float32)
    design = rng.normal(0, 0.8, (60, 3)).astype(np.float32)
    columns = np.array([rng.choice(60, EACH, replace=False) for _ in rows])
    return rows, design, columns, rng.integers(0, 5, columns.shape)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("planted", ["sound", "reports-forgotten", "always-the-likeliest"])
def test_spreads_are_drawn_in_proportion_to_the_likelihood_of_the_reports(planted: str) -> None:
    channel = compile_channel("randomized-response", epsilon="4", scale=SCALE)
    scores = score_table(np.array(channel.likelihood), [slice(0, 5)], SCALE, SPREADS)
    rows, design, columns, symbols = world()
    theta = 3.3 + rows[:, :1] + design[columns, 0]
    theta += np.einsum("rk,rck->rc", rows[:, 1:], design[columns, 1:])
    log = np.zeros((PEOPLE, 3))
    for g in range(3):
        under = scores.log_q[5 * g : 5 * g + 5]
        each = [np.interp(theta, scores.theta, of_symbol) for of_symbol in under]
        log[:, g] = np.choose(symbols, each).sum(1)
    expected = np.exp(log - log.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)

    told = ReportRows(
        EACH * np.arange(PEOPLE * DRAWS + 1),
        np.repeat(columns, DRAWS, 0).ravel().astype(np.int32),
        np.repeat(symbols, DRAWS, 0).ravel().astype(np.uint16),
        np.full(PEOPLE * DRAWS * EACH, -1, np.int16),
    )
    thetas = Thetas(np.float32(3.3), np.repeat(rows, DRAWS, 0), design)
    chance = gumbels((3, 1, 5), 0, PEOPLE * DRAWS, 3)
    if planted == "reports-forgotten":
        thetas.rows[:, 0] = -9
    if planted == "always-the-likeliest":
        chance[:] = 0
    drawn = drawn_spreads(told, scores.readings, thetas, chance).reshape(PEOPLE, DRAWS)
    shares = np.stack([(drawn == g).mean(1) for g in range(3)], axis=1)
    deviation = np.sqrt(np.maximum(expected * (1 - expected), 1e-4) / DRAWS)
    # Of 120 shares the largest is within four deviations in all but one run of a hundred.
    assert (np.abs(shares - expected) < 4.5 * deviation).all() == (planted == "sound")
    # The largest deviation is .007, and the range over forty worlds .12 to .64.
    assert np.ptp(expected[:, 0]) > 0.06
