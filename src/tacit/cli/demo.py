"""`tacit demo`: the main job on made-up data, then a report to open."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    report: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    json: Annotated[Path | None, typer.Option(help="Write the result rows.")] = None,
) -> None:
    """Compare two channels and three models on built-in made-up data; takes about a minute.

    Nothing is downloaded: 100,000 ratings by 943 people of 1,682 items, 1 to 5 stars, are made up.

    Example: tacit demo --report report.html
    """
    from tacit.evaluation.outputs import writable

    writable(report, json)

    from tacit.cli.compare import run
    from tacit.evaluation.comparison.defaults import beside_floors
    from tacit.evaluation.comparison.request import Comparison
    from tacit.evaluation.comparison.tools import tools
    from tacit.readers import synthetic

    comparison = Comparison(
        channels=("auto", "bounded-laplace"),
        models=beside_floors(("bias", "mf", "channel-mf")),
        epsilons=("0.5", "1", "3"),
    )
    run(synthetic(), comparison, tools(), json, report)
