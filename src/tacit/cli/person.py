"""`tacit compare --person-epsilon`: all systems at the same epsilon per user."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tacit.cli import options
from tacit.cli.resumable import Resumable

if TYPE_CHECKING:
    from tacit.experiments.comparison.comparison import Comparison
    from tacit.experiments.comparison.user_level import PersonComparison, Terms
    from tacit.experiments.results import ResultRow
    from tacit.experiments.tools import Tools
    from tacit.ratings import Ratings
    from tacit.reporting.page import Provenance

STARS_MODELS, LIST_MODELS = "channel-mf,pg-mf,dpals,dp-covariance", "ease,dp-ease"
"""Default models of the comparison."""
SHOWN = {"rmse": "RMSE", "ndcg_at_20": "NDCG@20"}


def every(ratings: "Ratings", comparison: "Comparison", models: str | None) -> "Comparison":
    """Return the common settings of all cells, with the named models or the default ones."""
    names = LIST_MODELS if ratings.scale.has_one_level else STARS_MODELS
    return replace(comparison, models=options.names(models or names))


def run(
    ratings: "Ratings",
    comparison: "PersonComparison",
    real: "Tools",
    json: Path | None,
    report: Path | None,
) -> list[tuple[str, str]]:
    """Run a comparison, write its files and print its tables.

    Returns the chosen plans and epsilons per slot. Exits with 130 if interrupted.
    """
    from tacit.experiments.results import ResultRow
    from tacit.reporting.page import Provenance

    terms = comparison.terms(ratings, real)
    grid = Resumable(
        "comparing",
        ResultRow,
        lambda journal, progress: comparison.run(ratings, terms, real, journal, progress),
        lambda journal: comparison.finished(ratings, terms, journal),
        partial(_print, terms=terms, delta=comparison.every.delta),
        json,
    )
    words = comparison.every.protocol.words
    run = Provenance.of(ratings, options.typed())
    grid(report, lambda rows, path: _report(rows, terms, words, run, path))
    return [(each.plan, each.epsilon) for each in terms.values()]


def _report(
    rows: "Sequence[ResultRow]", terms: "Terms", words: str, run: "Provenance", path: Path
) -> None:
    from tacit.experiments.comparison.report import report
    from tacit.experiments.comparison.user_level import on_axis
    from tacit.whole_files import write_whole

    write_whole(path, report(on_axis(rows, terms), split=words, run=run).encode())


def _print(rows: "Sequence[ResultRow]", *, terms: "Terms", delta: str) -> None:
    from tacit.experiments.comparison.tables import accuracy
    from tacit.experiments.comparison.user_level import RATED, on_axis, terms_table
    from tacit.experiments.guarantee_text import sentences
    from tacit.reporting.table import text

    placed = on_axis(rows, terms)
    for metric, caption in SHOWN.items():
        table = accuracy(placed, metric, f"{caption}, mean over splits")
        if table.lines:
            typer.echo(text(table) + "\n")
    if terms:
        typer.echo(text(terms_table(terms, delta)) + "\n")
    typer.echo("\n".join([*sentences(placed), RATED]))
