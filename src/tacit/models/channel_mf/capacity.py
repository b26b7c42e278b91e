"""Model capacity from the Fisher information of the reports.

A report's information about theta, times sigma^2, is its effective sample size in clean ratings.
The total bounds how many unknowns the reports can identify. Only reports and the public table
enter, no true rating.
"""

import numpy as np

from tacit.models.channel_mf.likelihood import ScoreTable, level_masses
from tacit.models.evidence.evidence import Evidence
from tacit.public_priors import SPREADS

FEWEST_FACTORS, MOST_FACTORS = 5, 31
MOST_FOR_DIRECTIONS = 9  # factors; maximizes the held-out likelihood on MovieLens
FEWEST_DIRECTIONS, MOST_DIRECTIONS = 4, 40
ROWS = 40
MOSTLY = 0.5  # information fraction
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


def told(scores: ScoreTable, data: Evidence, level: float) -> float:
    """Return the fraction of a rating's information that its report carries at `level`, 0 to 1.

    Slots that a plan does not query carry none.
    """
    at, ratings = int(np.argmin(np.abs(scores.theta - level))), data.presence.of_people.sum()
    mass, slope = level_masses(scores.theta[at : at + 1], data.scale, scores.sigma)
    clean = float((slope**2 / np.maximum(mass, 1e-30)).sum()) * scores.sigma**2
    return float(min(worth(scores, data, level) / max(ratings * clean, 1e-9), 1.0))


def worthwhile_spreads(told: float) -> tuple[float, ...]:
    """Return the residual scales a user may have.

    Only the usual one where reports carry less than half of a rating's information: channel noise
    then dominates the residuals.
    """
    return SPREADS if told >= MOSTLY else (1.0,)


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
