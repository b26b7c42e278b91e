"""`tacit collect`: accept and store reports, and serve tasks, models and the page."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError


def collect(
    db: Annotated[str, typer.Option(help="The report store: an SQLite file, or postgresql://...")],
    task: Annotated[
        list[Path],
        typer.Option(help="Task file written by `tacit task`. Repeatable, newest first."),
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on.")] = 8000,
    publish: Annotated[
        Path | None,
        typer.Option(
            help="The folder to which `tacit fit --publish` writes. The collector "
            "serves its models."
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="Valid enrolment tokens: a file with the SHA-256 of each, one per line, which is "
            "reread when it changes; jwt:KEYS.pem for signed tokens; or the https:// address of "
            "a check. [reporting requires no token]"
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(min=1, help="Maximum number of reports stored per token, task and epoch."),
    ] = 1000,
    most_people: Annotated[
        int,
        typer.Option(min=1, help="Maximum number of pseudonyms per token, task and epoch."),
    ] = 4,
    token_keys: Annotated[
        Path | None,
        typer.Option(
            help="File of the secret keys for counting token usage. Required with "
            "PostgreSQL. [next to the SQLite file]"
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Another origin whose pages may act as devices, such as "
            "https://www.films.example. Repeatable. [this origin alone]"
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            help="A folder of shuffled tasks with their signing keys, as `tacit shuffled task "
            "--signed` writes them. The collector signs one token per customer, and must be the "
            "only one that signs for these tasks. Requires --tokens."
        ),
    ] = None,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Write log lines as JSON instead of text.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            min=0,
            help="Seconds to wait at startup for a database server that does not respond yet.",
        ),
    ] = 30,
    confirm_clock: Annotated[
        bool,
        typer.Option(
            "--confirm-clock",
            help="Trust the clock even after a large jump, and delete reports whose retention "
            "period has ended. Use this option for one start only, after a warning about the "
            "clock.",
        ),
    ] = False,
) -> None:
    """Run the collector: accept reports, serve tasks and models.

    One address serves uploads, tasks, published models and the page. A report is acknowledged once
    it is on disk. The collector does not log who sent which report. Run it behind a proxy (see the
    page on proxies). Stop it with Ctrl-C. It stores pending reports before it exits.

    Examples:

        tacit collect --db reports.db --task task.json

        tacit collect --db postgresql://localhost/tacit --task task.json --publish models
    """
    from tacit.labels.on_request import served
    from tacit.wire.origin import FORM, is_origin
    from tacit.wire.tasks.loading import loads

    if sign is not None and tokens is None:
        raise RequestError("--sign requires --tokens: one token is signed per customer.")
    for origin in allow_origin or []:
        if not is_origin(origin):
            raise RequestError(f"--allow-origin must be {FORM}, got {origin}.")
    try:
        from tacit.collector.http import logs
        from tacit.collector.http.app import application
        from tacit.collector.http.server import listening, serve
        from tacit.collector.http.signing import Signing
        from tacit.collector.ingest.enrolment import Enrolment
        from tacit.collector.ingest.opening import opened
        from tacit.collector.ingest.tokens import token_source
        from tacit.collector.storage.published_models import PublishedModels
    except ImportError as error:
        raise RequestError(
            f"The collector is not installed ({error}). Run pip install "
            "'tacit-recommender[collector]'."
        ) from None

    tasks = [loads(path.read_bytes()) for path in task]
    enrolment = None
    if tokens is not None:
        enrolment = Enrolment(token_source(tokens, tasks[0].provider), most, most_people)
    published = None if publish is None else PublishedModels(publish)
    signing = Signing(sign, enrolment, time.time) if sign and enrolment else None
    logs.configure(log_json)
    # Fail on a store that cannot be opened before the server starts.
    held = opened(db, tasks, enrolment, keys=token_keys, confirmed=confirm_clock, patience=wait)
    listener = listening(host, port)
    if confirm_clock:
        options.notice(f"The clock is trusted: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.")
    where = f"http://{host}:{listener.getsockname()[1]}"
    options.notice(f"Collecting {tasks[0].name} on {where}, task {tasks[0].address}")
    app = application(
        held,
        tasks,
        published=published,
        enrolment=enrolment,
        label=served,
        origins=allow_origin or (),
        signing=signing,
    )
    serve(app, listener)
