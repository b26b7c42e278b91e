"""`tacit simulate`: people of a ratings file as devices, against a running collector."""

from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Data, Format, Rounding, Scale

if TYPE_CHECKING:
    from tacit.simulation.fleet import FleetOutcome


def simulate(
    data: Data,
    url: Annotated[str, typer.Option(help="The collector, as in http://127.0.0.1:8000.")],
    devices: Annotated[
        int | None, typer.Option(help="How many; people take turns. [one for each person]")
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(help="Hold out this share. [none; 0.1 to score]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="The split.")] = 0,
    score: Annotated[
        bool,
        typer.Option("--score", help="Tell nothing: predict, or list, what is held out, at home."),
    ] = False,
    most_epsilon: Annotated[str, typer.Option(help="What one answer may cost, in nats.")] = "8",
    lifetime: Annotated[str, typer.Option(help="What all answers of one may cost.")] = "1000000",
    token: Annotated[
        str | None, typer.Option(help="The enrolment token.", envvar="TACIT_TOKEN")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow http to another machine, readable by all.")
    ] = False,
    threads: Annotated[int, typer.Option(help="Devices at a time.", min=1)] = 8,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Play a ratings file against a collector: each person a device of their own, over real HTTP.

    Raw ids of items must be those of the collector's task. What leaves this machine is what would
    leave the devices: noise from the operating system, one ledger a person. They are new devices
    each time: a second run reports everybody again, under other names.

    Examples:

        tacit simulate ml-100k.zip --url http://127.0.0.1:8000 --test-share 0.1

        tacit simulate ml-100k.zip --url http://127.0.0.1:8000 --score
    """
    from tacit.evaluation.progress import bar
    from tacit.metrics.split import SplitProtocol
    from tacit.simulation.fleet import Fleet

    fleet = Fleet(
        url=url, most_epsilon=most_epsilon, lifetime=lifetime, token=token, insecure=insecure,
        threads=threads,
    )  # fmt: skip
    ratings = options.load(data, format, scale, columns, rounding)
    count = devices if devices is not None else ratings.n_users
    known, held_out = ratings, None
    if score or test_share is not None:
        mask = SplitProtocol(share=0.1 if test_share is None else test_share).test(
            ratings, seed, None
        )
        known, held_out = ratings.where(~mask), ratings.where(mask)
    with bar("simulating") as progress:
        if score and held_out is not None:
            tally = fleet.score(known, held_out, count, progress)
        else:
            tally = fleet.report(known, count, progress)
    _print(tally, "interactions" if ratings.scale.has_one_level else "ratings")
    if tally.interrupted:
        options.notice(f"Interrupted after {tally.counts['devices']:,} of {count:,} devices.")
        raise typer.Exit(options.INTERRUPTED)


def _print(tally: "FleetOutcome", entries: str) -> None:
    counts = tally.counts
    typer.echo(f"{counts['devices']:,} devices with {counts['ratings']:,} {entries} at home")
    if tally.errors:
        typer.echo(f"RMSE {tally.rmse:.4f} on {len(tally.errors):,} held-out ratings, at home")
    elif tally.gains:
        typer.echo(f"NDCG {tally.ndcg:.4f} of lists of 20 of {len(tally.gains):,} people, at home")
    else:
        typer.echo(f"{counts['stored']:,} reports stored, {counts['waiting']:,} not yet")
    for note, devices in tally.notes.items():
        options.notice(f"{devices:,} devices: {note}")
    for name, meaning in (
        ("not asked", f"{entries} of items that the task does not have"),
        ("given up", "reports refused by the collector"),
        ("refused", "devices whose lifetime limit was too low"),
        ("unreached", "devices that were told no task"),
    ):
        if counts[name]:
            typer.echo(f"{counts[name]:,} {meaning}")
