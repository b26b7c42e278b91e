"""`tacit shuffle`: run the shuffler, the second server between devices and a provider."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError


def shuffle(
    folder: Annotated[
        Path,
        typer.Option(help="Folder for bundles, batches and the register. It is created."),
    ],
    tokens: Annotated[
        str,
        typer.Option(
            help="Valid enrolment tokens of people, issued by the shuffler's operator: a file with "
            "the SHA-256 of each, jwt:KEYS.pem, or the https:// address of a check."
        ),
    ],
    provider_tokens: Annotated[
        Path, typer.Option(help="File with the SHA-256 of each token of the provider.")
    ],
    task: Annotated[
        list[Path] | None,
        typer.Option(
            help="A new shuffled task, written by `tacit shuffled task`. Earlier ones are in the "
            "folder."
        ),
    ] = None,
    bundles: Annotated[
        int, typer.Option(min=1, help="Least number of bundles that a task may require.")
    ] = 10_000,
    honest: Annotated[
        str, typer.Option(help="Greatest fraction of honest bundles that a task may assume.")
    ] = "0.8",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on.")] = 8001,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Write log lines as JSON instead of text.")
    ] = False,
    confirm_clock: Annotated[
        bool,
        typer.Option(
            "--confirm-clock",
            help="Trust the clock even after a large jump. Use this option for one start only.",
        ),
    ] = False,
) -> None:
    """Run the shuffler of one provider: mix sealed messages that it cannot read.

    The shuffler is run by another organisation than the provider. It enrols people itself, accepts
    one bundle per person and task, and shows its tasks in a public register. A task is closed at
    its published time. With the required number of bundles, the provider receives all messages
    once, without senders and in the order of their bytes. Otherwise they are deleted. The program
    then starts anew in the same process, so that its memory contains no bundle, and the provider
    can download the batch.

    Example:

        tacit shuffle --folder shuffler --tokens people --provider-tokens provider --task films.json
    """
    from tacit.device.shuffled.client import ShuffledPolicy
    from tacit.wire.shuffled.task import loads

    try:
        from tacit.collector.http import logs
        from tacit.collector.http.server import listening, server_of
        from tacit.collector.ingest.enrolment import Enrolment
        from tacit.collector.ingest.tokens import TokenFile, token_source
        from tacit.shuffler.app import application
        from tacit.shuffler.renewal import Renewal, inherited_listener
    except ImportError as error:
        raise RequestError(
            f"The shuffler is not installed ({error}). Run pip install "
            "'tacit-recommender[collector]'."
        ) from None

    logs.configure(log_json)
    tasks = [loads(path.read_bytes()) for path in task or []]
    for each in tasks:
        ShuffledPolicy(
            most_epsilon=each.certificate.replaced, honest=honest, bundles=bundles
        ).check(each)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    audience = tasks[0].shuffler if tasks else None
    people = Enrolment(token_source(tokens, audience), 1)
    providers = Enrolment(TokenFile(provider_tokens), 1)
    renewal = Renewal()
    app = application(
        folder, tasks, people, providers, confirmed=confirm_clock, forgotten=renewal.request
    )
    listener = inherited_listener() or listening(host, port)
    options.notice(f"Shuffling on http://{host}:{listener.getsockname()[1]}, in {folder}")
    renewal.serve(server_of(app, listener), listener)
