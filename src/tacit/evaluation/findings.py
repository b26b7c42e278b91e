"""What a comparison found, said first: how accurate, which lists, who finds out what, what it costs
a person; at the epsilon nearest to 1."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from tacit.evaluation.attacks.beside import linked, share
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison.tables import deciding, digits_of, foremost, holding
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow

LISTS = "ndcg_at_20"
SCORES = {
    "rmse": Markup("the predictions of the {} have an RMSE of <strong>{}</strong>"),
    LISTS: Markup("the lists of the {} have an NDCG of <strong>{}</strong>"),
}


def findings(rows: Sequence[ResultRow], attacked: Sequence[AttackRow]) -> list[str]:
    """Sentences: the cost first, as `Markup`, then what else a reader asks first."""
    claims = [(row.epsilon, row.unit) for row in holding(rows) if row.epsilon]
    if not claims:
        what = "channel" if all(row.epsilon is None for row in rows) else "claim that holds"
        return [f"No {what} was compared: these are figures without privacy."]
    near = min(claims, key=lambda claim: abs(math.log(claim[0])))
    here = [row for row in holding(rows) if (row.epsilon, row.unit) == near]
    free = [row for row in rows if row.channel == IDENTITY]
    metric = deciding(rows)
    lead = _score(here, free, metric, digits_of(rows, metric))
    if not lead:
        return []
    lists = _lists(here, free, digits_of(rows, LISTS)) if metric != LISTS else ()
    more = [*lists, *_found(attacked, near[0]), *_stake(here[0])]
    return [Markup("At epsilon = {:g} per {} {}.").format(*near, lead), *more]


def guess(epsilon: float) -> str:
    """The largest posterior of two even hypotheses, in percent, rounded up."""
    return f"{math.ceil(1000 / (1 + math.exp(-epsilon))) / 10:g} %"


def _score(
    here: Sequence[ResultRow], free: Sequence[ResultRow], metric: str, digits: int
) -> Markup:
    """The best figure at one place, beside the best without any privacy."""
    where = "device" if any(row.where == "device" for row in here) else here[0].where
    found, best = (foremost(each, where, metric) for each in (here, free))
    if found is None:
        return Markup()
    beside = f"; without any privacy, {best.figure:.{digits}f}" if best else ""
    return SCORES[metric].format(where, f"{found.figure:.{digits}f}") + beside


def _lists(here: Sequence[ResultRow], free: Sequence[ResultRow], digits: int) -> Iterator[str]:
    """Lists, where it was ratings that the first sentence is about."""
    told = _score(here, free, LISTS, digits)
    if told:
        yield told[0].upper() + told[1:] + ": the 20 best out of the whole catalogue."


def _found(attacked: Sequence[AttackRow], epsilon: float) -> Iterator[str]:
    """Whom somebody finds who knows a few of their ratings, under the channel that tells most."""
    known = linked(attacked)
    mine = [row for row in known if row.epsilon == epsilon]
    if mine:
        worst = max(mine, key=lambda row: row.value)
        open_rows = [row for row in known if row.epsilon is None]
        beside = f"; without privacy in {share(open_rows[0].value)}" if open_rows else ""
        yield (
            f"Somebody who knows {worst.setting} of a person finds them among all reports "
            f"in {share(worst.value)} of cases through {worst.channel}{beside}; by "
            f"chance in {share(worst.baseline)}."
        )


def _stake(row: ResultRow) -> Iterator[str]:
    """What a person has at stake: the whole of it where it is known, else one unit's worth."""
    epsilon = row.user_epsilon if row.unit != "user" else row.epsilon
    if epsilon is not None:
        yield f"Everything that one person contributes is worth epsilon = {epsilon:g} per person."
    elif row.epsilon is not None and row.delta == 0:
        yield (
            f"Who reads a report, undecided between two {row.unit}s before, guesses right at most "
            f"{guess(row.epsilon)} of the time; a person who rates more has more at stake."
        )
