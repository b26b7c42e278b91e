"""`tacit collect`: accept and store reports, and serve tasks, models and the page."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError


def collect(
    db: Annotated[
        str, typer.Option(help="The store of reports: an SQLite file, or postgresql://...")
    ],
    task: Annotated[
        list[Path],
        typer.Option(help="Task file written by `tacit task`. Repeatable, newest first."),
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on.")] = 8000,
    publish: Annotated[
        Path | None,
        typer.Option(help="The folder that `tacit fit --publish` writes. Its models are served."),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="File with the SHA-256 of each enrolment token, one per line. [no token needed to "
            "report]"
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            min=1, help="Maximum number of reports stored per token in an epoch of a task."
        ),
    ] = 1000,
    most_people: Annotated[
        int,
        typer.Option(min=1, help="Maximum number of pseudonyms per token in an epoch of a task."),
    ] = 4,
    token_keys: Annotated[
        Path | None,
        typer.Option(
            help="File of the keys under which token usage is counted. Required with PostgreSQL. "
            "[next to the SQLite file]"
        ),
    ] = None,
    confirm_clock: Annotated[
        bool,
        typer.Option(
            "--confirm-clock",
            help="Trust the clock even after a large jump, and delete reports that are due. For "
            "one start, after a warning.",
        ),
    ] = False,
) -> None:
    """Run the collector: accept reports, serve tasks and models.

    Uploads, tasks, published models and the page are served on one address. A report is
    acknowledged once it is on disk. The collector logs nothing about who sent what. Run it behind a
    proxy (see the page on proxies). Stop it with Ctrl-C: pending reports are stored first.

    Examples:

        tacit collect --db reports.db --task task.json

        tacit collect --db postgresql://localhost/tacit --task task.json --publish models
    """
    from tacit.labels.simulated_attacks import served
    from tacit.wire.task import loads

    try:
        from tacit.collector.http.app import application
        from tacit.collector.http.enrolment import Enrolment
        from tacit.collector.http.server import listening, serve
        from tacit.collector.storage.opening import opened
        from tacit.collector.storage.published_models import PublishedModels
    except ImportError as error:
        raise RequestError(
            f"The collector is not installed ({error}). Run pip install "
            "'tacit-recommender[collector]'."
        ) from None

    tasks = [loads(path.read_bytes()) for path in task]
    enrolment = None
    if tokens is not None:
        enrolment = Enrolment(tokens.read_text().split(), most, most_people)
    published = None if publish is None else PublishedModels(publish)
    # Fail on a store that cannot be opened before the server starts.
    held = opened(db, tasks, enrolment, keys=token_keys, confirmed=confirm_clock)
    listener = listening(host, port)
    if confirm_clock:
        options.notice(f"The clock is trusted: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.")
    where = f"http://{host}:{listener.getsockname()[1]}"
    options.notice(f"Collecting {tasks[0].name} on {where}, task {tasks[0].address}")
    app = application(held, tasks, published=published, enrolment=enrolment, label=served)
    serve(app, listener)
