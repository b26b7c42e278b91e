"""`tacit shuffled`: plan and write shuffled tasks at the provider."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.collecting.shuffled_counts import KeyFile, count, fit
from tacit.cli.options import interruptible
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.scale import RatingScale

app = typer.Typer(no_args_is_help=True, help="Collect shuffled messages, without a curator.")
Closes = Annotated[
    datetime,
    typer.Option(
        formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        help="Time at which the batch is closed, in UTC. Required.",
    ),
]
Honest = Annotated[
    str, typer.Option(help="Least fraction of bundles from devices that follow the protocol.")
]
MostDummies = Annotated[
    int,
    typer.Option(min=1, help="Most dummies of a device about pairs, which bounds the head."),
]
Scale = Annotated[
    str | None,
    typer.Option(
        help="The rating scale of star ratings, low:high:step, whose messages have a sign. [none: "
        "messages are about items, whatever their ratings]",
        show_default=False,
    ),
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
    closes: Closes,
    delta: Annotated[str | None, typer.Option(help="Delta. [.01 over --bundles]")] = None,
    honest: Honest = "0.8",
    messages: Annotated[int, typer.Option(min=1, help="M: most pairs that a device sends.")] = 100,
    most_dummies: MostDummies = 2000,
    scale: Scale = None,
    name: Annotated[
        str | None,
        typer.Option(help="Title of the task. [Interactions, with --scale: Ratings]"),
    ] = None,
    signed: Annotated[
        bool,
        typer.Option(
            "--signed",
            help="Require a token per bundle that the provider's collector signs blindly, one per "
            "customer. The signing key is written next to --output, with the suffix .pem.",
        ),
    ] = False,
) -> None:
    """Write the shuffled task about items, and its private key.

    Devices send one bundle each through the shuffler. Nobody sees the items of a user. The task
    announces a second one, about pairs of the most frequent items, if devices then send at most
    --most-dummies dummies. Its epsilon covers both. With --scale, messages are about star ratings,
    and the second task is announced if it is expected to improve on item means.

    Examples:

        tacit shuffled task films.csv --provider https://films.example
        --shuffler https://shuffler.example --epsilon 4 --bundles 50000 --closes 2031-05-01T12:00
        --key films.key -o films.json

        tacit shuffled task films.csv --scale 1:5:1 --provider https://films.example
        --shuffler https://shuffler.example --epsilon 4 --bundles 50000 --closes 2031-05-01T12:00
        --key films.key -o films.json
    """
    from tacit.atomic_files import write_atomically
    from tacit.collection.shuffled.plan import ShuffledPlan, largest_delta
    from tacit.collection.shuffled.tasks import Origins, item_task
    from tacit.readers import catalogue
    from tacit.results.records import writable
    from tacit.shuffler.task_key import TaskKey
    from tacit.wire.origin import origin_of

    signing_key = output.with_suffix(".pem")
    writable(output, key, signing_key if signed else None, read=(items,))
    ids, stars = catalogue(items)["item"].to_list(), _stars(scale)
    plan = ShuffledPlan(
        messages=messages,
        items=len(ids),
        epsilon=epsilon,
        delta=largest_delta(bundles) if delta is None else delta,
        bundles=bundles,
        honest=honest,
        signed=stars is not None,
    )
    at = _seconds(closes)
    pair = TaskKey.generate()
    title = name or ("Interactions" if stars is None else "Ratings")
    origins = Origins(provider=origin_of(provider), shuffler=origin_of(shuffler), name=title)
    with _signing_key(signing_key, signed) as signer:
        document = item_task(
            plan,
            ids,
            origins,
            key=pair.public,
            closes=at,
            most_dummies=most_dummies,
            signer=signer,
            scale=stars,
        )
        pair.save(key)
        write_atomically(output, document.document)
    follows = "announces a task about pairs" if document.announced else "is the only one"
    size = document.round.messages + document.round.dummies
    options.notice(
        f"{output}: {len(ids):,} items, {size:,} messages per device, {follows}. "
        f"Address {document.address}. {document.certificate.sentence}"
    )


def plan(
    items: Annotated[int, typer.Option(min=1, help="Number of items. Required.")],
    bundles: Annotated[
        int, typer.Option(min=1, help="Least number of bundles in a batch. Required.")
    ],
    epsilon: Annotated[str, typer.Option(help="Epsilons in nats per user, such as 1,4. Required.")],
    messages: Annotated[
        str, typer.Option(help="M: most pairs that a device sends, such as 30,100.")
    ] = "30,100",
    honest: Honest = "0.8",
    most_dummies: MostDummies = 2000,
    scale: Scale = None,
) -> None:
    """Print the messages and bytes of a device for a shape, before any data are collected.

    Epsilon is for a profile replaced by any other one, and delta is .01 over --bundles. The task
    about pairs has at most the largest head. Its size is selected from counts.

    Example: tacit shuffled plan --items 3706 --bundles 70000 --epsilon 1,4
    """
    from tacit.collection.shuffled.plan import ShuffledPlan, largest_delta
    from tacit.collection.shuffled.tasks import bundle_sizes
    from tacit.reporting.table import NOTHING, Table, text

    lines: list[tuple[str, ...]] = []
    for each in options.names(epsilon):
        for most in options.numbers(messages, int, "30,100"):
            shape = ShuffledPlan(
                messages=most,
                items=items,
                epsilon=each,
                delta=largest_delta(bundles),
                bundles=bundles,
                honest=honest,
                signed=_stars(scale) is not None,
            )
            sizes = bundle_sizes(shape, most_dummies)
            pairs = (f"{sizes.head:,}", f"{sizes.pairs:,}") if sizes.head else (NOTHING, NOTHING)
            lines.append((each, str(most), f"{sizes.items:,}", *pairs, f"{sizes.size / 1000:,.1f}"))
    heading = ("epsilon per user", "M", "about items", "largest head", "about pairs", "kB")
    delta = largest_delta(bundles)
    words = f"Messages of a device: {items:,} items, {bundles:,} bundles, delta {delta}"
    typer.echo(text(Table(words, heading, tuple(lines))))


def pairs(
    counts: Annotated[Path, typer.Argument(help="Counts of the task about items.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The task file to write.")],
    key: KeyFile,
    closes: Closes,
    most_dummies: MostDummies = 2000,
) -> None:
    """Write the announced task about pairs of the most frequent items, with a new key.

    The head is selected from the counts, and for star ratings also the item means, which the task
    contains. Devices that answered the first task debit nothing for
    this one. If the first task has a signer, a new signing key is written next to --output. Exits
    with status 1 if pairs would not exceed their noise.

    Example:

        tacit shuffled pairs films-counts.json --closes 2031-06-01T12:00 --key pairs.key
        -o pairs.json
    """
    from tacit.atomic_files import write_atomically
    from tacit.collection.shuffled.counts import load_counts
    from tacit.results.records import writable
    from tacit.shuffler.task_key import TaskKey
    from tacit.training.shuffled.collected import pair_task

    first, signing_key = load_counts(counts), output.with_suffix(".pem")
    signed = first.task.signer is not None
    writable(output, key, signing_key if signed else None, read=(counts,))
    pair, at = TaskKey.generate(), _seconds(closes)
    with _signing_key(signing_key, signed) as signer:
        document = pair_task(
            first, key=pair.public, closes=at, most_dummies=most_dummies, signer=signer
        )
        if document is None:
            raise RequestError(
                "Pairs would not exceed their noise, or the first task announced no round; fit a "
                "model from the counts of items alone."
            )
        pair.save(key)
        write_atomically(output, document.document)
    options.notice(
        f"{output}: pairs of {len(document.items):,} items, "
        f"{document.round.messages + document.round.dummies:,} messages per device. "
        f"Address {document.address}. {document.certificate.sentence}"
    )


def _stars(scale: str | None) -> "RatingScale | None":
    """Return the scale of star ratings. Raises `RequestError` for one of a single level."""
    from tacit.scale import RatingScale

    if scale is None:
        return None
    stars = RatingScale.parse(scale)
    stars.require_stars("--scale")
    return stars


@contextmanager
def _signing_key(path: Path, is_required: bool) -> Generator[bytes | None]:
    """Write a signing key, and yield its modulus; None if none is required.

    The file is deleted if its task cannot be written.
    """
    from tacit.collector.ingest.signing_key import SigningKey

    if not is_required:
        yield None
        return
    key = SigningKey.generate(path)
    try:
        yield key.modulus
    except BaseException:
        path.unlink()
        raise


def _seconds(closes: datetime) -> int:
    at = int(closes.replace(tzinfo=UTC).timestamp())
    if at <= time.time():
        raise RequestError(f"--closes must be in the future, got {closes:%Y-%m-%dT%H:%M} UTC.")
    return at


for verb in (plan, task, count, pairs, fit):
    app.command()(interruptible(verb))
