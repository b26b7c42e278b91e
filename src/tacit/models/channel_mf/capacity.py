"""How much a model may ask of its reports: counted in units of Fisher information.

A report's information about theta times sigma^2 says how many clean ratings it is worth. What all
reports are worth together bounds how many unknowns they can settle; the reports and the public
table decide, no true rating does.
"""

import numpy as np

from tacit.models.channel_mf.likelihood import ScoreTable, level_masses
from tacit.models.evidence.evidence import Evidence
from tacit.public_priors import SPREADS

FEWEST_FACTORS, MOST_FACTORS = 5, 31
MOST_FOR_DIRECTIONS = 9  # factors: held-out reports of MovieLens are likeliest with so many
FEWEST_DIRECTIONS, MOST_DIRECTIONS = 4, 40
ROWS = 40
MOSTLY = 0.5  # of a rating's information
FEWEST_DRAWS, MOST_DRAWS = 4, 64
MEMORY = 64 << 20  # bytes of item rows that draws are kept in


def starting_level(scores: ScoreTable, data: Evidence) -> float:
    """The single theta under which the reports, all taken together, are likeliest.

    A normal prior at the middle of the scale keeps it there while the reports say nothing.
    """
    centre, range_ = np.mean(data.scale.values), data.scale.values[-1] - data.scale.values[0]
    prior = -0.5 * ((scores.theta - centre) * 4 / range_) ** 2
    return float(scores.theta[np.argmax(data.counts @ scores.log_q + prior)])


def worth(scores: ScoreTable, data: Evidence, level: float) -> float:
    """Clean ratings that all reports together are worth: sigma^2 times the sum of J(level)."""
    at = int(np.argmin(np.abs(scores.theta - level)))
    information = data.counts @ scores.table[:, at, 1].astype(np.float64)
    return float(information) * scores.sigma**2


def told(scores: ScoreTable, data: Evidence, level: float) -> float:
    """How much of a rating's information its report carries at that level, from 0 to 1.

    Slots that a plan does not ask about carry nothing.
    """
    at, ratings = int(np.argmin(np.abs(scores.theta - level))), data.presence.of_people.sum()
    mass, slope = level_masses(scores.theta[at : at + 1], data.scale, scores.sigma)
    whole = float((slope**2 / np.maximum(mass, 1e-30)).sum()) * scores.sigma**2
    return float(min(worth(scores, data, level) / max(ratings * whole, 1e-9), 1.0))


def worthwhile_spreads(told: float) -> tuple[float, ...]:
    """The spreads that people may have: only the usual one where reports tell of ratings less than
    they hide, for then it is the channel that they spread by."""
    return SPREADS if told >= MOSTLY else (1.0,)


def worthwhile_factors(ratings: float, directions: int, data: Evidence) -> int:
    """K = what the reports are worth for each person and item, odd, from 5 to 31.

    A factor is one unknown a person and one an item: worth having for one clean rating each. But
    tastes along P presence directions are a table, P x P, of a rank that K bounds, and all rows
    teach its weights: there are P / 2 factors, up to 9, whatever the reports are worth.
    """
    share = ratings / (len(data.user_ids) + len(data.item_ids))
    fewest = max(FEWEST_FACTORS, min(directions // 2, MOST_FOR_DIRECTIONS))
    return int(min(max(share, fewest), MOST_FACTORS)) // 2 * 2 + 1


def worthwhile_directions(ratings: float, factors: int, data: Evidence) -> int:
    """Presence directions: one for each clean rating per weight it adds, from 4 to 40.

    A direction has a weight into each of the 1 + K columns, on both sides, and a weight is learnt
    from its side's rows: `ROWS` of them for each direction.
    """
    rows = min(len(data.user_ids), len(data.item_ids))
    share = min(ratings / (2 * (1 + factors)), rows / ROWS)
    return int(min(max(share, FEWEST_DIRECTIONS), MOST_DIRECTIONS))


def affordable_draws(width: int, data: Evidence) -> int:
    """Draws whose item rows, `width` float32 each, fit `MEMORY`; from 4 to 64."""
    one = 4 * width * len(data.item_ids)
    return min(max(MEMORY // one, FEWEST_DRAWS), MOST_DRAWS)
