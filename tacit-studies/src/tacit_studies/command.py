"""`tacit paper`: reproduction of a published paper, claim by claim."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Format, Rounding, Scale
from tacit.cli.plugins import Verb
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit_studies import Paper
    from tacit_studies.page import Part
    from tacit_studies.paper import Data


app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.command("paper", cls=Verb, rich_help_panel="Evaluate")
@options.interruptible
def paper(
    name: Annotated[str, typer.Argument(help="The paper: zheng, neera, xian or x-map.")],
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Ratings. For x-map, the ratings of two domains, target last. [synthetic ratings]",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run fewer cases. Takes a minute or two.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(help="Names of figures, tables or theorems to run, comma-separated. [all]"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a setting of a study. Repeatable."
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file (HTML).")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder to write each figure to (SVG).")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Folder that stores the measured rows, to resume an interrupted run."),
    ] = None,
    items: options.ItemsFile = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Reproduce a paper's results and test its claims.

    Figures, tables and theorems are computed again and compared with the paper. Every claim gets a
    verdict: it holds, it does not hold, or it is too close to tell, by its spread over draws or
    splits and a least difference. Without DATA, synthetic ratings are used. Some studies use no
    ratings, and DATA is refused where no selected study reads them. x-map splits a single data set
    in two by the genres of its items. With --rows, an interrupted run resumes when the command is
    run again.

    Examples:

        tacit paper zheng --report zheng.html

        tacit paper neera ml-100k.zip --only figures-3-4-7-8 --set epsilons=0.3,1 --rows neera

        tacit paper x-map book-ratings.csv film-ratings.csv --scale 1:5:1 --quick
    """
    from tacit.results.records import writable

    files = data or []
    writable(report, read=(*files, items))

    from tacit.registry import assignments, named
    from tacit.reporting.page import data_sentence
    from tacit_studies import PAPERS
    from tacit_studies.paper import ratings_of

    chosen = named(PAPERS, name, "paper")
    settings = assignments(setting or [], "epsilons=0.3,1")
    studies = chosen.chosen(options.names(only) if only else None, quick=quick, settings=settings)
    readers = [study.name for study in studies if not study.own_data]
    if files and not readers:
        raise RequestError(
            f"DATA has no effect: {', '.join(study.name for study in studies)} read no ratings. "
            "Leave the files out."
        )
    known = _data(chosen, files, items, quick, (format, scale, columns, rounding), readers)
    words = data_sentence(ratings_of(known)) if readers else ""
    parts: list[Part] = []
    try:
        for part in chosen.find(known, studies, rows):
            parts.append(part)
            _print(part, words)
    except KeyboardInterrupt:
        resume = f". Run the same command again to resume from {rows}" if rows else ""
        options.notice(f"Interrupted after {len(parts)} of {len(studies)} studies{resume}.")
        raise typer.Exit(options.INTERRUPTED) from None
    finally:
        _write(chosen, known, parts, report, figures)


def _data(
    paper: "Paper",
    files: Sequence[Path],
    items: Path | None,
    quick: bool,
    request: tuple[str | None, ...],
    readers: Sequence[str],
) -> "Data":
    """Load the data of the studies that read any, or generate synthetic ones."""
    from tacit_studies.paper import ratings_of

    if not readers:
        return None
    if not files:
        made = paper.made_up(quick)
        options.notice(
            f"No ratings were given. {len(ratings_of(made)):,} synthetic ratings are used by "
            f"{', '.join(readers)}."
        )
        return made
    from tacit.readers import items as catalogue

    loaded = [options.load(path, *request) for path in files]
    # Genres are needed only to split one catalogue in two.
    wanted = items or (files[0] if paper.genres and len(files) == 1 else None)
    return paper.taken(loaded, catalogue(wanted) if wanted else None)


def _print(part: "Part", data: str) -> None:
    from tacit.reporting.table import text
    from tacit_studies.page import measured_on
    from tacit_studies.summary import claims_table

    study, result = part
    tables = [claims_table(study.title, result.claims)] if result.claims else []
    remarks = (measured_on(study, result, data), *result.remarks)
    typer.echo("\n\n".join([*map(text, [*tables, *result.tables]), *remarks]) + "\n")


def _write(
    paper: "Paper",
    data: "Data",
    parts: Sequence["Part"],
    report: Path | None,
    figures: Path | None,
) -> None:
    """Write the report and the figures of the finished studies."""
    from tacit.atomic_files import write_atomically
    from tacit.reporting.plot import svg
    from tacit_studies import page

    for study, result in parts if figures else ():
        if result.drawing is not None and figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            write_atomically(
                figures / f"{paper.name}-{study.name}.svg", svg(result.drawing).encode()
            )
    if report is not None and parts:
        run = page.provenance(data, options.typed())
        write_atomically(report, page.report(paper, parts, run).encode())
        options.notice(f"Open {report} in a browser.")
