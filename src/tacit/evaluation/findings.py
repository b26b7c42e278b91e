"""The main results of a comparison in at most three sentences, at the epsilon nearest to 1."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from tacit.evaluation.comparison.tables import deciding, digits_of, foremost, holding
from tacit.evaluation.comparison.tools import POPULARITY, RANDOM
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow

LISTS = "ndcg_at_20"
SCORES = {
    "rmse": Markup("the RMSE {} is <strong>{}</strong>"),
    LISTS: Markup("the NDCG@20 {} is <strong>{}</strong>"),
}


def findings(rows: Sequence[ResultRow]) -> list[str]:
    """Return accuracy as `Markup`, top-N accuracy, and the guarantee of one user."""
    claims = [(row.epsilon, row.unit) for row in holding(rows) if row.epsilon]
    if not claims:
        what = "channel" if all(row.epsilon is None for row in rows) else "valid guarantee"
        return [f"No {what} was compared. All figures are without privacy."]
    near = min(claims, key=lambda claim: abs(math.log(claim[0])))
    here = [row for row in holding(rows) if (row.epsilon, row.unit) == near]
    free = [row for row in rows if row.channel == IDENTITY]
    metric = deciding(rows)
    lead = _score(here, free, metric, digits_of(rows, metric))
    if not lead:
        return []
    lists = _lists(here, free, digits_of(rows, LISTS)) if metric != LISTS else ()
    return [Markup("At epsilon = {:g} per {}, {}.").format(*near, lead), *lists, *_stake(here[0])]


def guess(epsilon: float) -> str:
    """Return the maximum posterior of one of two equally likely hypotheses, in percent, rounded up.

    It is 1 / (1 + e^-epsilon).
    """
    return f"{math.ceil(1000 / (1 + math.exp(-epsilon))) / 10:g} %"


def _score(
    here: Sequence[ResultRow], free: Sequence[ResultRow], metric: str, digits: int
) -> Markup:
    """Compare the best model at one location with the best one without privacy, and with popularity
    for top-N lists."""
    where = "device" if any(row.where == "device" for row in here) else here[0].where
    models, free_models = (_without_baselines(each) for each in (here, free))
    best, best_free = (foremost(each, where, metric) for each in (models, free_models))
    if best is None:
        return Markup()
    others = {"without privacy": best_free}
    if metric == LISTS:
        others["popularity"] = foremost(
            [row for row in free if row.model == POPULARITY], where, LISTS
        )
    words = ", ".join(f"{one.figure:.{digits}f} {name}" for name, one in others.items() if one)
    location = "on the device" if where == "device" else f"at the {where}"
    score = SCORES[metric].format(location, f"{best.figure:.{digits}f}")
    return score + f" ({words})" if words else score


def _without_baselines(rows: Sequence[ResultRow]) -> Sequence[ResultRow]:
    """Return the rows of models, or of baselines if nothing else was compared."""
    return [row for row in rows if row.model not in (RANDOM, POPULARITY)] or rows


def _lists(here: Sequence[ResultRow], free: Sequence[ResultRow], digits: int) -> Iterator[str]:
    """Yield top-N accuracy, if the first sentence is about predicted ratings."""
    score = _score(here, free, LISTS, digits)
    if score:
        yield score[0].upper() + score[1:] + ", over the complete catalogue."


def _stake(row: ResultRow) -> Iterator[str]:
    """Yield the guarantee of one user if it is known, otherwise that of one report."""
    epsilon = row.user_epsilon if row.unit != "user" else row.epsilon
    if epsilon is not None:
        yield f"All reports of one user have epsilon = {epsilon:g} per user."
    elif row.epsilon is not None and row.delta == 0:
        yield (
            f"An attacker who sees a report and has no other information distinguishes two "
            f"{row.unit}s correctly at most {guess(row.epsilon)} of the time. Each additional "
            "rating costs epsilon again."
        )
