"""Execution of an experiment by a command: progress bar, files, tables, and interrupts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli import options

if TYPE_CHECKING:
    from tacit.experiments.experiment import Experiment


def execute(
    experiment: "Experiment[Any, Any]", json: Path | None, report: Path | None
) -> list[Any]:
    """Run the experiment, write its result file and report, and print its tables. Returns the rows.

    Exits with 130 if interrupted, after the finished rows were written and printed.
    """
    from tacit.experiments.experiment import Interrupted
    from tacit.progress import bar

    try:
        rows = experiment.execute(json=json, report=report, bar=bar, notify=options.notice)
    except Interrupted as stop:
        typer.echo(experiment.text(stop.rows))
        hint = f", written to {json}. Run the same command again to resume" if json else ""
        options.notice(f"Interrupted after {len(stop.rows)} rows{hint}.")
        raise typer.Exit(options.INTERRUPTED) from None
    if report is not None:
        options.notice(f"Open {report} in a browser.")
    typer.echo(experiment.text(rows))
    return rows
