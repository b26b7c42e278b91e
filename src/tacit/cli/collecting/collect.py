"""`tacit collect`: take reports, keep them, and serve what people need to send them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError


def collect(
    db: Annotated[str, typer.Option(help="Where reports are kept: a file, or postgresql://...")],
    task: Annotated[
        list[Path], typer.Option(help="A task that `tacit task` wrote; the newest first.")
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port.")] = 8000,
    publish: Annotated[
        Path | None, typer.Option(help="The folder that `tacit fit --publish` fills.")
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="SHA-256 of each enrolment token, one a line; anybody may send without."),
    ] = None,
    most: Annotated[
        int,
        typer.Option(min=1, help="Reports that one token may have stored in an epoch of a task."),
    ] = 1000,
    most_people: Annotated[
        int,
        typer.Option(min=1, help="Names that one token may send under in an epoch of a task."),
    ] = 4,
    token_keys: Annotated[
        Path | None,
        typer.Option(
            help="The file of the keys under which tokens are counted; needed with PostgreSQL. "
            "[beside SQLite's file]"
        ),
    ] = None,
    confirm_clock: Annotated[
        bool,
        typer.Option(
            "--confirm-clock",
            help="The clock is right, however long this was off: go by it, and delete what is due. "
            "For one start, after a warning.",
        ),
    ] = False,
) -> None:
    """Run the collector: uploads, tasks, published models and the page, on one address.

    A report is acknowledged when it is on disk. Nothing is logged of who sent what. Put a proxy in
    front of it (the page on proxies says how). Stop it with Ctrl-C: what waits is stored.

    Examples:

        tacit collect --db reports.db --task task.json

        tacit collect --db postgresql://localhost/tacit --task task.json --publish models
    """
    from tacit.evaluation.label.served import served
    from tacit.wire.task import loads

    try:
        from tacit.collector.http.app import application
        from tacit.collector.http.enrolment import Enrolment
        from tacit.collector.http.server import listening, serve
        from tacit.collector.storage.opening import opened
        from tacit.collector.storage.published_models import PublishedModels
    except ImportError as error:
        raise RequestError(
            f"The collector needs pip install 'tacit-recommender[collector]': {error}."
        ) from None

    asked = [loads(path.read_bytes()) for path in task]
    enrolment = None
    if tokens is not None:
        enrolment = Enrolment(tokens.read_text().split(), most, most_people)
    published = None if publish is None else PublishedModels(publish)
    # What cannot be opened is said before the server starts.
    held = opened(db, asked, enrolment, keys=token_keys, confirmed=confirm_clock)
    listener = listening(host, port)
    if confirm_clock:
        options.notice(f"The clock is taken as right: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.")
    where = f"http://{host}:{listener.getsockname()[1]}"
    options.notice(f"Collecting {asked[0].name} on {where}, task {asked[0].address}")
    app = application(held, asked, published=published, enrolment=enrolment, label=served)
    serve(app, listener)
