"""What reports say of a column of weights, against theta written out for every cell."""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.kernels.gibbs_rows import BEFORE_LAST, GRAIN, Readings, ReportRows
from tacit.kernels.gibbs_scales import MovedRows, WeightSums, weight_sums
from tacit.models.channel_mf.likelihood import score_table
from tacit.scale import SPREADS, RatingScale

SCALE = RatingScale.parse("1:5:1")
ROWS, COLUMNS, EACH, WIDTH, FEATURES = 50, 30, 12, 3, 4


def world() -> tuple[ReportRows, Readings, MovedRows]:
    """Reports of rows with features, by chance, some with places of their own."""
    rng = np.random.default_rng(4)
    columns = np.array([rng.choice(COLUMNS, EACH, replace=False) for _ in range(ROWS)]).ravel()
    channel = compile_channel("randomized-response", epsilon="2", scale=SCALE)
    scores = score_table(np.array(channel.likelihood), [slice(0, 5)], SCALE, SPREADS)
    told = ReportRows(
        EACH * np.arange(ROWS + 1),
        columns.astype(np.int32),
        rng.integers(0, 5, len(columns)).astype(np.uint16),
        np.where(rng.random(len(columns)) < 0.5, -1, rng.integers(100, 300, len(columns))).astype(
            np.int16
        ),
    )
    moved = MovedRows(
        1, rng.normal(0, 0.3, FEATURES).astype(np.float32), np.float32(3.2),
        rng.normal(0, 0.4, (ROWS, WIDTH)).astype(np.float32),
        rng.integers(0, 3, ROWS).astype(np.uint8),
        rng.normal(size=(ROWS, FEATURES)).astype(np.float32),
        rng.normal(0, 0.5, (COLUMNS, WIDTH)).astype(np.float32), np.zeros(COLUMNS, np.uint8),
    )  # fmt: skip
    return told, scores.readings, moved


def written_out(told: ReportRows, readings: Readings, moved: MovedRows) -> tuple[np.ndarray, ...]:
    """The three sums from every cell's theta."""
    r = np.repeat(np.arange(ROWS), EACH)
    x, y, f = moved.rows[r].astype(float), moved.design[told.other].astype(float), moved.features[r]
    x[:, moved.column] += f @ moved.move
    theta = moved.mu + x[:, 0] + y[:, 0] + (x[:, 1:] * y[:, 1:]).sum(1)
    place = (theta - readings.origin) * readings.steps
    place = np.clip(place, 0, readings.root.shape[1] - BEFORE_LAST)
    low = place.astype(int)
    symbol = told.symbol.astype(int) + readings.symbols * moved.spreads[r].astype(int)
    here, next_ = readings.table[symbol, low], readings.table[symbol, low + 1]
    slope, log = (here + (place - low)[:, None] * (next_ - here)).T
    at = np.where(told.centre < 0, np.rint(place).astype(int), told.centre)
    J = readings.root[symbol, at] ** 2
    by = y[:, moved.column] if moved.column else np.ones(len(r))
    information = (f * (J * by**2)[:, None]).T @ f
    return log.sum(), f.T @ (slope * by), information


@pytest.mark.parametrize("column", [0, 2])
def test_sums_are_those_of_all_cells(column: int) -> None:
    told, readings, moved = world()
    moved = moved._replace(column=column)
    log, score, information = written_out(told, readings, moved)
    found = weight_sums(told, readings, moved, informed=True)
    assert found.likelihood[0] / GRAIN == pytest.approx(log, abs=2e-3)
    assert np.allclose(found.score / GRAIN, score, atol=2e-3)
    assert np.allclose(found.information / GRAIN, np.tril(information), atol=5e-2)
    assert not weight_sums(told, readings, moved, informed=False).information.any()


@pytest.mark.parametrize("column", [0, 1])
def test_the_score_is_the_slope_of_the_likelihood(column: int) -> None:
    told, readings, moved = world()
    moved = moved._replace(column=column)

    def at(move: np.ndarray) -> WeightSums:
        return weight_sums(
            told, readings, moved._replace(move=move.astype(np.float32)), informed=False
        )

    score = at(moved.move).score / GRAIN
    for j, step in enumerate(0.02 * np.eye(FEATURES)):
        up, down = (at(moved.move + sign * step).likelihood[0] / GRAIN for sign in (1, -1))
        assert (up - down) / 0.04 == pytest.approx(score[j], abs=0.03 * np.abs(score).max())
