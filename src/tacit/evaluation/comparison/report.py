"""HTML report of a comparison: one self-contained file, computed from result rows."""

import math
from collections.abc import Sequence

from tacit.evaluation.attacks.beside import attack_section
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison.chart import TITLES, Chart
from tacit.evaluation.comparison.device_sample import DeviceSample
from tacit.evaluation.comparison.guarantee_text import claims, failed, plugged
from tacit.evaluation.comparison.slice_table import slice_tables
from tacit.evaluation.comparison.summary import cold_notice
from tacit.evaluation.comparison.tables import accuracy, best, holding, mean, promises
from tacit.evaluation.findings import findings, guess
from tacit.evaluation.results import ResultRow
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.reporting.page import Provenance, render

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
    slots = any(row.unit == "slot" for row in rows)
    return "the set of users and the catalogue" if slots else "which items each user rated"
