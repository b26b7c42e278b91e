"""Exact likelihood of a report given the latent preference theta, tabulated.

The true rating is the level whose cell contains theta + sigma * normal; cells are bounded by the
midpoints between levels. With P the channel's table,

    q(o | theta) = sum_r Pr(r | theta) P(o | r),   s = q' / q,   J = sum_o q'^2 / q.

Users differ in their residual scale, so there is one table per scale.

Model capacity from the Fisher information of the reports.

A report's information about theta, times sigma^2, is its effective sample size in clean ratings.
The total bounds how many unknowns the reports can identify. Only reports and the public table
enter, no true rating.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.kernels.gibbs_rows import Readings
from tacit.models.evidence.evidence import Evidence
from tacit.scale import RATING_SPREAD, SPREADS, RatingScale

GRID = 481
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """log q, score and Fisher information of every symbol on a grid of theta.

    `theta`: shape (GRID,). `log_q`: shape (spreads * symbols, GRID), all symbols under the first
    residual scale, then under the next. `table`: score, information and log q, float32, shape
    (spreads * symbols, GRID, 3). `sigma`: the usual residual deviation on the rating scale.
    """

    theta: Doubles
    log_q: Doubles
    table: NDArray[np.float32]
    sigma: float
    symbols: int

    @property
    def origin(self) -> np.float32:
        """Lowest theta of the grid."""
        return np.float32(self.theta[0])

    @property
    def pace(self) -> np.float32:
        """Step of the grid."""
        return np.float32(self.theta[1] - self.theta[0])

    def place(self, theta: NDArray[np.float32]) -> NDArray[np.int16]:
        """Return the index of the nearest grid point to each theta."""
        return np.clip(np.rint((theta - self.origin) / self.pace), 0, GRID - 1).astype(np.int16)

    @property
    def readings(self) -> Readings:
        """Arrays that a half-sweep reads."""
        root = np.sqrt(self.table[..., 1])
        steps = np.float32(1 / self.pace)
        return Readings(self.table[..., ::2].copy(), root, self.origin, steps, self.symbols)

    def of_level(self, counts: NDArray[np.int64], shift: float) -> tuple[float, float]:
        """Return total score and information with the thetas of all cells increased by `shift`.

        `counts`: cells by symbol and grid index, shape (spreads * symbols, GRID).
        """
        index = np.clip(np.arange(GRID) + shift / self.pace, 0, GRID - 1.001)
        low = index.astype(np.int64)
        on = (index - low)[:, None]
        read = (1 - on) * self.table[:, low, :2] + on * self.table[:, low + 1, :2]
        score, information = np.einsum("sg,sgk->k", counts, read)
        return float(score), float(information)


def level_masses(theta: Doubles, scale: RatingScale, sigma: float) -> tuple[Doubles, Doubles]:
    """Return Pr(level | theta) and its derivative, each of shape (len(theta), levels)."""
    levels = np.asarray(scale.values)
    cuts = np.concatenate([[-np.inf], (levels[1:] + levels[:-1]) / 2, [np.inf]])
    z = (cuts[None, :] - theta[:, None]) / sigma
    density = np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * sigma)
    return np.diff(ndtr(z), axis=1), -np.diff(density, axis=1)


def score_table(
    likelihood: Doubles, blocks: list[slice], scale: RatingScale, spreads: Sequence[float] = (1.0,)
) -> ScoreTable:
    """Tabulate the channels whose symbols are the column `blocks` of `likelihood` (levels first).

    `spreads`: as in `SPREADS`. The grid extends half a range beyond the scale on both sides: theta
    may lie there, ratings may not.
    """
    low, high = scale.values[0], scale.values[-1]
    reach, sigma = (high - low) / 2, RATING_SPREAD * (high - low)
    theta = np.linspace(low - reach, high + reach, GRID)
    tables = [_table(theta, likelihood, blocks, scale, sigma * spread) for spread in spreads]
    log_q, table = (np.concatenate(each) for each in zip(*tables, strict=True))
    return ScoreTable(theta, log_q, table, sigma, likelihood.shape[1])


def _table(
    theta: Doubles, likelihood: Doubles, blocks: list[slice], scale: RatingScale, sigma: float
) -> tuple[Doubles, NDArray[np.float32]]:
    """Return log q and the table of `ScoreTable` under one sigma."""
    mass, slope = level_masses(theta, scale, sigma)
    q, dq = np.maximum(mass @ likelihood, 1e-30), slope @ likelihood
    information = np.empty_like(q)
    for block in blocks:
        information[:, block] = (dq[:, block] ** 2 / q[:, block]).sum(1, keepdims=True)
    score = dq / q
    weight = np.maximum(information, _curvature(score, theta, scale.values[0], scale.values[-1]))
    table = np.stack([score.T, np.maximum(weight, 1e-9).T, np.log(q).T], axis=2)
    return np.log(q).T, np.ascontiguousarray(table, np.float32)


def _curvature(score: Doubles, theta: Doubles, low: float, high: float) -> Doubles:
    """Return -s' where theta is beyond the ends of the scale, 0 on it.

    Beyond the ends nearly every draw is the same symbol and J is almost 0, but the score of any
    other symbol is steep, so a step of s / J overshoots.
    """
    beyond = (theta < low) | (theta > high)
    return np.where(beyond[:, None], -np.gradient(score, theta, axis=0), 0.0)


FEWEST_FACTORS, MOST_FACTORS = 5, 31
MOST_FOR_DIRECTIONS = 9  # factors; maximizes the held-out likelihood on MovieLens
FEWEST_DIRECTIONS, MOST_DIRECTIONS = 4, 40
ROWS = 40
INFORMATIVE = 0.5  # information fraction
FEWEST_DRAWS, MOST_DRAWS = 4, 64
MEMORY = 64 << 20  # bytes for the item rows of all draws


def starting_level(scores: ScoreTable, data: Evidence) -> float:
    """Return the single theta that maximizes the likelihood of all reports together.

    A normal prior at the middle of the scale regularizes it where the reports are uninformative.
    """
    centre, range_ = np.mean(data.scale.values), data.scale.values[-1] - data.scale.values[0]
    prior = -0.5 * ((scores.theta - centre) * 4 / range_) ** 2
    return float(scores.theta[np.argmax(data.counts @ scores.log_q + prior)])


def worth(scores: ScoreTable, data: Evidence, level: float) -> float:
    """Return the effective sample size of all reports in clean ratings: sigma^2 sum of J(level)."""
    at = int(np.argmin(np.abs(scores.theta - level)))
    information = data.counts @ scores.table[:, at, 1].astype(np.float64)
    return float(information) * scores.sigma**2


def information_fraction(scores: ScoreTable, data: Evidence, level: float) -> float:
    """Return the fraction of a rating's information that its report carries at `level`, 0 to 1.

    Slots that a plan does not query carry none.
    """
    at, ratings = int(np.argmin(np.abs(scores.theta - level))), data.presence.of_people.sum()
    mass, slope = level_masses(scores.theta[at : at + 1], data.scale, scores.sigma)
    clean = float((slope**2 / np.maximum(mass, 1e-30)).sum()) * scores.sigma**2
    return float(min(worth(scores, data, level) / max(ratings * clean, 1e-9), 1.0))


def residual_scales(information_fraction: float) -> tuple[float, ...]:
    """Return the residual scales a user may have.

    Only the usual one where reports carry less than half of a rating's information: channel noise
    then dominates the residuals.
    """
    return SPREADS if information_fraction >= INFORMATIVE else (1.0,)


def worthwhile_factors(ratings: float, directions: int, data: Evidence) -> int:
    """Return K, the effective sample size per user and item, odd, from 5 to 31.

    A factor adds one unknown per user and per item, so it needs one clean rating for each. But
    preferences along P presence directions are a P x P table whose rank K bounds, and all rows
    inform its weights: at least P / 2 factors, up to 9, whatever the sample size.
    """
    share = ratings / (len(data.user_ids) + len(data.item_ids))
    fewest = max(FEWEST_FACTORS, min(directions // 2, MOST_FOR_DIRECTIONS))
    return int(min(max(share, fewest), MOST_FACTORS)) // 2 * 2 + 1


def worthwhile_directions(ratings: float, factors: int, data: Evidence) -> int:
    """Return the number of presence directions, 4 to 40: one clean rating per added weight.

    A direction has a weight into each of the 1 + K columns on both sides. The weights are estimated
    from the rows of their side, so each direction needs `ROWS` rows.
    """
    rows = min(len(data.user_ids), len(data.item_ids))
    share = min(ratings / (2 * (1 + factors)), rows / ROWS)
    return int(min(max(share, FEWEST_DIRECTIONS), MOST_DIRECTIONS))


def affordable_draws(width: int, data: Evidence) -> int:
    """Return how many draws of item rows (`width` float32 each) fit in `MEMORY`, from 4 to 64."""
    one = 4 * width * len(data.item_ids)
    return min(max(MEMORY // one, FEWEST_DRAWS), MOST_DRAWS)
