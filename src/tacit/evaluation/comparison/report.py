"""A report to open in a browser: one file, no network, made from result rows alone."""

import math
from collections.abc import Sequence
from html import escape

from tacit.evaluation.attacks import beside
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison import device_sample as sampling
from tacit.evaluation.comparison.chart import TITLES, Chart
from tacit.evaluation.comparison.device_sample import DeviceSample
from tacit.evaluation.comparison.guarantee_text import claims, plugged
from tacit.evaluation.comparison.slice_table import slice_tables
from tacit.evaluation.comparison.tables import (
    accuracy,
    best,
    holding,
    mean,
    promises,
)
from tacit.evaluation.findings import findings, guess
from tacit.evaluation.html import drawing
from tacit.evaluation.html.markup import grouped, plain, winners
from tacit.evaluation.html.page import page
from tacit.evaluation.html.provenance import Provenance
from tacit.evaluation.results import ResultRow
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee

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
    """The report as HTML: the guarantee, what attackers find, figures, tables, one device.

    `split`: what was held out, in words, such as `Protocol.words`. `attacked`: rows of attacks on
    the same ratings. `run`: what was run, if that is known. Only `sample` shows true ratings; see
    `DeviceSample` for whose.
    """
    names = ", ".join(dict.fromkeys(row.dataset for row in rows))
    drawn, shown = _measured(rows, FIGURES), _measured(rows, TABLES)
    parts = [
        f"<header><h1>Recommendations without revealed ratings</h1><p>{escape(names)}</p></header>",
        *findings(rows, attacked),
        _promises(rows),
        *beside.section(attacked),
        "<h2>What it costs</h2>",
        winners(best(holding(rows))),
        *(drawing.html(chart) for metric in drawn if (chart := Chart(rows, metric)).epsilons),
        *_device(sample),
        "<h2>Every figure</h2>",
        *(grouped(accuracy(rows, metric, TITLES[metric])) for metric in shown),
        *_slices(rows),
        "<h2>How this was measured</h2>",
        _method(rows, split),
        *(run.html() if run else []),
    ]
    return page(f"Tacit: {names}", "\n".join(parts))


def _measured(rows: Sequence[ResultRow], metrics: Sequence[str]) -> list[str]:
    return [metric for metric in metrics if any(mean([row], metric) is not None for row in rows)]


def _slices(rows: Sequence[ResultRow]) -> list[str]:
    tables = [grouped(table) for table in slice_tables(rows)]
    return ["<h2>Whose predictions are good</h2>", *tables] if tables else []


def _promises(rows: Sequence[ResultRow]) -> str:
    """Each kind of guarantee once, in words, and what each epsilon means in odds."""
    parts = [_promise(claim, group) for claim, group in claims(rows)]
    if any(row.epsilon is None for row in rows):
        parts.append(f"<p class=aside>{escape(NO_PRIVACY.sentence)}</p>")
    parts += [
        f"<p class=aside>{escape(sentence)}</p>"
        for sentence in plugged(row.plugins for row in rows)
    ]
    return (
        "<section class=promise>\n<h2>What is promised</h2>\n" + "\n".join(parts) + "\n</section>"
    )


def _promise(claim: Guarantee, rows: Sequence[ResultRow]) -> str:
    epsilons = list(dict.fromkeys(row.epsilon for row in rows if row.epsilon is not None))
    odds = "" if claim.delta != "0" or claim.fails else _odds(epsilons, claim.unit)
    return f"<p>{escape(claim.sentence)}</p>{odds}{_whole_person(rows)}"


def _whole_person(rows: Sequence[ResultRow]) -> str:
    table = promises(rows)
    if not table.lines:
        return ""
    return (
        "<p>A person answers for many slots, and the losses add up. The promise for everything "
        f"that one person contributed, taken together:</p>\n{plain(table)}"
    )


def _odds(epsilons: Sequence[float], unit: str) -> str:
    lines = "\n".join(
        f"<li><b>epsilon {epsilon:g}</b> at most {_ratio(epsilon)} times likelier; a guess right "
        f"at most {guess(epsilon)} of the time</li>"
        for epsilon in epsilons
    )
    return (
        f"<p>How much likelier a report may be under one {unit} than under another, and how often "
        f"somebody who reads it, undecided between two {unit}s before, can guess the right one "
        f"(without the report: 50 %):</p>\n<ul class=odds>\n{lines}\n</ul>"
    )


def _ratio(epsilon: float) -> str:
    """e^epsilon to three digits, rounded up: a bound may not be too small."""
    odds = math.exp(epsilon)
    step = 10.0 ** (math.floor(math.log10(odds)) - 2)
    return f"{math.ceil(odds / step) * step:g}"


def _device(sample: DeviceSample | None) -> list[str]:
    return ["<h2>What left one device</h2>", sampling.html(sample)] if sample else []


def _method(rows: Sequence[ResultRow], split: str) -> str:
    if not rows:
        return "<p>No experiment was finished.</p>"
    first = rows[0]
    splits = len({(row.seed, row.fold) for row in rows})
    held = f" Held out: {escape(split)}." if split else ""
    return (
        f"<p>Models were trained on {first.n_train:,} ratings (or what the channel made of them) "
        f"and measured on {first.n_test:,} true ratings held out, {splits} "
        f"{'time' if splits == 1 else 'times'}.{held} The provider predicts from reports alone; "
        f"the device from its own true ratings and the published item model. Predictions are "
        f"clipped to the scale. Information efficiency is the distance of the device's RMSE from "
        f"that of always predicting the mean, as a share of the same distance without privacy. The "
        f"F-score is that of each person's ten best predicted test items, ties by item id, over "
        f"people with a relevant one; lists of 20 are of the whole catalogue less what the person "
        f"has in training.</p>\n"
        f"<p>Whatever is not said to be protected is public: under the plan "
        f"<em>{escape(first.plan)}</em> that is {_public(rows)}.</p>"
    )


def _public(rows: Sequence[ResultRow]) -> str:
    slots = any(row.unit == "slot" for row in rows)
    return "who takes part, and the catalogue" if slots else "who rated what"
