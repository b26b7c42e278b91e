"""`tacit demo`: a comparison on synthetic data, with a report."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    report: Annotated[Path, typer.Option(help="Write a report to this file (HTML).")] = Path(
        "report.html"
    ),
    json: Annotated[
        Path | None, typer.Option(help="Write the result rows to this file (JSON).")
    ] = None,
) -> None:
    """Compare channels and models on synthetic data.

    The demo takes about a minute. It compares two channels and three models on 100,000 synthetic
    ratings by 943 users of 1,682 items, from 1 to 5 stars. No data are downloaded.

    Example: tacit demo --report report.html
    """
    from tacit.results.records import ROWS, writable

    writable(json, report, beside=ROWS)

    from tacit.cli import options
    from tacit.cli.evaluating.execution import execute
    from tacit.experiments.comparison.compare import experiment
    from tacit.experiments.comparison.comparison import Comparison
    from tacit.experiments.defaults import with_baselines
    from tacit.readers import synthetic

    comparison = Comparison(
        channels=("auto", "bounded-laplace"),
        models=with_baselines(("bias", "mf", "channel-mf")),
        epsilons=("0.5", "1", "3"),
    )
    grid = experiment(comparison, synthetic(), command=options.typed(), notify=options.notice)
    execute(grid, json, report)
