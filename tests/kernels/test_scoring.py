"""The sampler's half-sweep against exact conditionals."""

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.kernels.layout import layout
from tacit.kernels.scoring import ANYHOW, Conditional, half_sweep
from tacit.models.channel_mf.likelihood import ScoreTable, score_table
from tacit.scale import RatingScale

SCALE = RatingScale.parse("1:5:1")


def test_on_a_parabola_the_step_lands_on_the_ridge_solution() -> None:
    # Score w (z - theta) with information w is a Gaussian likelihood: then the step is exact.
    rng, w, z = np.random.default_rng(0), 0.7, 1.3
    grid = np.linspace(-8, 8, 481, dtype=np.float32)
    curve = np.stack([w * (z - grid), np.full_like(grid, w), -w * (z - grid) ** 2 / 2], axis=1)
    table = curve[None].astype(np.float32)
    users = np.repeat(np.arange(6), 10).astype(np.int32)
    items = np.tile(np.arange(10), 6).astype(np.int32)
    grouped = layout(users, items, 6, 10)
    design = rng.normal(size=(10, 4)).astype(np.float32)
    rows = rng.normal(size=(6, 4)).astype(np.float32)
    theta = np.einsum("ij,ij->i", rows[users], design[items]).astype(np.float32)
    precision = np.array([1, 2, 3, 4], np.float32)
    prior = rng.normal(size=(6, 4)).astype(np.float32)
    given = Conditional(
        np.zeros(60, np.int32), table, grid[0], grid[1] - grid[0],
        design, prior, precision, theta,
        np.zeros((6, 4), np.float32), np.full(6, -0.01, np.float32),
    )  # fmt: skip
    half_sweep(grouped.users, given, rows, theta)
    H = w * design.T @ design + np.diag(precision)
    expected = np.linalg.solve(H, w * z * design.sum(0)[:, None] + (precision * prior).T).T
    assert np.allclose(rows, expected, atol=1e-4)
    assert np.allclose(theta, np.einsum("ij,ij->i", rows[users], design[items]), atol=1e-4)


PEOPLE, CHAINS, N = 30, 300, 40


def posterior(base: np.ndarray, symbols: np.ndarray, scores: ScoreTable) -> tuple[float, float]:
    """Mean and deviation of a bias b ~ N(0, 1/2) given theta = base + b, by quadrature."""
    b = np.linspace(-4, 4, 801)
    log = -(b**2)
    for t, o in zip(base, symbols, strict=True):
        log += np.interp(t + b, scores.theta, scores.log_q[o])
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    mean = float(mass @ b)
    return mean, float(np.sqrt(mass @ (b - mean) ** 2))


OFF = 0.05  # by how many posterior deviations a chain's means may be off
NARROW = 0.03  # by what share their spread may be
CASES = [("optimal", "0.5"), ("optimal", "1"), ("randomized-response", "3"), (None, None)]
PLANTS = [
    *[(*case, "sound") for case in CASES],
    *[(*case, "likelihood-doubled") for case in CASES],
    # Where little is told the information is far from constant, and proposals are no draws.
    *[(*case, "accepts-whatever-is-proposed") for case in CASES[:2]],
]


@pytest.mark.parametrize(("name", "epsilon", "planted"), PLANTS)
def test_the_chain_visits_the_exact_posterior(name: str | None, epsilon: str, planted: str) -> None:
    """Biases given everything else, reports drawn from the model itself, against quadrature."""
    table = np.eye(5)
    if name is not None:
        table = np.array(compile_channel(name, epsilon=epsilon, scale=SCALE).likelihood)
    scores = score_table(table, [slice(0, table.shape[1])], SCALE)
    wrong = scores.table * np.array([1, 1, 1 + (planted == "likelihood-doubled")], np.float32)
    rng = np.random.default_rng(5)
    base = rng.normal(3.4, 0.5, (PEOPLE, N)).astype(np.float32)
    theta = (
        base + rng.normal(0, np.sqrt(0.5), (PEOPLE, 1)) + rng.normal(0, scores.sigma, base.shape)
    )
    levels = np.clip(np.rint(theta), 1, 5).astype(int) - 1
    symbols = (rng.random((*levels.shape, 1)) > table.cumsum(1)[levels]).sum(2).astype(np.int32)
    exact = np.array([posterior(*person, scores) for person in zip(base, symbols, strict=True)])

    rows = np.zeros((PEOPLE * CHAINS, 2), np.float32)
    cells = layout(
        np.repeat(np.arange(len(rows)), N).astype(np.int32),
        np.tile(np.arange(N), len(rows)).astype(np.int32), len(rows), N,
    )  # fmt: skip
    design = np.zeros((N, 2), np.float32)
    design[:, 0] = 1
    now = np.repeat(base, CHAINS, axis=0).ravel()
    centre = now.copy()
    for sweep in range(30):
        bar = -rng.standard_exponential(len(rows), np.float32)
        if sweep < 10 or planted == "accepts-whatever-is-proposed":
            bar[:], centre = ANYHOW, now.copy()
        given = Conditional(
            np.repeat(symbols, CHAINS, axis=0).ravel(), wrong, scores.origin, scores.pace,
            design, np.zeros_like(rows), np.array([2, 1], np.float32), centre,
            rng.standard_normal(rows.shape, np.float32), bar,
        )  # fmt: skip
        half_sweep(cells.users, given, rows, now)
    drawn = rows[:, 0].reshape(PEOPLE, CHAINS)
    z = (drawn.mean(1) - exact[:, 0]) / exact[:, 1]
    near = np.sqrt(np.mean(z**2)) < np.hypot(OFF, 1.3 / np.sqrt(CHAINS))
    spread = abs(np.mean(drawn.std(1) / exact[:, 1]) - 1) < NARROW
    assert (near and spread) == (planted == "sound")
