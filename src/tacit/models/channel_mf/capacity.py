"""How much a model may ask of its reports: counted in units of Fisher information.

A report's information about theta times sigma^2 says how many clean ratings it is worth. What all
reports are worth together bounds how many unknowns they can settle; the reports and the public
table decide, no true rating does.
"""

import numpy as np

from tacit.models.channel_mf.likelihood import ScoreTable
from tacit.models.evidence.evidence import Evidence

FEWEST_FACTORS, MOST_FACTORS = 5, 15
FEWEST_DIRECTIONS, MOST_DIRECTIONS = 4, 20
FEWEST_DRAWS, MOST_DRAWS = 4, 32
DOWNLOAD = 32 << 20  # bytes of item rows a device is asked to fetch


def starting_level(scores: ScoreTable, data: Evidence) -> float:
    """The single theta under which the reports, all taken together, are likeliest.

    A normal prior at the middle of the scale keeps it there while the reports say nothing.
    """
    counts = np.bincount(data.symbols, minlength=len(scores.log_q))
    centre, range_ = np.mean(data.scale.values), data.scale.values[-1] - data.scale.values[0]
    prior = -0.5 * ((scores.theta - centre) * 4 / range_) ** 2
    return float(scores.theta[np.argmax(counts @ scores.log_q + prior)])


def worth(scores: ScoreTable, data: Evidence, level: float) -> float:
    """Clean ratings that all reports together are worth: sigma^2 times the sum of J(level)."""
    at = int(np.argmin(np.abs(scores.theta - level)))
    information = scores.table[data.symbols, at, 1].sum(dtype=np.float64)
    return float(information) * scores.sigma**2


def worthwhile_factors(ratings: float, data: Evidence) -> int:
    """K = what the reports are worth for each person and item, odd, from 5 to 15.

    A factor is one unknown a person and one an item: worth having for one clean rating each.
    """
    share = ratings / (len(data.user_ids) + len(data.item_ids))
    return int(min(max(share, FEWEST_FACTORS), MOST_FACTORS)) // 2 * 2 + 1


def worthwhile_directions(ratings: float, factors: int) -> int:
    """Presence directions: one for each clean rating per weight it adds, from 4 to 20.

    A direction has a weight into each of the 1 + K columns, on both sides.
    """
    share = ratings / (2 * (1 + factors))
    return int(min(max(share, FEWEST_DIRECTIONS), MOST_DIRECTIONS))


def affordable_draws(width: int, data: Evidence) -> int:
    """Draws whose item rows, `width` float32 each, fit the download; from 4 to 32."""
    one = 4 * width * len(data.item_ids)
    return min(max(DOWNLOAD // one, FEWEST_DRAWS), MOST_DRAWS)
