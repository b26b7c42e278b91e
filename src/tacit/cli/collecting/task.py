"""`tacit task`: write the immutable task that devices answer."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tacit.cli import options, plugins
from tacit.cli.collecting.extension import extend_task, growth, item_titles, require_extending
from tacit.cli.collecting.moving import move_task, provider_key, require_moving
from tacit.cli.options import Format
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.wire.tasks.task import Task


def task(
    context: typer.Context,
    output: Annotated[Path, typer.Option("-o", "--output", help="The task file to write.")],
    items: Annotated[
        Path | None,
        typer.Argument(
            help="The catalogue: a table with columns item[,title], u.item, movies.dat .. Required "
            "without --successor."
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Epsilons in nats per value or slot. With several values, such as 1,2,4, each "
            "user chooses one."
        ),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            help="The provider: the origin of the collector, as in https://films.example."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Title of the task. [Ratings; Interactions for implicit feedback]"),
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="The rating scale, low:high:step. [1:5:1]")
    ] = None,
    implicit: options.Implicit = False,
    channel: Annotated[
        str, typer.Option(help="The channel, or auto.", autocompletion=plugins.CHANNEL)
    ] = "auto",
    plan: Annotated[
        str | None, typer.Option(help="The plan: rated, catalogue or sample:K. [rated]")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="A preset of plan and epsilon: hard-to-link.")
    ] = None,
    epoch: Annotated[int, typer.Option(min=1, help="Length of an epoch, in seconds.")] = 86_400,
    window: Annotated[int, typer.Option(min=0, help="Maximum delay of a report, in epochs.")] = 7,
    retention: Annotated[int, typer.Option(min=1, help="Retention of reports, in days.")] = 365,
    extendable: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Under a plan over slots: allow extensions up to about this number of items. The "
            "limit of a device, which it pays for before its first report, is computed from it.",
        ),
    ] = None,
    renew: Annotated[
        str | None,
        typer.Option(
            help="With --extendable: days after the start when devices report all items again, as "
            "in 365,730. Each renewal costs epsilon per slot again."
        ),
    ] = None,
    extend: Annotated[
        Path | None,
        typer.Option(
            help="The task file to extend: of the plan rated, or written with --extendable. Items "
            "of the catalogue that it does not have are added at its end."
        ),
    ] = None,
    open_after: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --extend, under a plan over slots: days from now until devices report the "
            "new items, once. Later ratings of them are not reported. [28]",
        ),
    ] = None,
    successor: Annotated[
        str | None,
        typer.Option(
            help="With --extend and --signing-key, and without a catalogue: the origin that the "
            "provider moves to, as in https://cinema.example."
        ),
    ] = None,
    signing_key: Annotated[
        Path | None,
        typer.Option(
            help="The key file of the provider, which is written if it does not exist. A task that "
            "is written with it can be moved to another origin later, a task without it cannot. "
            "Requires the extra secure."
        ),
    ] = None,
    titles: Annotated[
        Path | None,
        typer.Option(
            help="File of item titles: a table with columns item and title, u.item, movies.dat or "
            "movies.csv."
        ),
    ] = None,
    format: Format = None,
) -> None:
    """Write a task: provider, catalogue, channels and epochs.

    A task contains the channels, with their certificates. A task never changes. Its address is the
    hash of its bytes. Epoch 0 begins when the task is written. Item ids may be read from a ratings
    file, with a warning. The catalogue then reveals the set of rated items, which the task lists as
    not covered by its guarantee. A device reports only if it reaches the collector at --provider,
    written as in a browser's address bar.

    With --extend, the new task adds items to an earlier one and changes nothing else. Devices
    follow it with their ratings, reports and names. Items that are missing from the catalogue stay
    in the task (hide them with `tacit models hide`).

    Under catalogue and sample:K a task must be written with --extendable to be extended later. A
    device then reports each item once, a constant share of the new items, and never more than the
    limit, whose epsilon per user is on the label.

    With --signing-key, a first task contains the public key of the provider. If the provider later
    moves to another origin, --extend, --successor and the same key write the task that devices
    follow. They verify the signature, and send to the successor once their user agrees.

    Examples:

        tacit task films.csv --provider https://films.example --epsilon 1,2,4 -o task.json

        tacit task u.item --provider http://127.0.0.1:8000 --plan sample:200 --epsilon 2 -o t.json

        tacit task films.csv --provider https://films.example --preset hard-to-link -o task.json

        tacit task films.csv --provider https://films.example --implicit --plan sample:200
        --epsilon 4 -o seen.json

        tacit task films.csv --extend task.json -o task-2.json

        tacit task films.csv --provider https://films.example --plan sample:200 --epsilon 2
        --extendable 6000 -o task.json

        tacit task films.csv --provider https://films.example --epsilon 1 --signing-key films.pem
        -o task.json

        tacit task --extend task.json --successor https://cinema.example --signing-key films.pem
        -o moved.json
    """
    if successor is not None:
        require_moving(options.typed_options(context))
        move_task(extend, successor, signing_key, output)
        return
    if items is None:
        raise typer.BadParameter("the catalogue is required, except with --successor")
    if extend is not None:
        require_extending(options.typed_options(context))
        extend_task(items, extend, titles, output, open_after)
        return
    if open_after is not None:
        raise RequestError("--open-after has an effect with --extend only; leave it out.")
    who = _origin(provider)
    plan, epsilon = _terms(plan, epsilon, preset)
    from tacit.results.records import writable

    writable(output, read=(items, signing_key, titles))

    from tacit.atomic_files import write_atomically
    from tacit.collection import named_plans
    from tacit.scale import RatingScale
    from tacit.wire.tasks.task import Task

    named_plans.check_channels([channel], plan)
    scale = options.scale_of(scale, implicit) or "1:5:1"
    on = RatingScale.parse(scale)
    missing = named_plans.protects_presence(plan)
    ids, named, uncovered = _catalogue(items, scale, format)
    if titles is not None:
        named = item_titles(titles, ids)
    document = Task(
        name=name or ("Interactions" if on.has_one_level else "Ratings"),
        provider=who,
        scale=on,
        plan=plan,
        items=tuple(ids),
        titles=None if named is None else tuple(named),
        channels=tuple(
            named_plans.channel_of(channel, each, on, missing=missing)
            for each in options.names(epsilon)
        ),
        start=int(time.time()),
        epoch_seconds=epoch,
        window=window,
        retention_days=retention,
        uncovered=uncovered,
        growth=growth(plan, len(ids), extendable, renew, epoch),
        provider_key=provider_key(signing_key),
    )
    write_atomically(output, document.document)
    options.notice(
        f"{output}: {len(ids):,} items, plan {plan}{_limit_of(document)}. "
        f"Address {document.address}"
    )


def _terms(plan: str | None, epsilon: str | None, preset: str | None) -> tuple[str, str]:
    """Return the plan and the epsilons, from the options or the preset."""
    from tacit.collection import named_plans

    if preset is not None:
        if plan is not None or epsilon is not None:
            raise typer.BadParameter(
                "--preset sets plan and epsilon; leave out --plan and --epsilon"
            )
        known = named_plans.preset(preset)
        return known.plan, known.epsilon
    if epsilon is None:
        raise typer.BadParameter("--epsilon or --preset is required")
    return plan or "rated", epsilon


def _origin(provider: str | None) -> str:
    from tacit.wire.origin import FORM, is_origin, origin_of

    if provider is None:
        raise RequestError(f"--provider is required: the collector's origin for devices, {FORM}.")
    if is_origin(provider):
        return provider
    try:
        meant = origin_of(provider)
    except RequestError:
        meant = "https://films.example"
    raise RequestError(
        f"--provider must be an origin such as {meant}, got '{provider}'. Write --provider {meant}."
    )


class _Catalogue(NamedTuple):
    """Item ids, titles if every item has one, and the parts that were inferred from ratings."""

    ids: list[Any]
    titles: list[str] | None
    uncovered: tuple[str, ...]


def _catalogue(path: Path, scale: str, format: str | None) -> _Catalogue:
    from tacit.readers.declared import catalogue, is_catalogue

    if format is None and is_catalogue(path):
        table = catalogue(path)
        titles = None if table["title"].null_count() else table["title"].to_list()
        return _Catalogue(table["item"].to_list(), titles, ())
    options.notice(
        f"{path} contains ratings. A catalogue read from it reveals the set of rated items, and "
        "the task lists the catalogue as not covered. Declare the catalogue in a csv file with "
        "columns item,title."
    )
    ratings = options.load(path, format, scale)
    # A task contains no list of users: only the catalogue and the scale can come from ratings.
    uncovered = ratings.uncovered(("catalogue", "scale"))
    return _Catalogue(ratings.item_ids.ids.to_list(), None, uncovered)


def _limit_of(task: "Task") -> str:
    return "" if task.growth is None else f", at most {task.growth.limit:,} slots per user"
