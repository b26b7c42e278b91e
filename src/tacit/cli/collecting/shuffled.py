"""`tacit shuffled`: write shuffled tasks at the provider."""

import time
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Context
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.cli.options import interruptible
from tacit.errors import RequestError

app = typer.Typer(no_args_is_help=True, help="Collect shuffled messages, without a curator.")
_TWO_DIGITS = Context(prec=2, rounding=ROUND_FLOOR)
KeyFile = Annotated[
    Path, typer.Option(help="File of the task's private key. Required.", show_default=False)
]
MostDummies = Annotated[
    int,
    typer.Option(min=1, help="Most dummies of a device about pairs, which bounds the head."),
]


def task(
    items: Annotated[
        Path,
        typer.Argument(help="The catalogue: a table with a column item."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The task file to write.")],
    key: KeyFile,
    provider: Annotated[str, typer.Option(help="Origin of the provider. Required.")],
    shuffler: Annotated[
        str, typer.Option(help="Origin of the shuffler, another organisation. Required.")
    ],
    epsilon: Annotated[
        str,
        typer.Option(
            help="Epsilon in nats per user, for a profile replaced by any other one. Required."
        ),
    ],
    bundles: Annotated[
        int, typer.Option(min=1, help="Least number of bundles in a batch. Required.")
    ],
    closes: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
            help="Time at which the batch is closed, in UTC. Required.",
        ),
    ],
    delta: Annotated[str | None, typer.Option(help="Delta. [.01 over --bundles]")] = None,
    honest: Annotated[
        str,
        typer.Option(help="Least fraction of bundles from devices that follow the protocol."),
    ] = "0.8",
    messages: Annotated[int, typer.Option(min=1, help="M: most pairs that a device sends.")] = 100,
    most_dummies: MostDummies = 2000,
    name: Annotated[str, typer.Option(help="Title of the task.")] = "Interactions",
) -> None:
    """Write the shuffled task about items, and its private key.

    Devices send one bundle each through the shuffler. Nobody sees the items of a user. The task
    announces a second one, about pairs of the most frequent items, if devices then send at most
    --most-dummies dummies. Its epsilon covers both.

    Example:

        tacit shuffled task films.csv --provider https://films.example
        --shuffler https://shuffler.example --epsilon 4 --bundles 50000 --closes 2031-05-01T12:00
        --key films.key -o films.json
    """
    from tacit.collection.shuffled_plan import ShuffledPlan
    from tacit.experiments.results import writable
    from tacit.privacy.shuffled_certificate import LARGEST_DELTA
    from tacit.readers import catalogue
    from tacit.shuffler.task_key import TaskKey
    from tacit.shuffler.tasks import Origins, item_task
    from tacit.wire.origin import origin_of

    writable(output, read=(items,))
    ids = catalogue(items)["item"].to_list()
    plan = ShuffledPlan(
        messages=messages,
        items=len(ids),
        epsilon=epsilon,
        delta=str(_TWO_DIGITS.divide(LARGEST_DELTA, bundles)) if delta is None else delta,
        bundles=bundles,
        honest=honest,
    )
    at = int(closes.replace(tzinfo=UTC).timestamp())
    if at <= time.time():
        raise RequestError(f"--closes must be in the future, got {closes:%Y-%m-%dT%H:%M} UTC.")
    pair = TaskKey.generate()
    origins = Origins(provider=origin_of(provider), shuffler=origin_of(shuffler), name=name)
    document = item_task(plan, ids, origins, key=pair.public, closes=at, most_dummies=most_dummies)
    pair.save(key)
    output.write_bytes(document.document)
    follows = "announces a task about pairs" if document.announced else "is the only one"
    size = document.round.messages + document.round.dummies
    options.notice(
        f"{output}: {len(ids):,} items, {size:,} messages per device, {follows}. "
        f"Address {document.address}. {document.certificate.sentence}"
    )


for verb in (task,):
    app.command()(interruptible(verb))
