"""A report to open in a browser: one file, no network, made from result rows alone."""

import math
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from tacit.evaluation import sample as sampling
from tacit.evaluation.chart import TITLES, describe
from tacit.evaluation.figures import INK, figure, svg
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import Row
from tacit.evaluation.sample import Sample
from tacit.evaluation.tables import Table, accuracy, best, lowest
from tacit.privacy.guarantee import Guarantee

FIGURES = ("rmse", "f_score_at_10")


def report(rows: Sequence[Row], *, sample: Sample | None = None, split: str = "") -> str:
    """The report as HTML: the cost of privacy, the guarantee, figures, tables, one device.

    `split`: what was held out, in words, such as `Protocol.words`. Only `sample` shows true
    ratings; see `Sample` for whose.
    """
    names = ", ".join(dict.fromkeys(row.dataset for row in rows))
    parts = [
        f"<header><h1>Recommendations without revealed ratings</h1><p>{escape(names)}</p></header>",
        _lead(rows),
        _html(best(rows)),
        "<h2>What is promised</h2>",
        _promises(rows),
        *(_drawing(rows, metric) for metric in FIGURES if rows),
        *_device(sample),
        "<h2>Every figure</h2>",
        *(_html(accuracy(rows, metric, TITLES[metric])) for metric in FIGURES),
        "<h2>How this was measured</h2>",
        _method(rows, split),
    ]
    return _page(f"Tacit: {names}", "\n".join(parts))


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return files("tacit.evaluation").joinpath("report.css").read_text("utf-8")


def _lead(rows: Sequence[Row]) -> str:
    """The cost in one sentence: the lowest error near epsilon 1, beside that of no privacy."""
    epsilons = {row.epsilon for row in rows if row.epsilon}
    if not epsilons:
        return "<p class=lead>No channel was compared: these are figures without privacy.</p>"
    middle = min(epsilons, key=lambda epsilon: abs(math.log(epsilon)))
    here = [row for row in rows if row.epsilon == middle]
    where = "device" if any(row.where == "device" for row in here) else here[0].where
    free = lowest([row for row in rows if row.channel == IDENTITY], where)
    beside = f"; without any privacy {free.figure:.3f}" if free else ""
    found = lowest(here, where)
    return (
        f"<p class=lead>At epsilon = {middle:g} the predictions of the {where} have an RMSE of "
        f"<strong>{found.figure:.3f}</strong>{beside}.</p>"
        if found
        else ""
    )


def _promises(rows: Sequence[Row]) -> str:
    """Each kind of guarantee once, at its lowest epsilon, and what every epsilon means in odds."""
    kinds: dict[tuple[str, str, bool], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.epsilon or 0.0):
        kinds.setdefault((row.unit, row.trust, row.epsilon is None), []).append(row)
    lines = "\n".join(f"<p>{escape(_promise(group))}</p>" for group in kinds.values())
    return f"<blockquote>\n{lines}\n</blockquote>"


def _promise(rows: Sequence[Row]) -> str:
    row = rows[0]
    claim = Guarantee(
        epsilon=None if row.epsilon is None else f"{row.epsilon:g}",
        delta=f"{row.delta:g}",
        unit=row.unit,
        trust=row.trust,
        released="every true rating" if row.epsilon is None else "what left the devices",
    )
    if row.epsilon is None:
        return claim.sentence
    epsilons = dict.fromkeys(row.epsilon for row in rows if row.epsilon is not None)
    odds = ", ".join(f"{_odds(epsilon)} at {epsilon:g}" for epsilon in epsilons)
    return (
        f"{claim.sentence} A report is at most so many times as likely under one {row.unit} as "
        f"under another: {odds}."
    )


def _odds(epsilon: float) -> str:
    odds = math.exp(epsilon)
    return f"{odds:.3g}" if odds < 1e4 else f"{odds:.1e}"


def _drawing(rows: Sequence[Row], metric: str) -> str:
    words = escape(describe(rows, metric), quote=True)
    picture = svg(figure(rows, metric))
    inline = picture[picture.index("<svg") :].replace(INK, "currentColor")
    inline = re.sub(r"<metadata>.*?</metadata>", "", inline, flags=re.DOTALL)
    # Both figures are in one page, where an id may be given once.
    inline = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{metric}-", inline)
    labelled = inline.replace("<svg", f'<svg role="img" aria-label="{words}"', 1)
    return (
        f"<figure><div class=wide>{labelled}</div>"
        f"<figcaption>{escape(TITLES[metric])}</figcaption></figure>"
    )


def _device(sample: Sample | None) -> list[str]:
    return ["<h2>What left one device</h2>", sampling.html(sample)] if sample else []


def _html(table: Table) -> str:
    texts = ("channel", "model", "where", "epsilon")
    figures = [name not in texts and not name.endswith(", by") for name in table.heading]

    def line(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(cells, figures, strict=True)
        return "<tr>" + "".join(
            f"<{tag}{' class=n' if figure else ''}>{escape(cell)}</{tag}>" for cell, figure in pairs
        ) + "</tr>"  # fmt: skip

    body = "\n".join(line("td", cells) for cells in table.lines)
    return (
        f"<div class=wide><table><caption>{escape(table.caption)}</caption>\n"
        f"<thead>{line('th', table.heading)}</thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _method(rows: Sequence[Row], split: str) -> str:
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
        f"clipped to the scale. The F-score is that of each person's ten best predicted test "
        f"items, ties by item id, over people with a relevant one.</p>\n"
        f"<p>Whatever is not said to protect it is public: under the plan "
        f"<em>{escape(first.plan)}</em> that is who rated what.</p>"
    )
