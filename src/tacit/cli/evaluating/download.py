"""`tacit download`: download and verify public rating data."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options


def download(
    name: Annotated[
        str,
        typer.Argument(
            help="The data set: ml-100k, ml-1m, ml-10m, ml-20m, ml-25m, ml-32m, ml-latest-small, "
            "ml-latest or jester."
        ),
    ],
    folder: Annotated[Path, typer.Option(help="Folder to save the archive in.")] = Path("data"),
) -> None:
    """Download and verify a public data set.

    The command prints the terms of use of the data set. An interrupted download is kept, and
    running the same command again resumes it. Tacit reads archives without unpacking them.

    Example: tacit download ml-100k && tacit compare data/ml-100k.zip
    """
    from tacit.readers.download import archive
    from tacit.readers.download import download as fetched

    wanted = archive(name)
    try:
        with _bar(name) as progress:
            path = fetched(wanted, folder, progress)
    except KeyboardInterrupt:
        options.notice("Interrupted. Run the same command again to resume the download.")
        raise typer.Exit(options.INTERRUPTED) from None
    options.notice(f"{wanted.licence} {wanted.note}".strip())
    typer.echo(path)


@contextmanager
def _bar(name: str) -> Generator[Callable[[int, int | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task(name, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
