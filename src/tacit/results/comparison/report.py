"""HTML report of a comparison: one self-contained file, computed from result rows."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from tacit.collection.named_plans import IDENTITY
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.reporting.page import Provenance, render
from tacit.results.attacks.report import attack_section
from tacit.results.attacks.rows import AttackRow
from tacit.results.comparison.chart import TITLES, Chart
from tacit.results.comparison.device_sample import DeviceSample
from tacit.results.comparison.row import POPULARITY, RANDOM, ResultRow
from tacit.results.comparison.tables import (
    accuracy,
    best,
    cold_notice,
    deciding,
    digits_of,
    foremost,
    holding,
    mean,
    promises,
    slice_tables,
)
from tacit.results.guarantee_text import claims, failed, plugged

RATED = "rated"
"""The plan under which presence is public."""
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
        return [f"No {what} was compared. All figures were obtained without privacy."]
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
        yield f"All reports of one user together have epsilon = {epsilon:g} per user."
    elif row.epsilon is not None and row.delta == 0:
        yield (
            f"An attacker who sees a report and has no other information distinguishes two "
            f"{row.unit}s correctly at most {guess(row.epsilon)} of the time. Each additional "
            "rating costs epsilon again."
        )


FIGURES = ("rmse", "f_score_at_10", "ndcg_at_20")
TABLES = ("rmse", "information_efficiency", "f_score_at_10", "ndcg_at_20")


def report(
    rows: Sequence[ResultRow],
    *,
    sample: DeviceSample | None = None,
    split: str = "",
    attacked: Sequence[AttackRow] = (),
    run: Provenance | None = None,
) -> str:
    """Return the report as HTML: results, figures, guarantee, attacks, one device and all tables.

    `split`: what was held out, in words, such as `Protocol.words`. `attacked`: rows of attacks on
    the same ratings. `run`: what was run, if that is known. Only `sample` shows true ratings; see
    `DeviceSample` for whose.
    """
    names = ", ".join(dict.fromkeys(row.dataset for row in rows))
    charts = [Chart(rows, metric) for metric in _measured(rows, FIGURES)]
    return render(
        "comparison.html",
        title=f"Tacit: {names}",
        names=names,
        findings=findings(rows),
        promises=[_promise(claim, group) for claim, group in claims(holding(rows))],
        failed=failed(rows),
        asides=_asides(rows),
        attacked=attack_section(attacked),
        best=best(holding(rows)),
        figures=[chart.report_figure() for chart in charts if chart.epsilons],
        sample=sample,
        tables=[accuracy(rows, name, TITLES[name]) for name in _measured(rows, TABLES)],
        slices=slice_tables(rows),
        method=_method(rows, split) if rows else None,
        run=run,
    )


def _measured(rows: Sequence[ResultRow], metrics: Sequence[str]) -> list[str]:
    return [metric for metric in metrics if any(mean([row], metric) is not None for row in rows)]


def _asides(rows: Sequence[ResultRow]) -> list[str]:
    free = [NO_PRIVACY.sentence] if any(row.epsilon is None for row in rows) else []
    return free + plugged(row.plugins for row in rows)


def _promise(claim: Guarantee, rows: Sequence[ResultRow]) -> dict[str, object]:
    """Return a kind of guarantee in words, its odds at each epsilon, and the guarantee per user."""
    epsilons = dict.fromkeys(row.epsilon for row in rows if row.epsilon is not None)
    odds = [
        {"epsilon": f"{epsilon:g}", "ratio": _ratio(epsilon), "guess": guess(epsilon)}
        for epsilon in epsilons
    ]
    return {
        "sentence": claim.sentence,
        "unit": claim.unit,
        "odds": odds if claim.delta == "0" else [],
        "person": promises(rows),
    }


def _ratio(epsilon: float) -> str:
    """Format e^epsilon to three digits, rounded up, because it is an upper bound."""
    odds = math.exp(epsilon)
    step = 10.0 ** (math.floor(math.log10(odds)) - 2)
    return f"{math.ceil(odds / step) * step:g}"


def _method(rows: Sequence[ResultRow], split: str) -> dict[str, str]:
    first = rows[0]
    splits = len({(row.seed, row.fold) for row in rows})
    return {
        "n_train": f"{first.n_train:,}",
        "n_test": f"{first.n_test:,}",
        "times": "once" if splits == 1 else f"{splits} times",
        "split": split,
        "plan": first.plan,
        "public": _public(rows),
        "left_out": " ".join(cold_notice(rows)),
    }


def _public(rows: Sequence[ResultRow]) -> str:
    plans = {row.plan for row in rows if row.channel not in (None, IDENTITY)}
    hidden = bool(plans) and RATED not in plans
    return "the set of users and the catalogue" if hidden else "which items each user rated"
